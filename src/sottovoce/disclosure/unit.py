"""The unit of privacy of every kind of survey, in one sentence: whose data, and how much of it, one epsilon covers."""

from __future__ import annotations

from typing import Final

from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["level_of", "neighbours_of", "unit_of"]

_RECORD: Final = "all fields of a person's record together, over all {rounds:,} rounds: a device answers in one of them"


def unit_of(survey: Survey | Tracking | Panel) -> str:
    """The unit of privacy in one sentence.

    Examples
    --------
    >>> unit_of(Survey.distribution(["yes", "no"], 1.0))
    'One person: the one value that a person answers.'
    """
    if isinstance(survey, Panel):
        return f"One person: {_RECORD.format(rounds=survey.rounds)}."
    if isinstance(survey, Survey) and survey.seat is not None:
        return f"One person: {_RECORD.format(rounds=survey.seat.panel.rounds)}."
    held, tracked = survey.question.held, survey if isinstance(survey, Tracking) else survey.tracked
    if tracked is None:
        return f"One person: {held}."
    calendar = tracked.calendar
    span = calendar.spans(calendar.window)
    if calendar.windows == 1:
        return f"One person: their whole history over all {span}, of which one period is answered ({held})."
    return f"One person in one window: their history within {span}, of which one period is answered ({held})."


def level_of(survey: Survey | Tracking | Panel) -> str:
    """The same in two or three words, as registries have it."""
    tracked = survey if isinstance(survey, Tracking) else survey.tracked if isinstance(survey, Survey) else None
    if tracked is None or tracked.calendar.windows == 1:
        return "Person-level"
    return f"Person-window-level: {tracked.calendar.spans(tracked.calendar.window)}"


def neighbours_of(survey: Survey | Tracking | Panel) -> str:
    """What may differ between two worlds that epsilon compares."""
    what = "history of values" if "history" in unit_of(survey) else "value"
    return (
        f"Any {what} of one person, replaced by any other; everybody else's stay as they are. That the person takes "
        "part is the same in both worlds, and so is not hidden."
    )
