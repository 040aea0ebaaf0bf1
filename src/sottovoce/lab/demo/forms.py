"""The demo's fourth part: one number, several choices and a form, each from one report per person."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from sottovoce.estimates.estimate import Estimate
from sottovoce.lab.demo.adaptive import COUNTRIES, PLAYS
from sottovoce.lab.fleet.people import true_answers
from sottovoce.questions.choices import choices
from sottovoce.questions.number import number
from sottovoce.questions.records import Records
from sottovoce.surveys.survey import Survey

__all__ = ["FormAnswer", "people_for_forms", "read_forms", "state_forms"]

EPSILON: Final = 1.0
OWNED: Final = ("guitar", "piano", "flute", "violin", "drums", "harp", "accordion", "tuba")
_SHOWN: Final = 2
"""Options that are shown."""


@dataclass(frozen=True)
class FormAnswer:
    """One answer of one of these surveys beside the truth; shares have the unit "%" and are in hundredths."""

    title: str
    answer: str
    unit: str
    reports: int
    truth: float
    value: float
    low: float
    high: float

    @property
    def hit(self) -> bool:
        """Whether the interval contains the truth."""
        return self.low <= self.truth <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "hit": self.hit}


def state_forms() -> tuple[Survey, Survey, Survey]:
    """The number, the choices and the form."""
    played = "How many minutes did you play last week?"
    fields = {"country": list(COUNTRIES), "plays": list(PLAYS), "minutes": number(0, 600, "minutes")}
    return (
        Survey(number(0, 600, "minutes"), epsilon=EPSILON, title=played),
        Survey(choices(OWNED, most=3), epsilon=EPSILON, title="Which of these do you own? At most three"),
        Survey(Records(fields, tables=2), epsilon=EPSILON, title="Where you live, how often and how long you play"),
    )


def people_for_forms(people: int) -> int:
    """How many people answer each of them: a tenth, and enough for the service to show an estimate.

    Examples
    --------
    >>> people_for_forms(1_000_000), people_for_forms(1000)
    (100000, 500)
    """
    return max(people // 10, 500)


def read_forms(estimates: tuple[Estimate, ...]) -> tuple[FormAnswer, ...]:
    """The mean; the most frequent options; and the most frequent cell of the form's table of country and playing."""
    mean, owned, form = estimates
    names = [f"country={country}, plays={plays}" for country in COUNTRIES for plays in PLAYS]
    cells = [form.survey.answer_index(name) for name in names]
    return (
        _read(mean, 0, "mean"),
        *(_read(owned, int(at), "") for at in np.argsort(-owned.values)[:_SHOWN]),
        _read(form, max(cells, key=lambda cell: float(form.values[cell])), ""),
    )


def _read(estimate: Estimate, index: int, name: str) -> FormAnswer:
    survey, interval = estimate.survey, estimate.interval()
    truth = true_answers(survey, None)
    scale = 100.0 if survey.question.answers_are_shares else 1.0
    return FormAnswer(
        survey.title,
        name or survey.answer_label(index),
        "%" if survey.question.answers_are_shares else survey.question.unit,
        estimate.n_reports,
        *(float(scale * column[index]) for column in (truth, estimate.shown(), interval.low, interval.high)),
    )
