"""From a form to a survey that can be published, as the library plans it."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

from sottovoce.collector.api.asking import as_refusals, check_fields, plan_for, question_of, tracking_plan_for
from sottovoce.collector.api.notes import central_of, notes_of, people_note
from sottovoce.collector.api.parameters import read_parameters
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import DEFAULT_USERS, check_integer
from sottovoce.core.words import plural
from sottovoce.planning.panel import error_line
from sottovoce.planning.solve import MAX_USERS
from sottovoce.protocol.drafts import Draft, DraftAnswer
from sottovoce.questions.parameter import check_parameters
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["make_draft"]


def make_draft(draft: Draft) -> DraftAnswer:
    """The survey of a form, or a refusal that names the field, what is allowed, and what to do."""
    with as_refusals():
        if draft.kind == Panel.kind:
            return _panel(draft)
        return _survey(draft) if draft.calendar is None else _tracking(draft, draft.calendar)


def _survey(draft: Draft) -> DraftAnswer:
    users = DEFAULT_USERS if draft.users is None else draft.users
    found = plan_for(question_of(draft), draft, users=users)
    survey = replace(found.survey(draft.title), relay=_relay(draft))
    return _answer(
        survey,
        users,
        f"With {users:,} people, {found.reason}",
        [people_note(survey)],
        strategy=found.best.strategy,
        margin=found.margin,
        l2=found.l2,
    )


def _tracking(draft: Draft, stated: dict[str, Any]) -> DraftAnswer:
    calendar = Calendar.of(**check_parameters("a tracking survey", Calendar.parameters, stated))
    users = DEFAULT_USERS if draft.users is None else draft.users
    renews = calendar.window if calendar.renews else None
    found = tracking_plan_for(question_of(draft), draft, users=users, periods=calendar.periods, renews=renews)
    tracking = Tracking(replace(found.period.survey(draft.title), relay=_relay(draft)), calendar)
    each = f"{calendar.label(1)} is the first period, and everybody answers in one of {calendar.window:,}"
    return _answer(
        tracking,
        users,
        f"{each}. {found} In one period, {found.period.reason}",
        [people_note(tracking.once, tracked=True)],
        strategy=found.period.best.strategy,
        margin=found.margin,
        l2=found.l2,
        promise=tracking.promise,
    )


def _relay(draft: Draft) -> Relay | None:
    """The relay of a form; its fields are blamed as parts of it, since a survey has a delta of its own."""
    if draft.relay is None:
        return None
    try:
        return Relay(draft.relay.url, draft.relay.least, draft.relay.delta)
    except SurveyError as error:
        raise SurveyError(f"relay: {error}").at(f"relay.{error.field}") from None


def _panel(draft: Draft) -> DraftAnswer:
    check_fields(draft, ("epsilon", "title", "users"))
    panel = Panel.of(draft.epsilon, draft.title, **read_parameters("a panel", Panel.parameters, draft.parameters))
    users = DEFAULT_USERS if draft.users is None else check_integer("users", draft.users, 1, MAX_USERS)
    line = error_line(panel.rounds, panel.radius, panel.epsilon, users)
    explanation = (
        f"Everybody draws one of {plural(panel.rounds, 'round')} and answers its question with one bit; with "
        f"{users:,} people the largest error over all rounds stays below {line.bound:.3g}, and is about "
        f"{line.predicted:.3g}"
    )
    return _answer(panel, users, explanation, [])


def _answer(
    survey: Survey | Panel | Tracking,
    users: int,
    explanation: str,
    notes: list[str],
    strategy: str | None = None,
    margin: float | None = None,
    l2: float | None = None,
    promise: str | None = None,
) -> DraftAnswer:
    asked = survey.once if isinstance(survey, Tracking) else survey
    untitled = [] if survey.title else ["it has no title: people are not told what it is about"]
    return DraftAnswer(
        id=survey.id,
        statement=survey.to_json(),
        attachments={digest: base64.b64encode(held).decode() for digest, held in survey.attachments.items()},
        strategy=strategy,
        mechanism=asked.mechanism.name,
        report_bytes=asked.mechanism.report_bytes,
        users=users,
        margin=margin,
        l2=l2,
        explanation=explanation,
        promise=promise,
        central=central_of(survey),
        notes=[*untitled, *notes_of(asked), *notes],
    )
