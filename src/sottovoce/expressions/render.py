"""Renders a tree as text that `parse` reads as the same tree."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

from sottovoce.expressions.limits import MAX_TEXT
from sottovoce.expressions.tree import Tree

__all__ = ["render"]

_INFIX: Final = {"+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4}
_PREFIXED: Final = {"not": ("not ", 3), "neg": ("-", 7)}
_JOINED: Final = {"and": 2, "or": 1}
_ATOM: Final = 8


def render(tree: Tree) -> str:
    """The expression as text; lists that are too long are shortened, and then it cannot be parsed again.

    Examples
    --------
    >>> render(("*", ("+", ("attribute", "age"), 1), 2))
    '(age + 1) * 2'
    """
    text, _ = _written(tree, None)
    return text if len(text) <= MAX_TEXT else _written(tree, 4)[0]


def _written(tree: Tree, most: int | None) -> tuple[str, int]:
    """A tree's text and its precedence; lists show at most `most` members."""
    if isinstance(tree, tuple):
        return _operation(tree, most)
    return repr(tree), _ATOM


def _operation(tree: tuple[Any, ...], most: int | None) -> tuple[str, int]:
    op, *rest = tree
    if op == "integer":
        return rest[0], _ATOM
    if op == "attribute":
        return (rest[0] if _plain(rest[0]) else f"attribute({rest[0]!r})"), _ATOM
    if op in _PREFIXED:
        mark, rank = _PREFIXED[op]
        inner, tight = _written(rest[0], most)
        # A bracket after the sign separates it from a number, to which it would belong.
        bare = tight > rank if op == "neg" and isinstance(rest[0], tuple) and rest[0][0] != "integer" else False
        bare = bare or (op == "not" and tight >= rank)
        return f"{mark}{inner}" if bare else f"{mark}({inner})", rank
    if op in _JOINED:
        rank = _JOINED[op]
        return f" {op} ".join(_within(part, rank + 1, most) for part in rest), rank
    if op == "in":
        return f"{_within(rest[0], 5, most)} in {_members(rest[1], most)}", 4
    if op == "if":
        condition, a, b = rest
        return f"{_within(a, 1, most)} if {_within(condition, 1, most)} else {_within(b, 1, most)}", 0
    if op in _INFIX:
        rank = _INFIX[op]
        left = rank + (rank == 4)  # comparisons would chain
        return f"{_within(rest[0], left, most)} {op} {_within(rest[1], rank + 1, most)}", rank
    lists = {"find": 1, "table": 0, "sparse": 0}.get(op, len(rest))
    arguments = [_written(part, most)[0] for part in rest[:lists]] + [_members(part, most) for part in rest[lists:]]
    return f"{op}({', '.join(arguments)})", _ATOM


def _within(tree: Tree, rank: int, most: int | None) -> str:
    text, tight = _written(tree, most)
    return text if tight >= rank else f"({text})"


def _members(members: Sequence[Tree], most: int | None) -> str:
    shown = [_written(member, most)[0] for member in members[:most]]
    if len(shown) < len(members):
        return f"({', '.join(shown)}, ... {len(members)} in all)"
    return f"({', '.join(shown)}{',' * (len(shown) == 1)})"


def _plain(name: str) -> bool:
    """Whether a name can be written without attribute(...)."""
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name
