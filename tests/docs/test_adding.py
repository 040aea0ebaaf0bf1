"""The pages on adding things, followed to the letter on a copy of the repository: what they show makes checks green."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.test_examples import fenced
from document import ROOT

pytestmark = pytest.mark.slow

COPIED = ("src", "tests", "docs", "tools", "vectors", "evidence", "clients")
LEFT_OUT = shutil.ignore_patterns("node_modules", "_build", "build", "dist")
COMPILED = (".pyc", ".nbi", ".nbc")
"""Files of Python and Numba, which go by a source's time and length; a copy has the same until a page changes it."""

WHOLE = (
    "test_lists or test_the_citation_file or test_every_module or test_rooms or second_client_answers or "
    "test_every_command_refuses"
)
"""Tests that hold of the whole tree, whatever is added."""

FOUND = (
    *("docs/test_complete.py", "docs/test_coverage.py", "exact/test_conformance.py", "exact/test_choices.py"),
    *("exact/test_import_rules.py", "exact/test_rooms.py", "exact/test_second_moments.py", "auditing/test_audit.py"),
    *("exact/test_estimate.py", "vectors/test_vectors.py", "property/test_count_encoded.py", "cli/test_mistakes.py"),
    *("js/test_channels.py", "js/test_refusals.py", "js/test_samples.py"),
)
"""Where they are, and where what is added is found in a registry; the last three ask the TypeScript client."""

NODE_MODULES = (Path("clients", "js", "node_modules"), Path("clients", "pages", "node_modules"))


def left_out(folder: str, names: list[str]) -> set[str]:
    """What is built. What is compiled stays, or the copy would compile all of it again."""
    if Path(folder).name == "__pycache__":
        # Other processes write there meanwhile, and tests that pytest has compiled name the files they are from.
        return {name for name in names if not name.endswith(COMPILED) or "-pytest-" in name}
    return LEFT_OUT(folder, names)


def copy(folder: Path) -> None:
    """The repository without what is built."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    for modules in NODE_MODULES:
        (folder / modules).symlink_to(ROOT / modules)


def steps(text: str) -> Iterator[tuple[str, str, str]]:
    """What a page says to write: the mark of a block, the file named last before it, and the block."""
    lines = text.splitlines()
    for block in fenced(text):
        before = "\n".join(lines[: block.line - 1])
        paths = re.findall(r"`((?:src|clients|docs|tests|tools)/[\w/.]+\.(?:py|ts|md))`", before)
        yield block.mark, paths[-1] if paths else "", block.code


def change(text: str, diff: str) -> str:
    """The text as a diff of one place changes it."""
    lines = diff.splitlines()
    old, new = ("\n".join(line[1:] for line in lines if line[:1] != sign) for sign in "+-")
    assert text.count(old) == 1, old
    return text.replace(old, new)


def follow(page: str, folder: Path) -> list[str]:
    """Write what the page shows; returns the commands that it says to run."""
    commands, written = [], set()
    for mark, path, code in steps((ROOT / "docs" / "contributors" / page).read_text(encoding="utf-8")):
        file = folder / path
        if mark == "diff":
            file.write_text(change(file.read_text(encoding="utf-8"), code), encoding="utf-8")
        elif mark in ("ts", "md") or (mark == "python" and ">>>" not in code and path not in written):
            assert not file.exists(), path
            file.write_text(code, encoding="utf-8")
            written.add(path)
        elif mark == "console":
            commands += [line.removeprefix("$ ") for line in code.splitlines() if line.startswith("$ ")]
    return commands


def run(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}"


def check(folder: Path, *words: str) -> None:
    """Run tests of the copy."""
    tests = [f"tests/{word}" if word.endswith(".py") else word for word in words]
    run(folder, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)


def test_a_mechanism_is_added_as_the_page_says(tmp_path: Path) -> None:
    copy(tmp_path)
    commands = follow("adding_a_mechanism.md", tmp_path)
    *commands, pages = commands
    assert len(commands) == 3
    for command in commands:
        program, *arguments = command.split()
        assert program == "python"
        run(tmp_path, *arguments)
    assert (tmp_path / "vectors" / "lazy_response.json").is_file()
    build_pages(pages, tmp_path)
    check(tmp_path, *FOUND, "-k", f"lazy_response or every_page_is_reachable or test_import_rules or {WHOLE}")


def build_pages(command: str, folder: Path) -> None:
    """Run the command that builds the pages, with the packages that are installed here, if any are."""
    assert command == "cd clients/pages && npm ci && npm run build"
    if (folder / NODE_MODULES[1]).exists():
        script = command.replace("npm ci && ", "")
        subprocess.run([ROOT / "tools" / "with_node", "bash", "-c", script], cwd=folder, check=True)
        built = folder / "src" / "sottovoce" / "collector" / "pages" / "assets" / "survey.js"
        assert "lazy_response" in built.read_text(encoding="utf-8")


READ_BACK = """
import sottovoce as sv
from sottovoce.workloads import Tails
survey = sv.Survey(sv.queries(Tails(6)), epsilon=1.0, strategy="histogram")
assert sv.Survey.from_json(survey.to_json()) == survey
"""


def test_a_workload_is_added_as_the_page_says(tmp_path: Path) -> None:
    copy(tmp_path)
    assert follow("adding_a_workload.md", tmp_path) == []
    run(tmp_path, "-c", READ_BACK)
    check(tmp_path, "docs/test_complete.py", "exact/test_rooms.py", "-k", "tails or workloads or rooms")
