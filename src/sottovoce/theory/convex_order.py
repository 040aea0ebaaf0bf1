"""Laws of finitely many numbers in convex order: one law above several, of equal means.

X is below Y in convex order if E f(X) <= E f(Y) for every convex f; where the means are equal, if E(X - t)_+ <=
E(Y - t)_+ for every t (the stop-loss transform). Sums of independent terms, and mixtures, keep the order (Shaked and
Shanthikumar 2007, Thm 3.A.12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_ATOMS", "Law", "condensed", "envelope", "law_of_stop_losses", "opposed", "stop_losses"]

Floats = NDArray[np.float64]

Law = tuple[Floats, Floats]
"""Chances that add up to one, and the numbers that they belong to."""

MOST_ATOMS: Final = 512
"""Numbers that a law is made of at most; one with more is spread over this many, which raises it in convex order."""

_APART: Final = 1e-14
"""Numbers that differ by less, relative to their range, differ by rounding."""


def stop_losses(law: Law, at: Floats) -> Floats:
    """E(X - t)_+ for every t of the increasing `at`.

    Examples
    --------
    >>> stop_losses((np.array([0.5, 0.5]), np.array([-1.0, 1.0])), np.array([-1.0, 0.0, 1.0]))
    array([1. , 0.5, 0. ])
    """
    chances, values = law
    order = np.argsort(values)
    values, chances = values[order], chances[order]
    first = np.searchsorted(values, at, side="right")
    mass = np.append(np.cumsum(chances[::-1])[::-1], 0.0)
    moment = np.append(np.cumsum((chances * values)[::-1])[::-1], 0.0)
    return np.asarray(np.maximum(moment[first] - at * mass[first], 0.0))


def law_of_stop_losses(at: Floats, transform: Floats) -> Law:
    """The law of numbers among `at` with these stop-loss transforms, or of the greatest convex function below them.

    The transforms are convex but for their rounding, fall with slope -1 before the first number, and end in 0.
    """
    corners = [0]
    for j in range(1, len(at)):
        while len(corners) > 1:
            h, i = corners[-2], corners[-1]
            if (transform[i] - transform[h]) * (at[j] - at[h]) < (transform[j] - transform[h]) * (at[i] - at[h]):
                break
            corners.pop()
        corners.append(j)
    kept = np.array(corners)
    slopes = np.maximum.accumulate(np.diff(transform[kept]) / np.diff(at[kept]))
    chances = np.diff(np.concatenate([[-1.0], np.clip(slopes, -1.0, 0.0), [0.0]]))
    return chances[chances > 0], at[kept][chances > 0]


def envelope(laws: Sequence[Law]) -> Law:
    """One law above all of these, which have one mean: its stop-loss transform is the largest of theirs.

    Between two numbers of any of the laws every transform is a straight line, and the chord of the largest ones is
    above all. A grid of fewer numbers gives longer chords, which are above these.

    Examples
    --------
    >>> narrow, wide = (np.array([0.5, 0.5]), np.array([-1.0, 1.0])), (np.array([0.5, 0.5]), np.array([-2.0, 2.0]))
    >>> envelope([narrow, wide])
    (array([0.5, 0.5]), array([-2.,  2.]))
    """
    laws = [condensed(law) for law in laws]
    # A law itself is more accurate than what its transforms say of it.
    if all(_same(laws[0], law) for law in laws[1:]):
        return laws[0][0], np.maximum.reduce([values for _, values in laws])
    at = _grid(np.concatenate([values for _, values in laws]))
    if len(at) == 1:
        return np.ones(1), at
    return law_of_stop_losses(at, np.maximum.reduce([stop_losses(law, at) for law in laws]))


def condensed(law: Law) -> Law:
    """This law with equal numbers merged, spread over a grid where there are too many."""
    chances, values = law
    at = _grid(values)
    if len(at) == 1:
        return np.array([chances.sum()]), at
    above = np.clip(np.searchsorted(at, values, side="right"), 1, len(at) - 1)
    share = np.clip((values - at[above - 1]) / (at[above] - at[above - 1]), 0.0, 1.0)
    masses = np.bincount(above, weights=chances * share, minlength=len(at))
    masses += np.bincount(above - 1, weights=chances * (1 - share), minlength=len(at))
    return np.asarray(masses[masses > 0], dtype=np.float64), at[masses > 0]


def opposed(first: Law, second: Law) -> Law:
    """The law of X + Y that is above all others for these laws of X and of Y: both grow together.

    (Kaas, Dhaene and Goovaerts 2000, Thm 7.) It grows in convex order with the law of X and with that of Y.

    Examples
    --------
    >>> fair = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    >>> opposed(fair, fair)
    (array([0.5, 0.5]), array([0., 2.]))
    """
    (x_chances, x), (y_chances, y) = ((c[np.argsort(v)], np.sort(v)) for c, v in (first, second))
    x_ends, y_ends = np.cumsum(x_chances), np.cumsum(y_chances)
    ends = np.unique(np.concatenate([x_ends[:-1], y_ends[:-1], [1.0]]))
    middle = (ends + np.concatenate([[0.0], ends[:-1]])) / 2
    places = [np.minimum(np.searchsorted(e, middle), len(e) - 1) for e in (x_ends, y_ends)]
    return np.diff(ends, prepend=0.0), x[places[0]] + y[places[1]]


def _same(first: Law, second: Law) -> bool:
    """Whether two laws differ by rounding only."""
    if len(first[0]) != len(second[0]):
        return False
    near = _APART * float(np.ptp(first[1]) + np.abs(first[1]).max())
    return np.allclose(first[0], second[0], 0, _APART) and np.allclose(first[1], second[1], 0, near)


def _grid(values: Floats) -> Floats:
    """The different numbers, the least and the largest among them; evenly spaced ones where there are too many."""
    low, high = float(values.min()), float(values.max())
    distinct = np.unique(values)
    if high - low <= _APART * max(abs(low), abs(high)):
        return distinct[-1:]
    steps = np.diff(distinct) > _APART * (high - low)
    kept = distinct[np.append(True, steps)]
    kept[-1] = high
    return kept if len(kept) <= MOST_ATOMS else np.linspace(low, high, MOST_ATOMS)
