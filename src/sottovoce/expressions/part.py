"""Parts of a checked expression, with their kinds and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from sottovoce.domain import Domain
from sottovoce.expressions.faults import Path, PlacedError
from sottovoce.expressions.limits import LARGEST, SMALLEST

__all__ = ["Kind", "Part", "Scalar", "alike", "as_number", "as_real", "bounded", "constant", "named"]

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
