"""An estimate weighed to a known population by its public groups (post-stratification, raking).

With the weight W of each group and its answer y from n reports, the answer is the sum of W y, and its variance the sum
of W^2 V / n. Weights follow from the population and from the numbers of reports, which are public, so nothing private
moves them. Intervals are recovered from those of the groups (MOVER, Zou and Donner 2008): the distance of an end is the
root of the sum of (W (y - l))^2, from limits that are not cut to what is possible; the result is cut. What is shown is
projected once, after weighing: a projection moves every answer of a small group to one side, and the mean of many such
moves does not get smaller.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, Final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.core.words import plural
from sottovoce.estimates.groups import Estimated, GroupCounts
from sottovoce.estimates.population import Margins, margin_classes, rake
from sottovoce.estimates.weighted import Method, WeighedGroup, Weighted
from sottovoce.mechanisms.base import Floats

__all__ = ["weighted_by_groups"]

_INTERVALS: Final = "recovered variances (MOVER) of the groups"


def weighted_by_groups(
    estimate: Estimated, groups: GroupCounts, margins: Margins, names: list[Any], level: float, method: Method | None
) -> Weighted:
    """Weigh the groups of a survey so that these variables have the shares of the population."""
    if method not in (None, "rake"):
        raise SurveyError(
            f"method {method!r} is for private fields of a form; public groups are raked: leave method out"
        ).at("method")
    cells = list(groups.groups)
    counts = np.array([groups.counted.get(cell.number, (None, 0))[1] for cell in cells], dtype=np.float64)
    total = counts.sum()
    targets = [_margin(groups, cells, counts, name, shares) for name, shares in margins.items()]
    weights = rake(counts / total, targets)
    used = [at for at, weight in enumerate(weights.tolist()) if weight > 0]
    found = tuple(
        WeighedGroup(
            cells[at].values,
            float(weights[at]),
            float(counts[at] / total),
            int(counts[at]),
            float(weights[at] * total / counts[at]),
        )
        for at in used
    )
    parts = [groups.estimate(cells[at].values) for at in used]
    picked = [estimate.survey.question.compared(name) for name in names]
    own = np.array([_variances(part, picked, level) for part in parts])
    return Weighted(
        estimate,
        "rake",
        found,
        plural(len(found), "group"),
        tuple(_answers(estimate, parts, weights[used], picked, level)),
        np.sqrt(weights[used] ** 2 @ own),
        _variances(estimate, picked, level),
    )


def _answers(
    estimate: Estimated, parts: list[Estimated], shares: Floats, picked: list[Any], level: float
) -> list[Answer]:
    """The answers of the groups, weighed, with intervals."""
    weights = shares[:, None]
    arms = [part._arms(picked, level, part) for part in parts]
    raw, low, high, error = (np.stack([getattr(arm, name) for arm in arms]) for name in ("raw", "low", "high", "error"))
    centre = (weights * raw).sum(axis=0)
    reach = (weights * error).sum(axis=0)
    ends = (
        centre - np.sqrt(((weights * (raw - low)) ** 2).sum(axis=0)) - reach,
        centre + np.sqrt(((weights * (high - raw)) ** 2).sum(axis=0)) + reach,
    )
    shown = _shown(estimate, parts, shares, picked, centre)
    return [
        Answer(
            label=one.name,
            value=shown[at],  # moved into the interval by `Answer`
            low=min(max(float(ends[0][at]), one.limits[0]), one.limits[1]),
            high=max(min(float(ends[1][at]), one.limits[1]), one.limits[0]),
            raw=float(centre[at]),
            unit=one.unit,
            method=_INTERVALS,
            level=level,
            is_share=one.is_share,
        )
        for at, one in enumerate(picked)
    ]


def _shown(
    estimate: Estimated, parts: list[Estimated], shares: Floats, picked: list[Any], centre: Floats
) -> list[float]:
    """From the possible answers nearest to the weighed raw ones; the raw ones where they are not linear in those."""
    rows = [one.weights(estimate) for one in picked if one.weights is not None]
    if len(rows) < len(picked):
        return list(centre.tolist())
    possible = estimate.survey.design.nearest(shares @ np.stack([part.raw for part in parts])).values
    return [one.constant + float(row @ possible) for one, row in zip(picked, rows, strict=True)]


def _variances(estimate: Estimated, picked: list[Any], level: float) -> Floats:
    """The variance of every raw answer of an estimate."""
    normal = NormalDist().inv_cdf((1 + level) / 2)
    return np.array([one.variance(estimate, one.of(estimate, level), normal) for one in picked])


def _margin(
    groups: GroupCounts, cells: list[Any], counts: Floats, variable: str, shares: dict[str, float]
) -> tuple[list[list[int]], Floats]:
    """The cells of each value of a variable, and its shares; refused where a share has no reports to stand for it."""
    classes = margin_classes(variable, shares, list(groups.groups.values_of(variable, "population")))
    members = [[at for at, cell in enumerate(cells) if cell.values[variable] in one.values] for one in classes]
    for one, mine in zip(classes, members, strict=True):
        if one.share > 0 and not counts[mine].sum():
            raise NoReportsError(
                f"{variable} {one.label} is {100 * one.share:.3g} % of the population and has no reports: wait for "
                f"some, or merge it with a value that stands for it, as in '{one.label} or ...'"
            ).at("population")
    return members, np.array([one.share for one in classes])
