"""Rooms stand in one order, and no import runs back, whether at the top, inside a function or for a type alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

import sottovoce
from import_graph import circle, python_graph, python_imports, trees, typescript_graph, typescript_imports, walk
from sottovoce.collector.app import ROUTES
from sottovoce.relay.api import RELAY_ROUTES
from sottovoce.service.http.openapi import openapi_document

CLIENTS = Path(__file__).parents[2] / "clients"

ROOMS_IN_ORDER = (
    *("core", "randomness", "kernels", "domain", "workloads", "expressions", "theory", "mechanisms", "auditing"),
    *("projections", "strategies", "figures", "estimates", "questions", "surveys", "planning", "adaptive", "formats"),
    *("protocol", "oblivious", "transparency", "device", "histories", "edge", "analyst", "disclosure", "service"),
    *("collector", "relay", "engines", "lab"),
    *("the public face", "cli", "__main__"),
)
"""Packages of sottovoce. Each imports itself and what stands before it, and nothing else."""

DEVICE_CLIENT_IN_ORDER = (
    *("core", "randomness", "domain", "workloads", "expressions", "mechanisms/base", "mechanisms/laws", "mechanisms"),
    *("strategies", "questions", "surveys", "oblivious", "transparency", "device", "the public face"),
)
PAGES_IN_ORDER = (
    *("parts", "charts", "questions", "survey/fields", "survey/kinds", "survey", "element", "views/shared"),
    *("views/create", "views/surveys", "views/planner", "views/conversation", "views/groups", "views/tracking"),
    *("views/survey", "dashboard"),
)
TYPESCRIPT_IN_ORDER = tuple(
    f"{client}/{folder}"
    for client, folders in (("js", DEVICE_CLIENT_IN_ORDER), ("pages", PAGES_IN_ORDER))
    for folder in folders
)
"""Folders of clients/js/src and clients/pages/src, under the same rule; pages stand after the whole device client."""


@cache
def python() -> dict[str, set[str]]:
    """Read when a test asks, and not by every process that collects tests."""
    return python_graph(Path(sottovoce.__file__).parent)


@cache
def typescript() -> dict[Path, set[Path]]:
    return typescript_graph(CLIENTS / "js" / "src", CLIENTS / "pages" / "src")


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "the public face"


def test_every_room_is_in_the_order_once() -> None:
    assert sorted(ROOMS_IN_ORDER) == sorted({room(module) for module in python()}), "say where a new room stands"


@pytest.mark.parametrize("name", ROOMS_IN_ORDER)
def test_no_room_imports_one_that_stands_after_it(name: str) -> None:
    allowed = ROOMS_IN_ORDER[: ROOMS_IN_ORDER.index(name) + 1]
    arrows = [(module, to) for module, found in python().items() if room(module) == name for to in sorted(found)]
    assert [f"{module} -> {to}" for module, to in arrows if room(to) not in allowed] == []


def test_no_python_files_import_each_other_in_a_circle() -> None:
    assert circle(python()) == []


def parts(graph: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Which parts of a room import which others of it: a part is a sub-package, a module beside them, or the room."""
    found: dict[str, set[str]] = {}
    for module, imported in graph.items():
        to = {part(other) for other in imported if room(other) == room(module)}
        found.setdefault(part(module), set()).update(to - {part(module)})
    return found


def part(module: str) -> str:
    return ".".join(module.split(".")[:3])


def test_parts_of_a_room_do_not_import_each_other_in_a_circle() -> None:
    """Sub-packages are rooms inside a room: there is an order in which none imports one that stands after it."""
    assert circle(parts(python())) == []


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"s.a.x.one": {"s.a.y.one"}, "s.a.y.two": {"s.a.x.two"}}, {"s.a.x", "s.a.y"}),
        ({"s.a.x.one": {"s.a.y.one"}, "s.a.y.two": {"s.a.z"}, "s.a.z": {"s.a.x.two"}}, {"s.a.x", "s.a.y", "s.a.z"}),
        ({"s.a.x.one": {"s.a"}, "s.a": {"s.a.x.two"}}, {"s.a", "s.a.x"}),
        ({"s.a.x.one": {"s.a.y.one", "s.a.x.two"}, "s.a.x.two": {"s.a.y.two"}, "s.a.y.one": {"s.a.y.two"}}, set()),
        ({"s.a.x.one": {"s.b.x.one"}, "s.b.x.two": {"s.a.x.two"}}, set()),
    ],
)
def test_the_reader_finds_parts_that_import_each_other(graph: dict[str, set[str]], found: set[str]) -> None:
    assert set(circle(parts(graph))) == found


def classes() -> dict[str, list[str]]:
    """Modules that declare a class, by its name."""
    homes: dict[str, list[str]] = {}
    for module, tree in trees(Path(sottovoce.__file__).parent).items():
        for node in walk(tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    return homes


def test_a_class_name_has_one_meaning() -> None:
    """A search for a name finds one class; private helpers count."""
    homes = classes()
    assert "Survey" in homes
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_bodies_of_the_service_are_declared_in_protocol() -> None:
    """Pictures alone are not: workloads make them, and stand before `protocol`."""
    homes = classes()
    documents = [openapi_document(routes)["components"]["schemas"] for routes in (ROUTES, RELAY_ROUTES)]
    modules = {module for schemas in documents for name in schemas for module in homes[name]}
    assert "sottovoce.protocol.surveys" in modules
    assert {module for module in modules if room(module) != "protocol"} == {"sottovoce.workloads.pictures"}


def test_no_typescript_files_import_each_other_in_a_circle() -> None:
    assert circle(typescript()) == []


def typescript_room(path: Path) -> str:
    client, _, *folders = path.relative_to(CLIENTS).parent.parts
    return f"{client}/{'/'.join(folders) or 'the public face'}"


def test_every_folder_of_typescript_is_in_the_order_once() -> None:
    assert sorted(TYPESCRIPT_IN_ORDER) == sorted({typescript_room(path) for path in typescript()})


@pytest.mark.parametrize("name", TYPESCRIPT_IN_ORDER)
def test_no_folder_of_typescript_imports_one_that_stands_after_it(name: str) -> None:
    allowed = TYPESCRIPT_IN_ORDER[: TYPESCRIPT_IN_ORDER.index(name) + 1]
    arrows = [(path, to) for path, found in typescript().items() if typescript_room(path) == name for to in found]
    back = [f"{path} -> {to}" for path, to in arrows if to.suffix == ".ts" and typescript_room(to) not in allowed]
    assert sorted(back) == []


TYPE = re.compile(r"^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|enum) (\w+)", re.MULTILINE)


def test_a_type_name_has_one_meaning() -> None:
    """In both clients together, what a file keeps to itself included."""
    homes: dict[str, list[str]] = {}
    for path in typescript():
        for name in TYPE.findall(re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)):
            homes.setdefault(name, []).append(str(path.relative_to(CLIENTS)))
    assert "Survey" in homes
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_both_languages_were_read() -> None:
    assert "sottovoce.domain.base" in python()["sottovoce.domain.labels"]
    assert "sottovoce.kernels.compiled.channels" in python()["sottovoce.kernels.channels"], "imported inside functions"
    pages, js = CLIENTS / "pages" / "src", CLIENTS / "js" / "src"
    assert js / "domain" / "domain.ts" in typescript()[pages / "survey" / "fields" / "domain_field.ts"]
    field, kind = pages / "survey" / "fields" / "field.ts", pages / "survey" / "kinds" / "kind.ts"
    assert field in typescript()[kind], "imported for a type alone"


KNOWN = ["sottovoce", "sottovoce.cli", "sottovoce.cli.demo", "sottovoce.surveys", "sottovoce.surveys.survey"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import sottovoce.cli.demo", "sottovoce.cli.demo"),
        ("import sottovoce.cli.demo as d, json", "sottovoce.cli.demo"),
        ("import sottovoce.cli.gone", "sottovoce.cli"),
        ("from sottovoce import cli", "sottovoce.cli"),
        ("from sottovoce import __version__", "sottovoce"),
        ("from sottovoce.cli import main", "sottovoce.cli"),
        ("from sottovoce.cli import demo", "sottovoce.cli.demo"),
        ("from sottovoce.cli.demo import *", "sottovoce.cli.demo"),
        ("def f():\n    from sottovoce.cli.demo import x", "sottovoce.cli.demo"),
        ("if TYPE_CHECKING:\n    from sottovoce.cli import demo", "sottovoce.cli.demo"),
        ("from ..cli import main", "sottovoce.cli"),
        ("from .. import cli", "sottovoce.cli"),
        ("from . import survey", "sottovoce.surveys.survey"),
        ("from .survey import Survey", "sottovoce.surveys.survey"),
        ("m = importlib.import_module('sottovoce.cli.demo')", "sottovoce.cli.demo"),
    ],
)
def test_the_reader_of_python_finds_every_form_of_import(source: str, found: str) -> None:
    assert python_imports(source, "sottovoce.surveys.panel", KNOWN) == {found}


def test_the_reader_of_python_knows_a_package_from_a_module() -> None:
    assert python_imports("from . import survey", "sottovoce.surveys", KNOWN, is_package=True) == {
        "sottovoce.surveys.survey"
    }


@pytest.mark.parametrize(
    "source", ["import json", "from sottovoces import cli", "'from sottovoce import cli'", "cli.x()"]
)
def test_the_reader_of_python_finds_nothing_else(source: str) -> None:
    assert python_imports(source, "sottovoce.surveys.panel", KNOWN) == set()


@pytest.mark.parametrize(
    "source",
    [
        'import { a } from "./x.js";',
        'import a, { type B } from "./x.js";',
        "import * as a from './x.js'",
        'import type { A } from "./x.js";',
        'import {\n  a,\n  type B,\n} from "./x.js";',
        'export { a } from "./x.js";',
        'export type { A } from "./x.js";',
        'export * from "./x.js";',
        'import "./x.js";',
        'const a = await import("./x.js");',
        'type A = import("./x.js").A;',
        '/** Why. */\nimport { a } from "./x.js";',
        'export const one = 1;\nimport { a } from "./x.js";',
    ],
)
def test_the_reader_of_typescript_finds_every_form_of_import(source: str) -> None:
    assert typescript_imports(source) == {"./x.js"}


@pytest.mark.parametrize(
    "source",
    [
        '// import { a } from "./x.js";',
        '/* import { a } from "./x.js"; */',
        'export const said = "far from ./x.js";',
        'export function f() { return important("./x.js"); }',
    ],
)
def test_the_reader_of_typescript_finds_nothing_else(source: str) -> None:
    assert typescript_imports(source) == set()


def test_a_typescript_import_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text('import { b } from "./b.js";\n')
    with pytest.raises(FileNotFoundError, match=r"b\.ts"):
        typescript_graph(tmp_path)


def test_circles_are_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a"}}) == []
    found = circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert (found[0], set(found), len(found)) == (found[-1], {"a", "b", "c"}, 4)
    assert circle({"a": {"a"}}) == ["a", "a"]
