"""The state of a session as JSON: the panel, the questions, and the counts of their reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self, final

import numpy as np

from sottovoce.adaptive.answer import n_choices, seat_of
from sottovoce.core.errors import MismatchError, SessionError, SurveyError
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import parse_json
from sottovoce.surveys.survey import Survey

__all__ = ["STATE_FORMAT", "FinishedRound", "SessionState"]

STATE_FORMAT: Final = 2
"""Version of the JSON."""


class FinishedRound(NamedTuple):
    """A finished round."""

    asked: Survey
    labels: tuple[str, ...]
    aggregate: Aggregate


@final
@dataclass(frozen=True, repr=False)
class SessionState:
    """The state of a session, without the people.

    `opened` is the question that was being asked when the state was saved; it must be finished first.
    """

    panel: Panel
    crowd: dict[str, Any]
    past: tuple[FinishedRound, ...]
    opened: Survey | None = None
    opened_labels: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The state as JSON. Numbers of the crowd are decimal strings."""
        kept = {
            "format": STATE_FORMAT,
            "panel": self.panel.to_statement(),
            "crowd": {name: str(number) for name, number in self.crowd.items()},
            "rounds": [
                {
                    **_question(p.asked, p.labels),
                    "n_reports": p.aggregate.n_reports,
                    "counts": p.aggregate.counts.tolist(),
                }
                for p in self.past
            ],
            "opened": None if self.opened is None else _question(self.opened, self.opened_labels),
        }
        return json.dumps(kept, ensure_ascii=False)

    @classmethod
    def from_json(cls, panel: Panel, text: str) -> Self:
        """Read the state from JSON, checking every field; it must belong to the panel."""
        try:
            return cls._read(panel, parse_json(text))
        except (SurveyError, MismatchError, AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, SessionError):
                raise
            raise SessionError(
                "the file is not a session of this panel, or is damaged; it was not changed: name another file to "
                "start a new session"
            ) from error

    @classmethod
    def _read(cls, panel: Panel, kept: Any) -> Self:
        if (
            type(kept["format"]) is not int
            or kept["format"] != STATE_FORMAT
            or set(kept) != {"format", "panel", "crowd", "rounds", "opened"}
        ):
            raise SessionError(f"unknown session format; this version reads format {STATE_FORMAT}")
        if Panel.from_statement(kept["panel"]).id != panel.id:
            raise SessionError("the file is a session of another panel; it was not changed: name another file")
        past = tuple(_past(panel, number, entry) for number, entry in enumerate(kept["rounds"], start=1))
        opened: Survey | None = None
        labels: tuple[str, ...] = ()
        if kept["opened"] is not None:
            opened, labels = _asked(panel, len(past) + 1, kept["opened"])
        return cls(panel, {name: _integer(digits) for name, digits in kept["crowd"].items()}, past, opened, labels)


def _integer(digits: Any) -> int:
    """An integer from its canonical decimal text."""
    number = int(digits) if isinstance(digits, str) else None
    if number is None or str(number) != digits:
        raise SessionError("the session's crowd is malformed; the file is damaged")
    return number


def _question(asked: Survey, labels: tuple[str, ...]) -> dict[str, Any]:
    """A round's JSON without the panel, which the state contains once."""
    statement = asked.to_statement()
    seat = {name: stated for name, stated in statement["seat"].items() if name != "panel"}
    return {"asked": {**statement, "seat": seat}, "labels": list(labels)}


def _asked(panel: Panel, number: int, entry: Any) -> tuple[Survey, tuple[str, ...]]:
    stated = entry["asked"]
    asked = Survey.from_statement({**stated, "seat": {**stated["seat"], "panel": panel.to_statement()}}, {})
    if seat_of(asked).round != number:
        raise SessionError("the session's rounds are out of order; the file is damaged and was not changed")
    labels = entry["labels"]
    choices = n_choices(asked)
    if type(labels) is not list or len(labels) not in (0, choices) or not all(type(name) is str for name in labels):
        raise SessionError(f"the labels of round {number} are malformed; the file is damaged")
    return asked, tuple(labels)


def _past(panel: Panel, number: int, entry: Any) -> FinishedRound:
    asked, labels = _asked(panel, number, entry)
    listed, n = entry["counts"], entry["n_reports"]
    if set(entry) != {"asked", "labels", "counts", "n_reports"} or any(type(count) is not int for count in listed):
        raise SessionError(f"round {number} is malformed; the file is damaged and was not changed")
    counts = np.array(listed, dtype=np.int64)
    if type(n) is not int or n < 0 or (counts < 0).any() or (counts > n).any():
        raise SessionError(f"the counts of round {number} are impossible; the file is damaged and was not changed")
    return FinishedRound(asked, labels, Aggregate(asked, n, counts))
