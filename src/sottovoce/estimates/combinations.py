"""Sums, differences, ratios and other combinations of an estimate's answers, each with an interval that holds.

One rule: combinations are of raw answers, which are unbiased and whose covariance is known; projected answers are for
reading one by one. A combination has its own variance, so its interval is neither the sum nor the difference of the
answers' intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, final

import numpy as np

from sottovoce.core.answer import Answer, within
from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.core.words import plural
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.estimates.intervals import (
    Interval,
    Observed,
    UncutInterval,
    certified_interval,
    check_level,
    uncut_interval,
)
from sottovoce.estimates.parts import interval_by_parts
from sottovoce.estimates.watched import Always, refuse_so_far, watched_interval
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.laws.rows import combined_ranges
from sottovoce.workloads.tabulated import HeldPairs

__all__ = [
    "RawAnswers",
    "Weights",
    "combination_text",
    "combined",
    "combined_interval",
    "edge_of_possible",
    "ratio",
    "uncut_combination",
    "weights_by",
    "weights_of",
]

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

_MOST_TERMS: Final = 4
"""Answers that the label of a combination names; of more it says how many there are."""

UNBOUNDED: Final = "the denominator may be zero, so every ratio is possible"


@final
@dataclass(frozen=True, eq=False)
class RawAnswers:
    """The raw answers of an estimate, and all that is known about their errors."""

    survey: AskedSurvey
    n_reports: int
    raw: Floats
    counts: Counts | None
    population: Any
    """The population of the projected answers, for covariances."""
    values: Floats
    """The projected answers."""
    always: Always | None = None
    """Whether intervals hold at every look together, and for whom."""


def weights_of(survey: AskedSurvey, given: Weights, name: str = "weights") -> Floats:
    """One weight per answer, from labels and weights; raises `SurveyError` for unknown, repeated or odd ones."""
    return weights_by(survey.answer_index, survey.n_answers, given, name)


def weights_by(find: Callable[[Any], int], size: int, given: Weights, name: str) -> Floats:
    """One weight for each of `size` answers, which `find` numbers by their labels."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise SurveyError(f"{name} must be labels in a list, such as ['a', 'b'], or a mapping of labels to numbers").at(
            name
        )
    pairs = list(given.items()) if isinstance(given, Mapping) else [(label, 1.0) for label in given]
    if not pairs:
        raise SurveyError(f"{name} is empty: name at least one answer").at(name)
    weights = np.zeros(size)
    seen: set[int] = set()
    for label, weight in pairs:
        if isinstance(weight, bool) or not isinstance(weight, Real) or not abs(float(weight)) <= _LARGEST:
            raise SurveyError(
                f"{name} has a weight that is not a number of at most {_LARGEST:g}; give each answer a finite one"
            ).at(name)
        try:
            index = find(label)
        except SottovoceError as error:
            raise error.at(name) from None
        if index in seen:
            raise SurveyError(f"{name} names the answer {str(label)!r} twice; name it once").at(name)
        seen.add(index)
        weights[index] = float(weight)
    return weights


def combined_interval(
    answers: RawAnswers,
    weights: Floats,
    level: float,
    together: int = 1,
    ends: tuple[Floats, Floats] | None = None,
    by_parts: bool = False,
) -> Interval:
    """Intervals of combinations, one per row of weights; `together` of them hold simultaneously.

    `ends` are the least and the largest answers that a person can give to them, if known. `by_parts` allows intervals
    of the parts where these promise to be narrower, which takes several times as long.
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
    if answers.always is not None:
        interval = watched_interval(observed, level, answers.always, together)
    elif by_parts:
        every = Observed(design, answers.raw, answers.n_reports, answers.counts, *answers.survey.answer_range)
        interval = interval_by_parts(observed, every, level, together)
    else:
        interval = certified_interval(observed, level, together)
    return Interval(interval.low * scale, interval.high * scale, interval.method)


def uncut_combination(answers: RawAnswers, weights: Floats | None, level: float) -> UncutInterval:
    """Intervals that are not cut to the range of possible answers: of combinations, or of every answer."""
    survey, raw = answers.survey, answers.raw if weights is None else weights @ answers.raw
    design = survey.design
    least, most = survey.answer_range if weights is None else combined_ranges(design.workload, weights)
    return uncut_interval(Observed(design, raw, answers.n_reports, answers.counts, least, most, weights), level)


def combination_text(survey: AskedSurvey, weights: Floats) -> str:
    """The label of a combination, such as "tea + coffee" or "tea - 0.5 coffee"."""
    places = np.flatnonzero(weights).tolist()
    if not 0 < len(places) <= _MOST_TERMS:
        return f"combination of {plural(len(places), 'answer')}"
    text = ""
    for index in places:
        size, sign = abs(float(weights[index])), "-" if weights[index] < 0 else "+"
        term = f"{'' if size == 1 else f'{size:g} '}{survey.answer_label(index)}"
        text = f"{text} {sign} {term}" if text else f"{'-' if sign == '-' else ''}{term}"
    return text


def combined(answers: RawAnswers, weights: Floats, level: float, label: str = "") -> Answer:
    """One combination, in the unit of the answers; `label` is made of the answers' labels unless given."""
    check_level(level)
    interval = combined_interval(answers, weights[None], level, by_parts=True)
    low, high = float(interval.low[0]), float(interval.high[0])
    raw = low if interval.method == CERTAIN else float(weights @ answers.raw)
    question = answers.survey.question
    return Answer(
        label=label or combination_text(answers.survey, weights),
        value=raw,
        low=low,
        high=high,
        raw=raw,
        unit=question.unit,
        method=interval.method,
        level=level,
        # A rating averaged over shares is a number of its own.
        is_share=question.answers_are_shares and bool((np.abs(weights) <= 1).all()),
    )


def ratio(
    answers: RawAnswers, over: Floats, under: Floats, level: float, label: str = "", is_share: bool = False
) -> Answer:
    """The ratio of two combinations; a part of a whole is a share.

    r is possible where over - r under, a combination itself, may be zero (Fieller 1954): no ratio of two uncertain
    numbers is approximated. Where the denominator may be zero, every ratio is possible, and the value is unknown: NaN.
    A ratio of numbers that are negative for nobody is not negative, and that of a part and its whole is at most one.
    """
    check_level(level)
    if answers.always == "so far":
        # The weights of over - r under would change with r as people do, and the process with them.
        raise refuse_so_far("a ratio has no interval")
    held = answers.survey.design.workload.held_pairs(over, under)
    top, bottom = float(over @ answers.raw), float(under @ answers.raw)
    below = combined_interval(answers, under[None], level)
    if below.low[0] == 0 == below.high[0]:
        raise SurveyError("under is zero for everybody; give answers that are not").at("under")
    raw = top / bottom if bottom else math.nan
    name = label or f"({combination_text(answers.survey, over)}) / ({combination_text(answers.survey, under)})"

    def answer(value: float, low: float, high: float, method: str) -> Answer:
        return Answer(
            label=name, value=value, low=low, high=high, raw=raw, method=method, level=level, is_share=is_share
        )

    least, most = _limits(held)
    if below.low[0] <= 0 <= below.high[0]:
        # No number is better than another: what a division would give is mostly the noise of the denominator.
        return answer(math.nan, least, most, f"{below.method}; {UNBOUNDED}")
    if not over.any():
        return answer(0.0, 0.0, 0.0, CERTAIN)
    methods = set()

    def possible(ratios: Floats) -> Any:
        interval = combined_interval(answers, over - ratios[:, None] * under, level, ends=_ends(held, ratios))
        methods.add(interval.method)
        return (interval.low <= 0) & (interval.high >= 0)

    points = min(_POINTS, max(1, _MOST_HELD // len(over)))
    # A raw denominator of the wrong sign tells nothing of the ratio.
    known = below.low[0] * bottom > 0
    tried = [within(raw, least, most)] if known else []
    if math.isfinite(most - least):
        tried += np.linspace(least, most, points + 2).tolist()
    likely = next((one for one in tried if possible(np.array([one]))[0]), None)
    ends = [least, most]
    # Where none that was tried is possible, all are: so the level cannot fall.
    if likely is not None:
        ends = [edge_of_possible(possible, likely, limit, side, points) for side, limit in ((-1, least), (1, most))]
    return answer(raw if known else math.nan, ends[0], ends[1], "; ".join(sorted(methods)))


def _limits(held: HeldPairs | None) -> tuple[float, float]:
    """The least and the largest ratio of two sums over people: those of one person alone.

    Examples
    --------
    >>> _limits(HeldPairs(np.array([1.0, -1.0, 0.0]), np.ones(3)))
    (-1.0, 1.0)
    >>> _limits(HeldPairs(np.array([1.0, 0.0]), np.array([1.0, 0.0]))), _limits(HeldPairs(np.eye(2)[0], np.eye(2)[1]))
    ((1.0, 1.0), (0.0, inf))
    """
    if held is None or (held.under < 0).any() or not (held.under > 0).any():
        return -math.inf, math.inf
    some = held.under > 0
    alone, without = held.over[some] / held.under[some], held.over[~some]
    least = -math.inf if (without < 0).any() else float(alone.min())
    return least, math.inf if (without > 0).any() else float(alone.max())


def _ends(held: HeldPairs | None, ratios: Floats) -> tuple[Floats, Floats] | None:
    """The least and the largest answer of a person to over - r under, for every r."""
    if held is None or not held.complete:
        return None
    values = held.over - ratios[:, None] * held.under
    return values.min(axis=1), values.max(axis=1)


def edge_of_possible(possible: Any, inside: float, limit: float, side: int, points: int) -> float:
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
