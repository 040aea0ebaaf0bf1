"""Expressions as JSON trees, read strictly and brought to canonical form, and as text that `parse` reads again."""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import rfc8785

from sottovoce.expressions.limits import (
    EXACT,
    LARGEST,
    MAX_CONSTANTS,
    MAX_DEPTH,
    MAX_NODES,
    MAX_TEXT,
    SMALLEST,
    Path,
    PlacedError,
    shown,
)

__all__ = ["SHAPES", "ParsedTree", "Tree", "integer_node", "read_tree", "render", "value_of"]


Tree: TypeAlias = bool | int | float | str | tuple[Any, ...]
"""A tree in canonical form: arrays are tuples, and a number is an int or a float by its type (see `value_of`)."""

SHAPES: Final[dict[str, tuple[str, ...]]] = {
    "attribute": ("name",),
    "integer": ("digits",),
    **dict.fromkeys(("+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!="), ("tree", "tree")),
    **dict.fromkeys(("//", "%"), ("tree", "step")),
    **dict.fromkeys(("neg", "abs", "not"), ("tree",)),
    **dict.fromkeys(("min", "max", "and", "or"), ("tree", "tree", "more")),
    **dict.fromkeys(("clip", "if"), ("tree", "tree", "tree")),
    "bit": ("tree", "place"),
    **dict.fromkeys(("prefix", "letter"), ("attribute", "place")),
    **dict.fromkeys(("in", "find"), ("tree", "alternatives")),
    "table": ("numbers",),
    "sparse": ("indices", "numbers"),
}
"""The arguments of every operation; "more" allows any number of further trees."""

_DIGITS: Final = re.compile(r"-?[1-9][0-9]{15,18}", re.ASCII)


@dataclass(frozen=True)
class ParsedTree:
    """A tree in canonical form, and its size."""

    tree: Tree
    nodes: int
    depth: int


def integer_node(integer: int) -> int | list[str]:
    """An integer of any size as a tree."""
    return integer if abs(integer) <= EXACT else ["integer", str(integer)]


def value_of(tree: Tree) -> int | float | None:
    """The value of a constant number, None for every other tree."""
    if isinstance(tree, tuple):
        return int(tree[1]) if tree[0] == "integer" else None
    return None if isinstance(tree, (bool, str)) else tree


def read_tree(raw: object) -> ParsedTree:
    """Read an untrusted tree; raises `PlacedError` unless every shape, type and size follows the grammar."""
    reader = _Reader()
    tree = reader.tree(raw, ())
    return ParsedTree(tree, reader.nodes, reader.depth)


class _Reader:
    """One walk over one tree, counting nodes, depth and constants."""

    def __init__(self) -> None:
        self.nodes = 0
        self.depth = 0
        self.constants = 0

    def tree(self, raw: object, path: Path, above: int = 0) -> Tree:
        self.nodes += 1
        self.depth = max(self.depth, above + 1)
        if self.nodes > MAX_NODES:
            raise PlacedError(
                f"the expression has more than {MAX_NODES} parts; use a simpler one, or in, find or a table"
            )
        if above >= MAX_DEPTH:
            raise PlacedError(
                f"the expression is more than {MAX_DEPTH} levels deep; "
                "group long sums with brackets, as in (a + b) + (c + d), or use a simpler one"
            )
        if isinstance(raw, (list, tuple)):
            return self.operation(raw, path, above)
        if type(raw) is bool:
            return raw
        if type(raw) is str:
            return _text(raw, path)
        return _number(raw, path, "an expression")

    def operation(self, raw: Sequence[object], path: Path, above: int) -> Tree:
        name = raw[0] if raw else None
        shape = SHAPES.get(name) if type(name) is str else None
        if type(name) is not str or shape is None:
            given = shown(name) if type(name) is str else _kind(name) if raw else "nothing"
            raise PlacedError(
                f"an array must begin with an operation, not {given}; the operations are {', '.join(SHAPES)}",
                path,
            )
        slots = list(shape)
        if slots[-1] == "more":
            slots = slots[:-1] + ["tree"] * (len(raw) - len(slots))
        if len(slots) != len(raw) - 1:
            many = f"{len(shape) - 1} or more" if shape[-1] == "more" else str(len(slots))
            raise PlacedError(f"{name} takes {many} argument{'s' * (many != '1')}, not {len(raw) - 1}", path)
        parts = [
            getattr(self, slot)(part, (*path, index), above + 1)
            for index, (slot, part) in enumerate(zip(slots, raw[1:], strict=True), 1)
        ]
        if name == "sparse" and len(parts[0]) != len(parts[1]):
            raise PlacedError(
                f"sparse has {len(parts[0])} indices and {len(parts[1])} numbers; give one number per index", path
            )
        return (name, *parts)

    def name(self, raw: object, path: Path, above: int) -> str:
        if type(raw) is not str or not raw:
            raise PlacedError("an attribute must be given by its name, a text", path)
        return _text(raw, path)

    def digits(self, raw: object, path: Path, above: int) -> str:
        if type(raw) is not str or not _DIGITS.fullmatch(raw) or abs(int(raw)) <= EXACT:
            raise PlacedError(
                f"integer takes a decimal string beyond +-{EXACT}; write smaller ones as plain numbers", path
            )
        if not SMALLEST <= int(raw) <= LARGEST:
            raise PlacedError(f"{raw} is not a 64-bit integer; write it with a decimal point for a real number", path)
        return raw

    def step(self, raw: object, path: Path, above: int) -> Tree:
        tree = self.tree(raw, path, above)
        number = value_of(tree)
        if not isinstance(number, int) or number < 1:
            raise PlacedError(
                "// and % divide by a constant integer of at least 1; write a / b for other divisors", path
            )
        return tree

    def place(self, raw: object, path: Path, above: int) -> Tree:
        tree = self.tree(raw, path, above)
        if type(tree) is not int or not 0 <= tree <= 63:
            raise PlacedError("a position or a length must be a constant integer from 0 to 63", path)
        return tree

    def attribute(self, raw: object, path: Path, above: int) -> Tree:
        tree = self.tree(raw, path, above)
        if not isinstance(tree, tuple) or tree[0] != "attribute":
            raise PlacedError("prefix and letter take an attribute, not an expression", path)
        return tree

    def members(self, raw: object, path: Path) -> Sequence[object]:
        if not isinstance(raw, (list, tuple)):
            raise PlacedError(f"expected a list of constants, not {_kind(raw)}", path)
        self.constants += len(raw)
        if not raw or self.constants > MAX_CONSTANTS:
            raise PlacedError(
                f"lists must have 1 to {MAX_CONSTANTS} members, all lists of an expression together", path
            )
        return raw

    def numbers(self, raw: object, path: Path, above: int) -> tuple[Tree, ...]:
        return tuple(_member(member, (*path, i)) for i, member in enumerate(self.members(raw, path)))

    def alternatives(self, raw: object, path: Path, above: int) -> tuple[Tree, ...]:
        members = self.members(raw, path)
        if all(type(member) is str for member in members):
            return tuple(_text(str(member), (*path, i)) for i, member in enumerate(members))
        return tuple(_member(member, (*path, i)) for i, member in enumerate(members))

    def indices(self, raw: object, path: Path, above: int) -> tuple[Tree, ...]:
        members = self.numbers(raw, path, above)
        last = -1
        for i, member in enumerate(members):
            value = value_of(member)
            if not isinstance(value, int) or value <= last:
                raise PlacedError("the indices of sparse must be increasing integers from 0", (*path, i))
            last = value
        return members


def _member(raw: object, path: Path) -> Tree:
    """A number of a list."""
    if isinstance(raw, (list, tuple)) and len(raw) == 2 and type(raw[0]) is str and raw[0] == "integer":
        return "integer", _Reader().digits(raw[1], (*path, 1), 0)
    return _number(raw, path, "a number (a list contains either numbers or texts)")


def _number(raw: object, path: Path, due: str) -> int | float:
    """A JSON number by its value: 1 and 1.0 are the same integer; a whole number beyond 2**53 - 1 is a real.

    RFC 8785 writes floats up to 1e21 as whole numbers whose last digits are zeros, so not always exactly: 2.0**63 is
    9223372036854776000. Digits that are neither a float's value nor its RFC 8785 form are meant as an exact integer.
    """
    if type(raw) is int:
        if abs(raw) <= EXACT:
            return raw
        try:
            real = float(raw)
        except OverflowError:
            real = math.inf
        if not (real == raw or (math.isfinite(real) and rfc8785.dumps(real) == b"%d" % raw)):
            raise PlacedError(
                f'integers beyond +-{EXACT} must be written ["integer", "..."], with decimal digits', path
            )
        return real
    if type(raw) is float:
        if not math.isfinite(raw):
            raise PlacedError("numbers must be finite", path)
        return int(raw) if raw.is_integer() and abs(raw) <= EXACT else raw
    raise PlacedError(f"expected {due}, not {_kind(raw)}", path)


def _text(raw: str, path: Path) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in raw):
        raise PlacedError("a text is not valid Unicode: remove the lone surrogate", path)
    return raw


def _kind(raw: object) -> str:
    """The JSON type of a value, with its article."""
    names = {
        type(None): "null",
        bool: "a truth value",
        dict: "an object",
        list: "an array",
        tuple: "an array",
        str: "a text",
    }
    return names.get(type(raw)) or f"a {type(raw).__name__}"


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
