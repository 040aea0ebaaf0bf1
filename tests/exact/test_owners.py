"""Behaviour lives with its owner: outside its room nothing asks which kind of question, estimate or strategy it has.

Whoever adds a kind writes its class and one line in a registry. A test of kinds elsewhere is a method that is missing
on the base class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sottovoce
from import_graph import called, trees, walk
from sottovoce.questions.registry import QUESTIONS
from sottovoce.strategies.registry import STRATEGIES

ROOT = Path(sottovoce.__file__).parent

BASES = {"Question": "questions", "Strategy": "strategies", "Estimate": "estimates"}
"""By base class: the room of its kinds."""

KIND_NAMES = {"questions": set(QUESTIONS), "strategies": set(STRATEGIES), "estimates": set[str]()}


@cache
def kinds() -> dict[str, str]:
    """Every class below one of the bases by its name, with its room; the bases themselves are no kinds."""
    parents = {
        node.name: {ast.unparse(base).split("[")[0].rpartition(".")[2] for base in node.bases}
        for tree in trees(ROOT).values()
        for node in walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found: dict[str, str] = {}
    for base, room in BASES.items():
        below = {base}
        while more := {name for name, over in parents.items() if over & below} - below:
            below |= more
        found |= dict.fromkeys(below - {base}, room)
    return found


def asked_kinds(tree: ast.AST, room: str) -> Iterator[tuple[int, str]]:
    """Lines that tell kinds of another room apart: isinstance, issubclass, match, `type(x) is`, or a kind by name."""
    foreign = {name for name, home in kinds().items() if home != room}
    names = {name for home, listed in KIND_NAMES.items() if home != room for name in listed}
    for node in walk(tree):
        if isinstance(node, ast.Call) and called(node) in ("isinstance", "issubclass") and len(node.args) == 2:
            asked: list[ast.AST] = [node.args[1]]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        elif isinstance(node, ast.Subscript | ast.Call) and any(map(_is_kind_of_question, _looked_up(node))):
            yield node.lineno, ast.unparse(node)
            continue
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_kind_of(side) for side in sides) and any(_constants(side) & names for side in sides):
                yield node.lineno, ast.unparse(node)
            classes = isinstance(node.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq | ast.In | ast.NotIn)
            asked = list(sides) if classes else []
        else:
            continue
        if any(_last(part) in foreign for one in asked for part in ast.walk(one)):
            yield node.lineno, ast.unparse(node)


def _last(node: ast.AST) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _is_kind_of(node: ast.AST) -> bool:
    """Whether it reads the kind of a question or survey, or the name of a strategy."""
    text = ast.unparse(node)
    return text == "kind" or text.endswith((".kind", "design.name", "strategy.name"))


def _is_kind_of_question(node: ast.AST) -> bool:
    return ast.unparse(node).endswith(("question.kind", "survey.kind"))


def _looked_up(node: ast.Subscript | ast.Call) -> list[ast.expr]:
    """What is looked up in a table: `table[key]` or `table.get(key)`."""
    if isinstance(node, ast.Subscript):
        return [node.slice]
    written = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Dict)
    return node.args[:1] if called(node) == "get" and not written else []


def _constants(node: ast.AST) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def test_the_kinds_are_known() -> None:
    assert {kinds()[kind.__name__] for kind in QUESTIONS.values()} == {"questions"}
    assert {kinds()[kind.__name__] for kind in STRATEGIES.values()} == {"strategies"}
    assert "estimates" in kinds().values()


def test_nobody_outside_asks_which_kind_it_is() -> None:
    found = {
        f"{module}:{line}": text
        for module, tree in trees(ROOT).items()
        if "." in module
        for line, text in asked_kinds(tree, module.split(".")[1])
    }
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(question, Words)",
        "isinstance(question, Number | Records)",
        "isinstance(survey.question, (questions.Vector, int))",
        "issubclass(kind, Shares)",
        "type(question) is Words",
        "type(question) in (Words, Number)",
        "match question:\n    case Number(): pass",
        "survey.kind == 'words'",
        "survey.kind in ('words', 'number')",
        "survey.kind == Words.kind",
        "TEXTS[survey.question.kind]",
        "TEXTS.get(question.kind, '')",
        "isinstance(design, Histogram)",
        "design.name == 'histogram'",
    ],
)
def test_the_reader_finds_every_form(source: str) -> None:
    assert list(asked_kinds(ast.parse(source), "collector"))


@pytest.mark.parametrize(
    "source", ["isinstance(question, Question)", "isinstance(x, int)", "field.kind == 'integer'", "x = Words.of()"]
)
def test_the_reader_finds_nothing_else(source: str) -> None:
    assert not list(asked_kinds(ast.parse(source), "collector"))


def test_a_room_may_tell_its_own_kinds_apart() -> None:
    assert not list(asked_kinds(ast.parse("isinstance(question, Words)"), "questions"))
    assert list(asked_kinds(ast.parse("isinstance(question, Words)"), "strategies"))
