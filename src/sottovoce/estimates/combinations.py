"""Sums, differences, ratios and other combinations of an estimate's answers, each with an interval that holds.

One rule: combinations are of raw answers, which are unbiased and whose covariance is known; projected answers are for
reading one by one. A combination has its own variance, so its interval is neither the sum nor the difference of the
answers' intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Final, final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.estimates.intervals import Interval, Observed, certified_interval, check_level
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.laws.rows import combined_ranges
from sottovoce.workloads.tabulated import HeldPairs

__all__ = ["CombinedAnswer", "RawAnswers", "Weights", "combined", "combined_interval", "ratio", "weights_of"]

Weights = Mapping[Any, float] | Iterable[Any]
"""Weights by label; or labels, each with weight one."""

_CLOSE: Final = 1e-5
"""The relative precision of an end of a ratio's interval."""

_POINTS: Final = 24
"""Ratios that are tried together, as far as their weights fit into `_MOST_HELD` numbers."""

_MOST_HELD: Final = 2**22

CERTAIN: Final = "certain: everybody gives the same answer"

_LARGEST: Final = 1e100
"""Larger weights cannot be squared safely."""

_UNBOUNDED: Final = "the denominator may be zero, so every ratio is possible"


@final
@dataclass(frozen=True, eq=False)
class RawAnswers:
    """What combinations are made of: the raw answers of an estimate, and what is known about their errors."""

    survey: AskedSurvey
    n_reports: int
    raw: Floats
    counts: Counts | None
    population: Any
    """The population of the projected answers, for covariances."""
    values: Floats
    """The projected answers."""


@final
@dataclass(frozen=True)
class CombinedAnswer:
    """A combination of raw answers.

    Attributes
    ----------
    value
        Of the raw answers; it may be an impossible number, such as a negative share.
    low, high
        The ends of its interval; infinite where nothing can be said.
    method
        The inequalities behind the interval, and what else there is to say about it.
    """

    value: float
    low: float
    high: float
    level: float
    method: str

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.value:.4g}, {100 * self.level:g} % from {self.low:.4g} to {self.high:.4g}"


def weights_of(survey: AskedSurvey, given: Weights, name: str = "weights") -> Floats:
    """One weight per answer, from labels and weights; raises `SurveyError` for unknown, repeated or odd ones."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise SurveyError(f"{name} must be labels in a list, such as ['a', 'b'], or a mapping of labels to numbers").at(
            name
        )
    pairs = list(given.items()) if isinstance(given, Mapping) else [(label, 1.0) for label in given]
    if not pairs:
        raise SurveyError(f"{name} is empty: name at least one answer").at(name)
    found = np.zeros(survey.n_answers)
    seen: set[int] = set()
    for label, weight in pairs:
        if isinstance(weight, bool) or not isinstance(weight, Real) or not abs(float(weight)) <= _LARGEST:
            raise SurveyError(
                f"{name} has a weight that is no number of at most {_LARGEST:g}; give each answer a finite one"
            ).at(name)
        index = survey.answer_index(label)
        if index in seen:
            raise SurveyError(f"{name} names the answer {survey.answer_label(index)!r} twice; name it once").at(name)
        seen.add(index)
        found[index] = float(weight)
    return found


def combined_interval(
    answers: RawAnswers, weights: Floats, level: float, together: int = 1, ends: tuple[Floats, Floats] | None = None
) -> Interval:
    """Intervals of combinations, one per row of weights; `together` of them hold simultaneously.

    `ends` are the least and the largest answers that a person can give to them, if known.
    """
    design = answers.survey.design
    # Weights of any size: what follows squares them.
    scale = np.abs(weights).max(axis=1)
    scale = np.where(scale > 0, scale, 1.0)
    weights = weights / scale[:, None]
    least, most = combined_ranges(design.workload, weights) if ends is None else (ends[0] / scale, ends[1] / scale)
    if (least == most).all():
        return Interval(least * scale, most * scale, CERTAIN)
    observed = Observed(design, weights @ answers.raw, answers.n_reports, answers.counts, least, most, weights)
    found = certified_interval(observed, level, together)
    return Interval(found.low * scale, found.high * scale, found.method)


def combined(answers: RawAnswers, weights: Floats, level: float) -> CombinedAnswer:
    """One combination."""
    check_level(level)
    found = combined_interval(answers, weights[None], level)
    low, high = float(found.low[0]), float(found.high[0])
    value = low if found.method == CERTAIN else float(weights @ answers.raw)
    return CombinedAnswer(value, low, high, level, found.method)


def ratio(answers: RawAnswers, over: Floats, under: Floats, level: float) -> CombinedAnswer:
    """The ratio of two combinations.

    r is possible where over - r under, a combination itself, may be zero (Fieller 1954): no ratio of two uncertain
    numbers is approximated. Where the denominator may be zero, every ratio is possible. A ratio of numbers that are
    negative for nobody is not negative, and that of a part and its whole is at most one.
    """
    check_level(level)
    held = answers.survey.design.workload.held_pairs(over, under)
    top, bottom = float(over @ answers.raw), float(under @ answers.raw)
    below = combined_interval(answers, under[None], level)
    if below.low[0] == 0 == below.high[0]:
        raise SurveyError("under is zero for everybody; give answers that are not").at("under")
    value = top / bottom if bottom else math.nan
    least, most = _limits(held)
    if below.low[0] <= 0 <= below.high[0]:
        return CombinedAnswer(value, least, most, level, f"{below.method}; {_UNBOUNDED}")
    if not over.any():
        return CombinedAnswer(0.0, 0.0, 0.0, level, CERTAIN)
    methods = set()

    def possible(ratios: Floats) -> Any:
        found = combined_interval(answers, over - ratios[:, None] * under, level, ends=_ends(held, ratios))
        methods.add(found.method)
        return (found.low <= 0) & (found.high >= 0)

    inside = min(max(value, least), most)
    ends = [inside, inside]
    # A raw ratio can be impossible by so far that nothing possible is near: the nearest end is what remains.
    if possible(np.array([inside]))[0]:
        points = min(_POINTS, max(1, _MOST_HELD // len(over)))
        ends = [_edge(possible, inside, limit, side, points) for side, limit in ((-1, least), (1, most))]
    return CombinedAnswer(value, ends[0], ends[1], level, "; ".join(sorted(methods)))


def _limits(held: HeldPairs | None) -> tuple[float, float]:
    """The least and the largest ratio of two sums over people."""
    if held is None or (held.over < 0).any() or (held.under < 0).any():
        return -math.inf, math.inf
    return 0.0, 1.0 if (held.over <= held.under).all() else math.inf


def _ends(held: HeldPairs | None, ratios: Floats) -> tuple[Floats, Floats] | None:
    """The least and the largest answer of a person to over - r under, for every r."""
    if held is None or not held.complete:
        return None
    found = held.over - ratios[:, None] * held.under
    return found.min(axis=1), found.max(axis=1)


def _edge(possible: Any, inside: float, limit: float, side: int, points: int) -> float:
    """The last possible ratio on one side, on the outer side of where it is found.

    By steps that grow, then by dividing what is left into `points` + 1 parts.
    """
    if math.isfinite(limit):
        if possible(np.array([limit]))[0]:
            return limit
        outside = limit
    else:
        steps = max(1e-3, abs(inside) / 8) * 4.0 ** np.arange(16)
        beyond = np.flatnonzero(~possible(inside + side * steps))
        if not len(beyond):
            return limit
        outside = inside + side * float(steps[beyond[0]])
        inside += side * float(steps[beyond[0] - 1]) if beyond[0] else 0.0
    while abs(outside - inside) > _CLOSE * (1e-3 + abs(inside)):
        between = np.linspace(inside, outside, points + 2)
        beyond = np.flatnonzero(~possible(between[1:-1]))
        last = int(beyond[0]) + 1 if len(beyond) else points + 1
        inside, outside = float(between[last - 1]), float(between[last])
    return outside
