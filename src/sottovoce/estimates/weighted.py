"""An estimate weighed to a known population: the answers, what they are worth, and what weights cannot mend."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, final, get_args

from sottovoce.core.answer import Answer, aligned, unknown_answer
from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.words import guarantee, plural
from sottovoce.estimates.groups import Estimated, label_of
from sottovoce.figures.bars import plot_answers
from sottovoce.mechanisms.base import Floats

__all__ = ["CANNOT_MEND", "METHODS", "Method", "WeighedGroup", "Weighted", "check_method", "check_names"]

Method: TypeAlias = Literal["rake", "greg"]
"""How an estimate is weighed: see `Estimate.weighted`."""

METHODS: Final[tuple[str, ...]] = get_args(Method)

CANNOT_MEND: Final = (
    "weights mend what the groups show, and nothing else: who did not answer for another reason is not made up for"
)

_FEW: Final = 100
"""Reports of a group below which its weight is worth a word."""
_HEAVY: Final = 5.0
"""How many times as much as without weights one report may count before that is worth a word."""


def check_method(method: object) -> Method | None:
    """The way of weighing that was named; None for the usual one. Raises `SurveyError` for others."""
    if method is None or method in METHODS:
        return method  # type: ignore[return-value]
    raise SurveyError(f"method must be one of {', '.join(METHODS)}; leave it out for the usual one").at("method")


def check_names(answers: object) -> list[Any]:
    """The names of the answers that are weighed; raises `SurveyError` if they are no list, or an empty one."""
    if isinstance(answers, str | bytes) or not isinstance(answers, Iterable) or not (names := list(answers)):
        raise SurveyError("answers must be a list of names with at least one, such as ['tea']").at("answers")
    return names


@final
@dataclass(frozen=True)
class WeighedGroup:
    """People with the same values of some variables: their share of the population, and of the reports."""

    values: dict[str, str]
    weight: float
    """Their share of the population."""
    share: float
    """Their share of the reports: counted for public groups, estimated for a private field."""
    n_reports: int | None
    """Their number of reports; None for a private field, where nobody knows it."""
    factor: float
    """How much one of their reports counts, where without weights it would count 1."""

    @property
    def label(self) -> str:
        """The group in words."""
        return label_of(self.values)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {
            "group": self.values,
            "weight": self.weight,
            "share": self.share,
            "n_reports": self.n_reports,
            "factor": self.factor,
        }


@final
@dataclass(frozen=True, eq=False, repr=False)
class Weighted:
    """Answers for a population of which some shares are known; `estimate.weighted` makes it.

    Iterating gives the answers; ``weighted["tea"]`` is one of them.

    Attributes
    ----------
    estimate
        The estimate without weights.
    method
        "rake" or "greg".
    groups
        Every group that has a share of the population, with its weight; of private fields, every value.
    standard_errors
        The standard error of every raw answer.
    unweighted
        The variance of every raw answer without weights.
    """

    estimate: Estimated
    method: Method
    groups: tuple[WeighedGroup, ...]
    by: str
    answers: tuple[Answer, ...]
    standard_errors: Floats
    unweighted: Floats
    remarks: tuple[str, ...] = ()

    @cached_property
    def effective_reports(self) -> float:
        """How many reports without weights would tell as much: the variance of one, over that of the answers."""
        each = self.unweighted.sum() * self.estimate.n_reports
        return float(each / (self.standard_errors**2).sum())

    @property
    def level(self) -> float:
        """The confidence level of the intervals."""
        return self.answers[0].level

    @property
    def notes(self) -> list[str]:
        """What to know of these weights."""
        few = [group.label for group in self.groups if group.weight and (group.n_reports or _FEW) < _FEW]
        heavy = [group.label for group in self.groups if group.factor > _HEAVY]
        notes = [f"fewer than {_FEW} reports: {', '.join(few)}"] if few else []
        if heavy:
            notes.append(f"one report counts more than {_HEAVY:g} times as much as without weights: {', '.join(heavy)}")
        return [*notes, *self.remarks, CANNOT_MEND]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, name: object) -> Answer:
        named = {answer.label: answer for answer in self.answers}
        if name not in named:
            try:
                name = self.estimate.survey.question.compared(name).name
            except SottovoceError:
                raise unknown_answer(name, self.labels()) from None
        if name not in named:
            raise unknown_answer(name, self.labels())
        return named[str(name)]

    def labels(self) -> list[str]:
        """The labels of all answers."""
        return [answer.label for answer in self.answers]

    def __str__(self) -> str:
        rows = aligned([(answer.label, answer.value_text, answer.interval_text) for answer in self.answers])
        return "\n".join([rows, self._caption, *self.notes])

    @property
    def _caption(self) -> str:
        estimate = self.estimate
        return (
            f"{plural(estimate.n_reports, 'report')} weighed by {self.by}, worth "
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
            "method": self.method,
            "intervals": self.answers[0].method,
            "notes": self.notes,
            "groups": [group.to_dict() for group in self.groups],
            "answers": [answer.row() for answer in self.answers],
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_pandas(self) -> Any:
        """A DataFrame indexed by label, with columns value, raw, low, high. Needs pandas."""
        pd = import_pandas()
        rows = {answer.label: answer.row() for answer in self.answers}
        return pd.DataFrame.from_dict(rows, orient="index").drop(columns="label").rename_axis("label")

    def plot(self, ax: Any = None) -> Any:
        """Bars of the answers with their intervals, on a matplotlib axes; returns the axes."""
        title = self.estimate.survey.title
        return plot_answers(list(self.answers), self._caption, ax, total=len(self), chosen="first", title=title)
