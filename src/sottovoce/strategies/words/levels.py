"""Levels of a survey of words: how long their prefixes are, and how many rows, and so people, each has."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sottovoce.domain.words.codes import ByteCode, WordCode

__all__ = ["EASY_UNITS", "MAX_STEP", "easy_units", "length_unit", "level_ends", "level_rows"]

MAX_STEP: Final = 22
"""Most bits from one level to the next: all ways to go on are tried, for every prefix that is kept."""

EASY_UNITS: Final = 12
"""Words of up to this many units are found about equally easily; levels for longer ones get fewer people."""

_ROWS: Final = 64
_ROWS_PER_LEVEL: Final = 8
"""More rows in all where there are many levels, so that the fewest of each are a small part of them."""
_FEWEST: Final = 3
"""Rows of a level at least: with fewer, many ways to go on share all buckets with a common one."""

_KEPT: Final = 7
"""About the logarithm to base 2 of the prefixes kept at a level."""
_SPURIOUS: Final = 4
"""About the logarithm to base 2 of the prefixes that may be kept by chance; see `SearchRule`."""
_CERTAIN: Final = 6
"""About the logarithm to base 2 of the levels over the probability of a false discovery."""
_POWER: Final = 4
"""Bits of evidence to add so that most words at the limit are found."""


def easy_units(code: WordCode) -> int:
    """Units of the words that errors are stated for: twelve, or the longest; all of them where nothing ends before."""
    return min(EASY_UNITS, code.units) if code.ends_anywhere else code.units


def length_unit(code: WordCode) -> str:
    """What lengths are counted in, each of one unit; for unicode the letters a to z, others take two to four."""
    return "bytes" if isinstance(code, ByteCode) else "letters"


def level_ends(code: WordCode) -> tuple[int, ...]:
    """The fewest levels of steps that are nearly alike, each a number of whole units."""
    most = MAX_STEP // code.unit_bits
    levels = -(-code.units // most)
    longer = code.units % levels or levels
    steps = [-(-code.units // levels)] * longer + [code.units // levels] * (levels - longer)
    ends, units = [], 0
    for step in steps:
        units += step
        ends.append(units * code.unit_bits)
    return tuple(ends)


def level_rows(code: WordCode, ends: tuple[int, ...]) -> tuple[int, ...]:
    """Rows of every level, in proportion to the reports that a word at the limit needs there.

    A test with tail probability 2^-b is passed with a given probability by a share that falls like sqrt(b + c) over the
    root of the number of reports (a normal tail: z^2 is about 2 ln 2 b), so that equal limits take rows in proportion
    to b + c. Words end: what only words of more than twelve units need, which are rare, is given the square of twelve
    over their length. Integers alone decide, so that the same levels come out on every machine.

    Examples
    --------
    >>> from sottovoce.domain.words.codes import IntegerCode, UnicodeCode
    >>> level_rows(IntegerCode(2**60), (21, 41, 61))
    (16, 20, 28)
    >>> code = UnicodeCode(16, "lower")
    >>> level_rows(code, level_ends(code))
    (20, 27, 27, 15, 10, 7, 5, 4, 3, 3, 3, 3, 3, 3, 3, 3)
    """
    weights, start = [], 0
    for level, end in enumerate(ends):
        last = end == ends[-1]
        bits = end - start + (_KEPT if level else 0) + (_CERTAIN if last else -_SPURIOUS)
        # Only words that are longer than this level need it; the last one, those longer than the one before.
        longer = max(1, (start if last else end) // code.unit_bits)
        rare = Fraction(EASY_UNITS, longer) ** 2 if code.ends_anywhere and longer > EASY_UNITS else Fraction(1)
        weights.append((bits + _POWER) * rare)
        start = end
    rows = max(_ROWS, _ROWS_PER_LEVEL * len(ends))
    return tuple(max(_FEWEST, round(rows * weight / sum(weights))) for weight in weights)
