"""An estimate weighed to a known population by its public groups (post-stratification, raking).

With the weight W of each group and its answer y from n reports, the answer is the sum of W y, and its variance the sum
of W^2 V / n. Weights follow from the population and from the numbers of reports, which are public, so nothing private
moves them. Intervals are recovered from those of the groups (MOVER, Zou and Donner 2008): the distance of an end is the
root of the sum of (W (y - l))^2, from limits that are not cut to what is possible; the result is cut.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Final, final

import numpy as np

from sottovoce.core.answer import Answer, aligned, unknown_answer
from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.words import guarantee, plural
from sottovoce.estimates.groups import Estimated, GroupCounts, label_of
from sottovoce.estimates.intervals import check_level
from sottovoce.estimates.population import Margins, rake
from sottovoce.figures.bars import plot_answers
from sottovoce.mechanisms.base import Floats

__all__ = ["CANNOT_MEND", "WeighedGroup", "Weighted", "weighted_by_groups"]

CANNOT_MEND: Final = (
    "weights mend what the groups show, and nothing else: who did not answer for another reason is not made up for"
)

_METHOD: Final = "recovered variances (MOVER) of the groups"
_FEW: Final = 100
"""Reports of a group below which its weight is worth a word."""
_HEAVY: Final = 5.0
"""How many times as much as without weights one report may count before that is worth a word."""


@final
@dataclass(frozen=True)
class WeighedGroup:
    """A group, its share of the population, and its reports."""

    values: dict[str, str]
    weight: float
    n_reports: int
    factor: float
    """How much one of its reports counts, where without weights it would count 1."""

    @property
    def label(self) -> str:
        """The group in words."""
        return label_of(self.values)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Weighted:
    """Answers for a population whose groups have known shares; `estimate.weighted` makes it.

    Iterating gives the answers; ``weighted["tea"]`` is one of them.

    Attributes
    ----------
    estimate
        The estimate without weights.
    groups
        Every group that has a share of the population, with its weight.
    """

    estimate: Estimated
    groups: tuple[WeighedGroup, ...]
    parts: tuple[Estimated, ...]
    names: tuple[Any, ...]
    level: float = 0.95

    @cached_property
    def _answers(self) -> list[Answer]:
        question = self.estimate.survey.question
        picked = tuple(question.compared(name) for name in self.names)
        weights = np.array([group.weight for group in self.groups])[:, None]
        arms = [part._arms(picked, self.level, part) for part in self.parts]
        raw, low, high, error = (
            np.stack([getattr(arm, name) for arm in arms]) for name in ("raw", "low", "high", "error")
        )
        centre = (weights * raw).sum(axis=0)
        reach = (weights * error).sum(axis=0)
        ends = (
            centre - np.sqrt(((weights * (raw - low)) ** 2).sum(axis=0)) - reach,
            centre + np.sqrt(((weights * (high - raw)) ** 2).sum(axis=0)) + reach,
        )
        shown = np.array([[one.of(part, self.level).value for one in picked] for part in self.parts])
        return [
            Answer(
                label=one.name,
                value=float((weights * shown).sum(axis=0)[at]),
                low=min(max(float(ends[0][at]), one.limits[0]), one.limits[1]),
                high=max(min(float(ends[1][at]), one.limits[1]), one.limits[0]),
                raw=float(centre[at]),
                unit=one.unit,
                method=_METHOD,
                level=self.level,
                is_share=one.is_share,
            )
            for at, one in enumerate(picked)
        ]

    @cached_property
    def standard_errors(self) -> Floats:
        """The standard error of every raw answer: the root of the sum of W^2 V / n over the groups."""
        weights = np.array([group.weight for group in self.groups])
        own = np.array([_variances(part, self.names, self.level) for part in self.parts])
        return np.asarray(np.sqrt((weights**2) @ own))

    @cached_property
    def effective_reports(self) -> float:
        """How many reports without weights would tell as much: the variance of one, over that of the answers."""
        each = _variances(self.estimate, self.names, self.level) * self.estimate.n_reports
        return float(each.sum() / (self.standard_errors**2).sum())

    @property
    def notes(self) -> list[str]:
        """What to know of these weights."""
        few = [group.label for group in self.groups if group.weight and group.n_reports < _FEW]
        heavy = [group.label for group in self.groups if group.factor > _HEAVY]
        notes = [f"fewer than {_FEW} reports: {', '.join(few)}"] if few else []
        if heavy:
            notes.append(f"one report counts more than {_HEAVY:g} times as much as without weights: {', '.join(heavy)}")
        return [*notes, CANNOT_MEND]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: object) -> Answer:
        wanted = self.estimate.survey.question.compared(name).name
        for answer in self._answers:
            if answer.label == wanted:
                return answer
        raise unknown_answer(name, self.labels())

    def labels(self) -> list[str]:
        """The labels of all answers."""
        return [answer.label for answer in self._answers]

    def __str__(self) -> str:
        rows = aligned([(answer.label, answer.value_text, answer.interval_text) for answer in self._answers])
        return "\n".join([rows, self._caption, *self.notes])

    @property
    def _caption(self) -> str:
        estimate = self.estimate
        return (
            f"{plural(estimate.n_reports, 'report')} weighed by {plural(len(self.groups), 'group')}, worth "
            f"{self.effective_reports:,.0f} without weights; {guarantee(estimate.epsilon, estimate.delta)}, "
            f"{100 * self.level:g} % intervals"
        )

    def __repr__(self) -> str:
        return f"<weighted estimate of {plural(len(self), 'answer')} from {plural(self.estimate.n_reports, 'report')}>"

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {
            "survey": self.estimate.survey.id,
            "n_reports": self.estimate.n_reports,
            "effective_reports": self.effective_reports,
            "level": self.level,
            "method": _METHOD,
            "notes": self.notes,
            "groups": [
                {"group": group.values, "weight": group.weight, "n_reports": group.n_reports, "factor": group.factor}
                for group in self.groups
            ],
            "answers": [answer.row() for answer in self._answers],
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_pandas(self) -> Any:
        """A DataFrame indexed by label, with columns value, raw, low, high. Needs pandas."""
        pd = import_pandas()
        rows = {answer.label: answer.row() for answer in self._answers}
        return pd.DataFrame.from_dict(rows, orient="index").drop(columns="label").rename_axis("label")

    def plot(self, ax: Any = None) -> Any:
        """Bars of the answers with their intervals, on a matplotlib axes; returns the axes."""
        title = self.estimate.survey.title
        return plot_answers(self._answers, self._caption, ax, total=len(self), chosen="first", title=title)


def _variances(estimate: Estimated, names: Iterable[Any], level: float) -> Floats:
    """The variance of every raw answer of an estimate."""
    normal = NormalDist().inv_cdf((1 + level) / 2)
    picked = [estimate.survey.question.compared(name) for name in names]
    return np.array([one.variance(estimate, one.of(estimate, level), normal) for one in picked])


def weighted_by_groups(
    estimate: Estimated, groups: GroupCounts, margins: Margins, names: list[Any], level: float
) -> Weighted:
    """Weigh the groups of a survey so that these variables have the shares of the population."""
    check_level(level)
    cells = list(groups.groups)
    counts = np.array([groups.counted.get(cell.number, (None, 0))[1] for cell in cells], dtype=np.float64)
    targets = [_margin(groups, cells, counts, name, shares) for name, shares in margins.items()]
    weights = rake(counts / counts.sum(), targets)
    used = [(cell, float(weight)) for cell, weight in zip(cells, weights, strict=True) if weight > 0]
    found = tuple(
        WeighedGroup(
            cell.values, weight, int(counts[cell.number - 1]), float(weight * counts.sum() / counts[cell.number - 1])
        )
        for cell, weight in used
    )
    parts = tuple(groups.estimate(cell.values) for cell, _ in used)
    return Weighted(estimate, found, parts, tuple(names), level)


def _margin(
    groups: GroupCounts, cells: list[Any], counts: Floats, variable: str, shares: dict[str, float]
) -> tuple[list[list[int]], Floats]:
    """The cells of each value of a variable, and its shares; refused where a share has no reports to stand for it."""
    values = groups.groups.values_of(variable, "population")
    unknown = [value for value in shares if value not in values]
    if unknown:
        raise SurveyError(
            f"population gives a share of {variable} {unknown[0]}, which the survey does not have; its values are "
            f"{', '.join(values)}"
        ).at("population")
    members = [[at for at, cell in enumerate(cells) if cell.values[variable] == value] for value in values]
    wanted = np.array([shares.get(value, 0.0) for value in values])
    for value, mine, share in zip(values, members, wanted, strict=True):
        if share > 0 and not counts[mine].sum():
            raise NoReportsError(
                f"{variable} {value} is {100 * share:.3g} % of the population and has no reports: wait for some, or "
                "give its share to the groups that stand for it"
            ).at("population")
    if math.isclose(float(wanted.sum()), 0.0):
        raise SurveyError(f"all shares of {variable} are 0").at("population")
    return members, wanted
