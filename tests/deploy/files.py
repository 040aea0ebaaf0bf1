"""What lies in the folder `deploy`, read as those programs read it that it is for."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from sottovoce.collector.app import ROUTES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def outward_paths() -> list[str]:
    """One address of every kind that others must reach: the HTTP API, and every page with its files."""
    pages = sorted(path for route in ROUTES if route.is_page for path in route.paths)
    return [*(re.sub(r"\{\w+\}", "ab", path) for path in pages), "/v1/keys"]


def instructions() -> list[tuple[str, str]]:
    """Those of the Containerfile, with lines that go on joined."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Containerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def last_stage() -> list[tuple[str, str]]:
    """The instructions of the image that is handed on."""
    every = instructions()
    return every[max(place for place, (name, _) in enumerate(every) if name == "FROM") :]


def image_environment() -> dict[str, str]:
    """The variables that the image sets."""
    words = (word for name, rest in last_stage() if name == "ENV" for word in shlex.split(rest))
    return dict(word.split("=", 1) for word in words)


def entrypoint() -> list[str]:
    """As JSON, which is the form that starts no shell."""
    return [str(word) for word in json.loads(dict(last_stage())["ENTRYPOINT"])]


def healthcheck() -> ModuleType:
    """The program that HEALTHCHECK runs."""
    spec = importlib.util.spec_from_file_location("deploy_healthcheck", DEPLOY / "healthcheck.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compose() -> dict[str, Any]:
    """The stack for trying."""
    return dict(yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8")))


def manifests(folder: str) -> Iterator[dict[str, Any]]:
    """Everything that a kustomization applies."""
    place = DEPLOY / "kubernetes" / folder
    listed = yaml.safe_load((place / "kustomization.yaml").read_text("utf-8"))["resources"]
    for name in listed:
        yield from yaml.safe_load_all((place / name).read_text("utf-8"))


def pods(folder: str) -> dict[str, dict[str, Any]]:
    """The pods of a kustomization, by the name of what makes them."""
    makers = (one for one in manifests(folder) if one["kind"] in ("StatefulSet", "Deployment"))
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in makers}
