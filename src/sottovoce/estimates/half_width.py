"""The half-width of the interval that an estimate will print: what a plan calls the margin.

It is found by the function that finds the intervals of estimates, `certified_interval`, for raw answers that are right
and counts that are typical. Without a population each answer is taken where its variance is largest, with the counts of
the population of the largest total variance, or of uniformly distributed values where that one is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import CapacityError, MechanismError
from sottovoce.estimates.intervals import Observed, certified_interval
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.rows import row_ranges
from sottovoce.strategies.laws.variance import Population

__all__ = ["LEVEL", "half_width", "half_widths", "widening"]

LEVEL: Final = 0.95
"""The level of planned margins."""

_SIMULATED: Final = 2**14
"""People whose reports are drawn for typical counts: these are multiplied up to the planned number."""

_SEED: Final = 20_000

_MOST_CELLS: Final = 2**22
"""Counters up to which typical counts are drawn."""

_MOST_ANSWERS, _MOST_VALUES = 2**14, 2**22
"""Answers, and values that people can have, up to which intervals are computed."""

_STEPS: Final = 4
"""Steps in which the answer of the largest variance is found."""

_NODES: Final = 7
"""Numbers of people at which the half-widths of a curve are computed; in between, their ratios to 1.96 standard errors
are interpolated."""


def half_width(design: Strategy, people: int, population: Population | None = None) -> float:
    """The largest half-width of an interval of one answer, at 95 %.

    Where a design's intervals are not known before its reports, as for searched words, or are too many to compute while
    somebody waits: 1.96 standard errors.

    Examples
    --------
    >>> from sottovoce import Survey, number
    >>> design = Survey(number(0, 10, "hours"), epsilon=1.0).design
    >>> round(half_width(design, 2_000), 2), round(design.margin(2_000), 2)
    (0.62, 0.49)
    """
    workload = design.workload
    if workload.n_queries > _MOST_ANSWERS or (workload.n_values or 0) > _MOST_VALUES:
        return design.margin(people, population)
    try:
        least, most = _ends(design)
        counts = _typical_counts(design, people, population)
        seen: Any = _AtWorst(design) if population is None else design
        raw = _worst_answers(design, counts, people) if population is None else np.asarray(population.answers)
        if population is None:
            # An interval near an end of the range is cut there: farther inside it is whole.
            width = 2 * design.margin(people)
            raw = np.where(2 * width < most - least, raw.clip(least + width, most - width), (least + most) / 2)
        interval = certified_interval(Observed(seen, raw, people, counts, least, most), LEVEL)
    except (CapacityError, MechanismError):
        return design.margin(people, population)
    return float(np.max(interval.high - interval.low)) / 2


def widening(design: Strategy, people: int, population: Population | None = None) -> float:
    """The half-width over 1.96 standard errors, which are quick to compute; 1 where everybody answers the same."""
    margin = design.margin(people, population)
    return half_width(design, people, population) / margin if margin > 0 else 1.0


def half_widths(designs: Sequence[Strategy], people: Sequence[int], population: Population | None = None) -> Floats:
    """The half-widths of a design as made for every number of people, these in increasing order."""
    margins = np.array([design.margin(n, population) for design, n in zip(designs, people, strict=True)])
    nodes = np.unique(np.linspace(0, len(people) - 1, _NODES).round().astype(np.int64))
    ratios = [widening(designs[node], people[node], population) for node in nodes.tolist()]
    return np.asarray(margins * np.interp(np.log(people), np.log(np.array(people)[nodes]), ratios))


@final
@dataclass(frozen=True)
class _AtWorst:
    """A design of which nothing is known from counts that true answers alone do not say: the worst for each answer."""

    design: Strategy

    def __getattr__(self, name: str) -> Any:
        return getattr(self.design, name)

    def law(self, weights: Floats | None, evidence: Evidence, ends: Any = None) -> ReportLaw:
        law = self.design.law(weights, evidence, ends)
        return law if law.anywhere is None else replace(law, curve=law.anywhere)


def _ends(design: Strategy) -> tuple[Floats, Floats]:
    """The least and the largest true answers."""
    workload = design.workload
    ends = workload.answer_range if workload.n_values is None else row_ranges(workload)[:2]
    shape = (workload.n_queries,)
    least, most = (np.broadcast_to(np.asarray(end, dtype=np.float64), shape) for end in ends)
    return least, most


def _typical_counts(design: Strategy, people: int, population: Population | None) -> Any:
    """Counts of reports, seeded; None for vectors and for very many counters, where intervals need none."""
    mechanism, drawn = design.mechanism, min(people, _SIMULATED)
    shares = design.worst_population() if population is None else population.shares
    rng = np.random.default_rng(_SEED)
    inputs = None if mechanism.cells > _MOST_CELLS else design.typical_inputs(drawn, rng, shares)
    if inputs is None:
        return None
    counts = mechanism.empty()
    mechanism.count_into(counts, mechanism.randomize_many(inputs, rng))
    return np.rint(counts * (people / drawn)).astype(counts.dtype)


def _worst_answers(design: Strategy, counts: Any, people: int) -> Floats:
    """For every answer, where its variance is largest; the middle of its range where it is the same everywhere."""
    least, most = _ends(design)
    law = design.law(None, Evidence(counts, people, (1 - LEVEL) / 2))
    answers, curve = (least + most) / 2, law.anywhere or law.curve
    for _ in range(_STEPS):
        at = curve(answers)
        bent = np.abs(at.square) * (most - least) ** 2 > 1e-6 * np.abs(at.constant)
        with np.errstate(divide="ignore", invalid="ignore"):
            answers = np.where(bent, at.peak, answers).clip(least, most)
    if law.bits is None:
        return np.asarray(answers)
    # The variance of a bit is largest where it is as likely as not.
    middle = (law.bits[0] + law.bits[1]) / 2
    return np.asarray(np.where(np.isnan(middle), answers, middle.clip(least, most)))
