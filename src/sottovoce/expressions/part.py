"""Parts of a checked expression, with their kinds and bounds; constants, and how a value is looked up among them.

The lookup is decided when the expression is checked, without any value. A table is the fastest and largest way, so an
expression may have a few; other lists use binary search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ValueOutsideDomainError
from sottovoce.domain import Domain, LabelDomain
from sottovoce.expressions.limits import LARGEST, MAX_TABLES, SMALLEST, Path, PlacedError, shown
from sottovoce.expressions.tree import Tree, value_of

__all__ = [
    "ConstantLookup",
    "Kind",
    "Part",
    "Scalar",
    "alike",
    "alternatives",
    "as_number",
    "as_real",
    "bounded",
    "constant",
    "named",
    "numbers_array",
    "text_position",
]


Kind: TypeAlias = Literal["integer", "real", "truth", "text"]
Scalar: TypeAlias = int | float


@dataclass(frozen=True, eq=False)
class Part:
    """One operation with its arguments; `low` and `high` bound its result, rounding included.

    A text is represented by its index in `domain`; its bounds are not used.
    """

    op: str
    kind: Kind
    low: Scalar
    high: Scalar
    parts: tuple[Part, ...] = ()
    data: Any = None
    domain: Domain | None = None


def constant(number: Scalar) -> Part:
    """A constant number."""
    if isinstance(number, int):
        return Part("constant", "integer", number, number, data=np.int64(number))
    return Part("constant", "real", number, number, data=np.float64(number))


def named(kind: Kind) -> str:
    """A kind with its article, for messages."""
    return {"integer": "an integer", "real": "a real number", "truth": "a truth value", "text": "a text"}[kind]


def bounded(op: str, kind: Kind, corners: list[Scalar], parts: tuple[Part, ...], path: Path, data: Any = None) -> Part:
    """A part with bounds from its corner values; refused if they exceed int64 or the finite floats."""
    low, high = min(corners), max(corners)
    if kind == "integer" and not SMALLEST <= low <= high <= LARGEST:
        raise PlacedError(
            f"this {op} may overflow 64-bit integers; clip its arguments, or divide one by 1 to get real numbers",
            path,
        )
    if kind == "real" and not (math.isfinite(low) and math.isfinite(high)):
        raise PlacedError(f"this {op} may become infinite; clip or rescale its arguments", path)
    return Part(op, kind, low, high, parts, data)


def as_number(part: Part, path: Path, what: str) -> Part:
    """The part as an integer or a real: a truth value counts as 0 or 1, a text is refused."""
    if part.kind == "text":
        raise PlacedError(f"{what} takes numbers, not texts; compare the text with ==, != or in", path)
    return Part("count", "integer", 0, 1, (part,)) if part.kind == "truth" else part


def alike(parts: list[Part]) -> list[Part]:
    """The parts as numbers of one kind: all real if one is real."""
    if all(part.kind == "integer" for part in parts):
        return parts
    return [as_real(part) for part in parts]


def as_real(part: Part) -> Part:
    """The number as a float64, rounded to the nearest."""
    if part.kind == "real":
        return part
    return Part("real", "real", float(part.low), float(part.high), (part,))


def text_position(domain: Domain, text: str, path: Path) -> int:
    """The index of a constant text; refused if it is not in the domain."""
    try:
        return domain.index(text)
    except ValueOutsideDomainError:
        allowed = domain._allowed
        if isinstance(domain, LabelDomain):
            rest = f" and {domain.size - 5} more" if domain.size > 5 else ""
            allowed = ", ".join(shown(name) for name in domain.names[:5]) + rest
        raise PlacedError(
            f"the text {shown(text)} is not in the attribute's domain; allowed: {allowed}", path
        ) from None


def numbers_array(members: Sequence[Tree]) -> NDArray[Any]:
    """Numbers of a list: int64 where all are integers, else float64."""
    values = [value_of(member) for member in members]
    return np.array(values, dtype=np.int64 if all(isinstance(value, int) for value in values) else np.float64)


def alternatives(part: Part, members: Sequence[Tree], path: Path, distinct: bool) -> tuple[Part, NDArray[Any]]:
    """The part and the constants it is compared with, converted to one kind."""
    texts = isinstance(members[0], str)
    if texts != (part.kind == "text"):
        raise PlacedError(f"cannot search for {named(part.kind)} among {'texts' if texts else 'numbers'}", path)
    if part.domain is not None:
        positions = [text_position(part.domain, str(member), (*path, i)) for i, member in enumerate(members)]
        listed: NDArray[Any] = np.array(positions, dtype=np.int64)
    else:
        listed = numbers_array(members)
        if listed.dtype.kind == "f" or part.kind == "real":
            part, listed = as_real(part), listed.astype(np.float64)
    if distinct and len(np.unique(listed)) < len(listed):
        raise PlacedError("find takes distinct constants; two of these are equal", path)
    return part, listed


_FEW: Final = 8
"""Up to this many constants are compared one by one."""

_SPAN: Final = 2**17
"""Integers from a range of up to this many values are looked up in a table."""


class ConstantLookup:
    """The lookups of one expression, with their memory budget."""

    def __init__(self) -> None:
        self._room = MAX_TABLES

    def place(self, a: Part, listed: NDArray[Any]) -> Part:
        """The position of a value in a list of distinct constants, or the list's length."""
        count = len(listed)
        low, high = (a.low, a.high) if a.domain is None else (0, a.domain.size - 1)
        if count <= _FEW:
            return Part("match", "integer", 0, count, (a,), listed)
        if a.kind != "real" and high - low < min(_SPAN, self._room):
            table = np.full(int(high - low) + 1, count, dtype=np.int64)
            self._room -= len(table)
            inside = (listed >= low) & (listed <= high)
            table[listed[inside] - int(low)] = np.flatnonzero(inside)
            offset = Part("-", "integer", 0, high - low, (a, constant(low)))
            return Part("gather", "integer", 0, count, (offset,), table)
        order = np.argsort(listed)
        return Part("search", "integer", 0, count, (a,), (listed[order], order))

    def held(self, a: Part, listed: NDArray[Any]) -> Part:
        """Whether a value is one of the constants."""
        distinct = np.unique(listed)
        if len(distinct) <= _FEW:
            return Part("in", "truth", 0, 1, (a,), distinct)
        return Part("<", "truth", 0, 1, (self.place(a, distinct), constant(len(distinct))))
