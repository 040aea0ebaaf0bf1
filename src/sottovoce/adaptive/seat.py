"""A device's seat in an adaptive survey: its round, drawn once for life, and the one report it ever sends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, Self, final

from sottovoce.adaptive.files import create_text, is_there, place_of, read_for_good, sweep
from sottovoce.errors import MismatchError, SessionError, SurveyError
from sottovoce.protocols.adaptive import AdaptiveSurvey
from sottovoce.protocols.rounds import Round
from sottovoce.randomness import os_source
from sottovoce.statement import parse_json

__all__ = ["SEAT_FORMAT", "Seat"]

SEAT_FORMAT: Final = 1
"""Version of a kept seat's JSON."""

_ANSWER_SUFFIX: Final = ".answer"


@final
@dataclass(frozen=True, repr=False)
class Seat:
    """Which round a device answers, and where that is written down.

    Two files, each created once by whoever comes first and never changed: `path` holds the round, and `path` with
    ".answer" the report, written before it is handed out. Whatever happens between, a device that asks again reads
    what stands there: it never draws another round, never answers another question, never randomizes twice. A file
    that cannot be read is an error, not a reason to draw again. Who copies the files has two seats.
    """

    survey: AdaptiveSurvey
    round: int
    path: Path

    @classmethod
    def open(cls, survey: AdaptiveSurvey, path: str | PathLike[str]) -> Self:
        """The seat kept at `path`; drawn from the operating system's entropy if there is none yet."""
        # Its own place in full: a link to it, or another working folder, must not lead to a second answer.
        where = place_of(path)
        if is_there(where):
            text = read_for_good(where)
        else:
            drawn = {"format": SEAT_FORMAT, "survey": survey.id, "round": 1 + os_source().below(survey.rounds)}
            text = create_text(where, json.dumps(drawn))
        kept = _checked(where, text, {"format", "survey", "round"})
        if kept["survey"] != survey.id:
            raise MismatchError(f"{where} holds a seat in another survey; it was left as it is: name another file")
        if type(kept["round"]) is not int or not 1 <= kept["round"] <= survey.rounds:
            raise _damaged(where)
        return cls(survey, kept["round"], where)

    def answer(self, asked: Round, record: object) -> bytes | None:
        """The device's report in this round, or None if the round is not its own.

        Asked again, the same bytes. Asked another question in the same round, nothing but an error: somebody wants
        two answers of one person.
        """
        if not isinstance(asked, Round):
            raise SessionError("a seat answers a round: survey.question(..), survey.choice(..), or one read from JSON")
        if asked.survey.id != self.survey.id:
            raise MismatchError("the round belongs to another survey than the seat")
        if asked.round != self.round:
            return None
        kept = self.path.with_name(self.path.name + _ANSWER_SUFFIX)
        if is_there(kept):
            text = read_for_good(kept)
        else:
            drawn = {"format": SEAT_FORMAT, "round": asked.id, "report": asked.randomize(record).hex()}
            text = create_text(kept, json.dumps(drawn))
        sweep(kept)
        found = _checked(kept, text, {"format", "round", "report"})
        if found["round"] != asked.id:
            raise MismatchError("this device has answered another question in this round; it answers one, once")
        try:
            return bytes.fromhex(found["report"])
        except (TypeError, ValueError):
            raise _damaged(kept) from None

    def __repr__(self) -> str:
        return f"<seat in round {self.round} of survey {self.survey.id[:12]}>"


def _checked(path: Path, text: str, fields: set[str]) -> dict[str, Any]:
    try:
        kept = parse_json(text)
    except SurveyError:
        raise _damaged(path) from None
    if not isinstance(kept, dict) or set(kept) != fields or kept["format"] != SEAT_FORMAT:
        raise _damaged(path)
    return kept


def _damaged(path: Path) -> SessionError:
    return SessionError(
        f"{path} is damaged and was left as it is; it is never drawn again, because two draws reveal more than one: "
        "this device cannot take part in this survey any more"
    )
