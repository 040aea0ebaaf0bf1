"""A survey whose JSON this installation cannot run: what it states can be shown, and nothing can be derived."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.core.text import one_line
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import MAX_TITLE, Attachments, Stated, read_json
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["UnreadSurvey", "read_survey"]

_LONGEST_NAME = 64
_LONGEST_REASON = 500


@final
@dataclass(frozen=True)
class UnreadSurvey(Stated):
    """JSON in the format of a survey, which was refused; for instance, it names a mechanism that is not installed.

    Attributes
    ----------
    why
        What was wrong with it.
    """

    statement: dict[str, Any]
    why: str

    @property
    def kind(self) -> str:
        """The kind of its question, as it says itself."""
        question = self.statement.get("question")
        return _name(question.get("kind") if isinstance(question, dict) else None)

    @property
    def title(self) -> str:  # type: ignore[override]
        found = self.statement.get("title")
        return found if isinstance(found, str) and len(found) <= MAX_TITLE and found.isprintable() else ""

    @property
    def mechanism_name(self) -> str:
        """The name of its mechanism, as it says itself."""
        design = self.statement.get("design")
        mechanism = design.get("mechanism") if isinstance(design, dict) else None
        return _name(mechanism.get("name") if isinstance(mechanism, dict) else None)

    @cached_property
    def states_relay(self) -> bool:
        """Whether it wants its reports shuffled."""
        return "relay" in self.statement

    def number(self, name: str) -> float | None:
        """A number that it states, such as epsilon; None if that is none."""
        found = self.statement.get(name)
        number = isinstance(found, int | float) and not isinstance(found, bool)
        return float(found) if number and math.isfinite(found) else None  # type: ignore[arg-type]

    def to_statement(self) -> dict[str, Any]:
        """The JSON as it was read."""
        return self.statement


def _name(found: object) -> str:
    known = isinstance(found, str) and len(found) <= _LONGEST_NAME and found.isprintable()
    return str(found) if known else "unknown"


def read_survey(text: str | bytes, attachments: Attachments | None = None) -> Survey | Panel | Tracking | UnreadSurvey:
    """The survey that JSON states; what it says of itself if it is none that this installation can run.

    Raises
    ------
    SurveyError
        If it is no JSON object in the format of a survey at all.

    Examples
    --------
    >>> import sottovoce as sv
    >>> stated = sv.Survey.distribution(["yes", "no"], 1.0).to_json()
    >>> read_survey(stated).kind
    'shares'
    >>> read_survey(stated.replace("randomized_response", "nobody_knows")).mechanism_name
    'nobody_knows'
    """
    try:
        return Survey.from_json(text, attachments)
    except SottovoceError as error:
        found = UnreadSurvey(read_json(text), one_line(str(error), _LONGEST_REASON))
        try:
            _ = found.id
        except (ValueError, OverflowError):  # numbers beyond what canonical JSON can hold
            raise SurveyError("the survey has no canonical JSON, and so no id: its numbers are out of range") from error
        return found
