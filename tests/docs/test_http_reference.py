"""The pages on HTTP are what their script makes, and know every code with which the service refuses."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import http_errors
import make_http_reference
import sottovoce.collector
import sottovoce.service
from document import folder_text
from sottovoce.collector.intake.checking import ReportCode
from sottovoce.collector.sealing.opening import SealedCode

ROOT = Path(__file__).parents[2]
ROOMS = [Path(str(room.__file__)).parent for room in (sottovoce.collector, sottovoce.service)]


def refusals(source: str) -> tuple[set[tuple[int, str]], int]:
    """Status and code of every `Refusal(status, "code", ...)` in a module, and how many calls do not write them out."""
    found, worked_out = set(), 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refusal":
            written = [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant)]
            if len(written) == 2:
                found.add((written[0], written[1]))
            else:
                worked_out += 1
    return found, worked_out


def test_the_pages_are_what_the_script_makes() -> None:
    written = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "http").glob("*.md")}
    assert written == make_http_reference.pages(), "run tools/make_http_reference.py"


def test_every_address_is_on_a_page_and_every_object_on_one() -> None:
    from sottovoce.collector.app import ROUTES
    from sottovoce.service.http.openapi import openapi_document

    text = folder_text("http")
    shown = (ROOT / "docs" / "pages.md").read_text(encoding="utf-8")
    for route in ROUTES:
        for path in route.paths:
            if route.is_page:
                assert f"| `{path}`" in shown
                continue
            for method in route.methods:
                assert text.count(f"\n## {method} {path}\n") == 1
    for name in openapi_document(ROUTES)["components"]["schemas"]:
        assert len(re.findall(rf"^###? {name}$", text, re.MULTILINE)) == 1, name


def test_every_code_is_explained_and_no_other() -> None:
    modules = [refusals(path.read_text(encoding="utf-8")) for room in ROOMS for path in room.rglob("*.py")]
    assert not any(worked_out for _, worked_out in modules)
    sent = {refusal for found, _ in modules for refusal in found}
    assert {(one.status, one.name) for one in (*http_errors.ERRORS, *http_errors.BODIES)} == sent
    assert [one.status for one in http_errors.ERRORS] == sorted(one.status for one in http_errors.ERRORS)
    verdicts = {code for part in get_args(ReportCode) for code in (get_args(part) or (part,))}
    assert {one.name for one in http_errors.VERDICTS} == verdicts
    assert {one.name for one in http_errors.SEALED} == set(get_args(SealedCode))
