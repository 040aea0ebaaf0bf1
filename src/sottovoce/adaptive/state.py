"""What a session knows, as JSON: the panel, the questions asked, and the counts of the reports that answered them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self, final

import numpy as np

from sottovoce.adaptive.rounds import n_choices, seat_of
from sottovoce.errors import MismatchError, SessionError, SurveyError
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import parse_json
from sottovoce.surveys.survey import Survey

__all__ = ["STATE_FORMAT", "Past", "State"]

STATE_FORMAT: Final = 2
"""Version of a kept session's JSON."""


class Past(NamedTuple):
    """A round that is over."""

    asked: Survey
    labels: tuple[str, ...]
    aggregate: Aggregate


@final
@dataclass(frozen=True, repr=False)
class State:
    """All of a session but the people themselves.

    `opened` is the question that was being asked when the state was kept; it must be finished before another one.
    """

    panel: Panel
    crowd: dict[str, Any]
    past: tuple[Past, ...]
    opened: Survey | None = None
    opened_labels: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The state as JSON. Integers beyond 2**53 stand as decimal text."""
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
        """The state behind its JSON, checked in every part; it must be of that panel."""
        try:
            return cls._read(panel, parse_json(text))
        except (SurveyError, MismatchError, AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, SessionError):
                raise
            raise SessionError(
                "the file does not hold a session of this panel, or is damaged; it was left as it is: name another "
                "file to begin anew"
            ) from error

    @classmethod
    def _read(cls, panel: Panel, kept: Any) -> Self:
        if (
            type(kept["format"]) is not int
            or kept["format"] != STATE_FORMAT
            or set(kept) != {"format", "panel", "crowd", "rounds", "opened"}
        ):
            raise SessionError(f"the session was kept in a format this version does not know; it knows {STATE_FORMAT}")
        if Panel.from_statement(kept["panel"]).id != panel.id:
            raise SessionError("the file holds a session of another panel; it was left as it is: name another file")
        past = tuple(_past(panel, number, entry) for number, entry in enumerate(kept["rounds"], start=1))
        opened: Survey | None = None
        labels: tuple[str, ...] = ()
        if kept["opened"] is not None:
            opened, labels = _asked(panel, len(past) + 1, kept["opened"])
        return cls(panel, {name: _integer(digits) for name, digits in kept["crowd"].items()}, past, opened, labels)


def _integer(digits: Any) -> int:
    """An integer written as decimal text, in the one way it is written."""
    number = int(digits) if isinstance(digits, str) else None
    if number is None or str(number) != digits:
        raise SessionError("the session's people are not described as they must be; the file is damaged")
    return number


def _question(asked: Survey, labels: tuple[str, ...]) -> dict[str, Any]:
    """A round's statement without the panel, which the state holds once."""
    statement = asked.to_statement()
    seat = {name: stated for name, stated in statement["seat"].items() if name != "panel"}
    return {"asked": {**statement, "seat": seat}, "labels": list(labels)}


def _asked(panel: Panel, number: int, entry: Any) -> tuple[Survey, tuple[str, ...]]:
    stated = entry["asked"]
    asked = Survey.from_statement({**stated, "seat": {**stated["seat"], "panel": panel.to_statement()}}, {})
    if seat_of(asked).round != number:
        raise SessionError("the session's rounds are not in order; the file is damaged and was left as it is")
    labels = entry["labels"]
    choices = n_choices(asked)
    if type(labels) is not list or len(labels) not in (0, choices) or not all(type(name) is str for name in labels):
        raise SessionError(f"the choices of round {number} are not named as they must be; the file is damaged")
    return asked, tuple(labels)


def _past(panel: Panel, number: int, entry: Any) -> Past:
    asked, labels = _asked(panel, number, entry)
    listed, n = entry["counts"], entry["n_reports"]
    if set(entry) != {"asked", "labels", "counts", "n_reports"} or any(type(count) is not int for count in listed):
        raise SessionError(f"round {number} is not written as it must be; the file is damaged and was left as it is")
    counts = np.array(listed, dtype=np.int64)
    if type(n) is not int or n < 0 or (counts < 0).any() or (counts > n).any():
        raise SessionError(f"the counts of round {number} cannot be; the file is damaged and was left as it is")
    return Past(asked, labels, Aggregate(asked, n, counts))
