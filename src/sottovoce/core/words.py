"""Phrases shared by messages, tables and pictures: numbers with a noun, and the privacy guarantee."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

__all__ = [
    "SHUFFLER",
    "both_guarantees",
    "delta_of",
    "delta_suffix",
    "exactly",
    "figure",
    "guarantee",
    "in_windows",
    "plural",
    "rounded_down",
    "rounded_up",
]

SHUFFLER: Final = "with a shuffler that does not collude and enough honest answers in every batch"
"""What a central guarantee rests on, in few words."""


def plural(n: int, singular: str, many: str = "") -> str:
    """A number with its noun in singular or plural; the plural ends in s unless given.

    Examples
    --------
    >>> plural(1, "report"), plural(2000, "report"), plural(0, "batch", "batches")
    ('1 report', '2,000 reports', '0 batches')
    """
    return f"{n:,} {singular if n == 1 else many or singular + 's'}"


def figure(number: float) -> str:
    """A planned error, or another figure that people compare: three significant digits, as all interfaces print it.

    A half is rounded up. The pages do the same (`figure` in parts/format.ts).

    Examples
    --------
    >>> figure(0.012345), figure(0.2), figure(12.25), figure(1234.5)
    ('0.0123', '0.2', '12.3', '1230')
    """
    if not math.isfinite(number):
        return f"{number:g}"
    return f"{float(Context(prec=3, rounding=ROUND_HALF_UP).create_decimal(Decimal(number))):.10g}"


def delta_of(survey: object) -> float:
    """The delta of a survey, plan or mechanism; 0 for those that have none.

    Examples
    --------
    >>> import sottovoce as sv
    >>> delta_of(sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0))
    0.0
    >>> delta_of(sv.Survey(sv.vector(2, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian"))
    1e-06
    """
    return float(getattr(survey, "delta", 0.0))


def delta_suffix(delta: float) -> str:
    """The text after an epsilon; empty if delta is 0.

    Examples
    --------
    >>> delta_suffix(1e-6), delta_suffix(0.0)
    (', delta 1e-06', '')
    """
    return f", delta {delta:g}" if delta else ""


def guarantee(epsilon: float, delta: float = 0.0) -> str:
    """The guarantee: epsilon, and delta unless it is 0.

    Examples
    --------
    >>> guarantee(1.0), guarantee(0.5, 1e-6)
    ('epsilon 1', 'epsilon 0.5, delta 1e-06')
    """
    return f"epsilon {epsilon:g}{delta_suffix(delta)}"


def in_windows(each: str, twice: str, span: str) -> str:
    """The guarantee in each window, and that in any stretch of a window's length, which meets two of them at most.

    Examples
    --------
    >>> in_windows("epsilon 1", "epsilon 2", "13 weeks")
    'epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks'
    """
    return f"{each} in each window of {span}, {twice} for any {span}"


def rounded_up(bound: float, digits: int = 3) -> str:
    """A bound with `digits` digits, never below it.

    Examples
    --------
    >>> rounded_up(0.49931), rounded_up(0.5), rounded_up(0.06841)
    ('0.5', '0.5', '0.0685')
    """
    if not 0 < bound < math.inf:
        return f"{bound:g}"
    power = math.floor(math.log10(bound)) - digits + 1
    shown = float(f"{bound:.{digits - 1}e}")
    return f"{shown if shown >= bound else shown + 10.0**power:.{digits}g}"


def rounded_down(bound: float, digits: int = 3) -> str:
    """A lower bound with `digits` digits, never above it.

    Examples
    --------
    >>> rounded_down(0.49981), rounded_down(0.5), rounded_down(0.06849)
    ('0.499', '0.5', '0.0684')
    """
    if not 0 < bound < math.inf:
        return f"{bound:g}"
    power = math.floor(math.log10(bound)) - digits + 1
    shown = float(f"{bound:.{digits - 1}e}")
    return f"{shown if shown <= bound else shown - 10.0**power:.{digits}g}"


def exactly(number: float) -> str:
    """A number with all its digits, for statements that somebody is held to.

    Examples
    --------
    >>> exactly(1.0), exactly(1e-6), exactly(1.2345644)
    ('1', '1e-06', '1.2345644')
    """
    return next(text for digits in range(6, 18) if float(text := f"{number:.{digits}g}") == number)


def both_guarantees(local: float, epsilon: float, delta: float) -> str:
    """The guarantee of every report by itself, and that of all reports of a batch, with what each rests on.

    Examples
    --------
    >>> both_guarantees(4.1, 0.49931, 1e-8)
    'local epsilon 4.1 on the device; central epsilon 0.5, delta 1e-08, with a shuffler that does not collude and ...'
    """
    return (
        f"local epsilon {local:g} on the device; central epsilon {rounded_up(epsilon)}{delta_suffix(delta)}, {SHUFFLER}"
    )
