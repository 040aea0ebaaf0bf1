"""Statements of surveys and rounds that can be published, from the fields of forms; nothing is stored."""

from __future__ import annotations

import base64
import re
from typing import Any, Final

from sottovoce.collector.api.asking import as_refusals, check_fields, plan_for, question_of
from sottovoce.collector.api.notes import central_of, notes_of, people_note
from sottovoce.collector.api.parameters import read_parameters
from sottovoce.collector.api.publishing import OWN_RELAY, is_own_relay
from sottovoce.collector.api.service import Service
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import DEFAULT_PEOPLE, check_integer
from sottovoce.core.words import plural
from sottovoce.expressions import Query
from sottovoce.expressions import query as as_query
from sottovoce.planning.panel import error_line
from sottovoce.planning.plan import Plan
from sottovoce.planning.solve import MAX_PEOPLE
from sottovoce.planning.tracking import TrackingPlan
from sottovoce.protocol.base import LINE, SurveyId
from sottovoce.protocol.drafts import Draft, DraftAnswer, QuestionAnswer, RoundQuestion
from sottovoce.protocol.surveys import MAX_LABEL
from sottovoce.questions.parameter import check_parameters
from sottovoce.service.http.request import Request
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.groups import Groups
from sottovoce.surveys.panel import MAX_CHOICES, Panel, Seat
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.rounds import round_of
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["MAX_DRAFT_BYTES", "ROUTES"]

MAX_DRAFT_BYTES: Final = 2**22
"""Longest form: some hundred thousand labels."""

_LINE: Final = re.compile(LINE)

_BUSY: Final = "too many requests are in progress, or the database is unavailable; try again later"


@route(
    "POST",
    "/v1/drafts",
    scopes=("publish",),
    max_bytes=MAX_DRAFT_BYTES,
    errors={422: "no survey can be made of this; `field` says why", 503: _BUSY},
)
async def draft_survey(service: Service, request: Request, body: Draft) -> DraftAnswer:
    """Make the statement of a survey from the fields of a form; nothing is stored."""
    made = await service.compute(_make_draft, body)
    if body.relay is not None and is_own_relay(Relay(body.relay.url, body.relay.least), request):
        raise Refusal(422, "invalid_draft", OWN_RELAY, field="relay.url")
    return made


@route(
    "POST",
    "/v1/surveys/{survey_id}/questions",
    scopes=("ask",),
    max_bytes=MAX_DRAFT_BYTES,
    errors={
        409: "the survey is not a panel or is sealed, or all its rounds have been asked",
        422: "the query cannot be asked of this survey; `field` says why",
        503: _BUSY,
    },
)
async def draft_question(service: Service, survey_id: SurveyId, body: RoundQuestion) -> QuestionAnswer:
    """Make the statement of the next round of a panel; nobody is asked."""
    return await service.compute(_next_round, service, survey_id, body)


def _next_round(service: Service, survey_id: str, given: RoundQuestion) -> QuestionAnswer:
    record = service.record(survey_id)
    panel = service.panel(record)
    if record.state == "sealed":
        raise Refusal(409, "survey_sealed", f"panel {record.id[:12]} is sealed: no more questions can be asked in it")
    rounds = service.store.rounds(record.id)
    if len(rounds) >= panel.rounds:
        raise Refusal(
            409,
            "rounds_spent",
            f"all {plural(panel.rounds, 'round')} of panel {record.id[:12]} have been asked, and everybody has "
            "answered once; make a panel of more rounds, and ask other people, to go on",
        )
    number = len(rounds) + 1
    asked, labels = _round(panel, number, given)
    note = f"about one in {panel.rounds:,} of the people who take part answers it"
    if rounds and rounds[-1].state == "open":
        note = f"round {number - 1} is still open: close it before this one can be opened; then {note}"
    return QuestionAnswer(
        statement=asked.to_json(),
        labels=labels,
        round=number,
        rounds=panel.rounds,
        query=asked.query_text,
        n_expected_note=note,
    )


def _round(panel: Panel, number: int, given: RoundQuestion) -> tuple[Survey, list[str]]:
    """The round, its query written in the one way it is written, and the names of its choices."""
    with as_refusals("query"):
        # Checked as it was given, so that an error names the column in which the fault stands there.
        written = as_query(given.query)
        written.check(panel.domain)
        query = Query.from_tree(written.tree)
        if given.choices is None:
            Seat(panel, number, query).check_radius()
            return round_of(panel, number, query), []
    with as_refusals("choices"):
        names, size = _choices(given.choices)
    with as_refusals("query"):
        return round_of(panel, number, query, size), names


def _choices(given: list[str] | int) -> tuple[list[str], int]:
    """Names of choices, if they have any, and how many there are."""
    names = given if isinstance(given, list) else []
    size = check_integer("choices", len(given) if isinstance(given, list) else given, 2, MAX_CHOICES)
    if not all(name.strip() and len(name) <= MAX_LABEL and _LINE.match(name) for name in names):
        raise SurveyError(f"the name of a choice must be one line of 1 to {MAX_LABEL:,} characters")
    if len(set(names)) < len(names):
        raise SurveyError("two choices have the same name; give every choice its own")
    return names, size


def _make_draft(draft: Draft) -> DraftAnswer:
    """The survey of a form, or a refusal that names the field, what is allowed, and what to do."""
    with as_refusals():
        if draft.kind == Panel.kind:
            return _panel(draft)
        return _survey(draft) if draft.calendar is None else _tracking(draft, draft.calendar)


def _survey(draft: Draft) -> DraftAnswer:
    people = DEFAULT_PEOPLE if draft.people is None else draft.people
    planned: Plan = plan_for(question_of(draft), draft, people=people)
    survey = planned.survey(draft.title, _relay(draft), _groups(draft))
    return _answer(
        survey,
        people,
        f"With {people:,} people, {planned.reason}",
        [people_note(survey)],
        strategy=planned.best.strategy,
        margin=planned.margin,
        l2=planned.l2,
    )


def _tracking(draft: Draft, stated: dict[str, Any]) -> DraftAnswer:
    calendar = Calendar.of(**check_parameters("a tracking survey", Calendar.parameters, stated))
    people = DEFAULT_PEOPLE if draft.people is None else draft.people
    renews = calendar.window if calendar.renews else None
    planned: TrackingPlan = plan_for(question_of(draft), draft, people=people, periods=calendar.periods, renews=renews)
    tracking = Tracking.of_survey(planned.period.survey(draft.title, _relay(draft), _groups(draft)), calendar)
    each = f"{calendar.label(1)} is the first period, and everybody answers in one of {calendar.window:,}"
    return _answer(
        tracking,
        people,
        f"{each}. {planned} In one period, {planned.period.reason}",
        [people_note(tracking.once, tracked=True)],
        strategy=planned.period.best.strategy,
        margin=planned.margin,
        l2=planned.l2,
        promise=tracking.promise,
    )


def _groups(draft: Draft) -> Groups | None:
    return None if draft.groups is None else Groups.of(draft.groups)


def _relay(draft: Draft) -> Relay | None:
    """The relay of a form; its fields are blamed as parts of it, since a survey has a delta of its own."""
    if draft.relay is None:
        return None
    try:
        return Relay(draft.relay.url, draft.relay.least, draft.relay.delta)
    except SurveyError as error:
        raise SurveyError(f"relay: {error}").at(f"relay.{error.field}") from None


def _panel(draft: Draft) -> DraftAnswer:
    check_fields(draft, ("epsilon", "title", "people"))
    panel = Panel.of(draft.epsilon, draft.title, **read_parameters("a panel", Panel.parameters, draft.parameters))
    people = DEFAULT_PEOPLE if draft.people is None else check_integer("people", draft.people, 1, MAX_PEOPLE)
    line = error_line(panel.rounds, panel.radius, panel.epsilon, people)
    explanation = (
        f"Everybody draws one of {plural(panel.rounds, 'round')} and answers its question with one bit; with "
        f"{people:,} people the largest error over all rounds stays below {line.bound:.3g}, and is about "
        f"{line.predicted:.3g}"
    )
    return _answer(panel, people, explanation, [])


def _answer(
    survey: Survey | Panel | Tracking,
    people: int,
    explanation: str,
    notes: list[str],
    strategy: str | None = None,
    margin: float | None = None,
    l2: float | None = None,
    promise: str | None = None,
) -> DraftAnswer:
    asked = survey.once if isinstance(survey, Tracking) else survey
    untitled = [] if survey.title else ["it has no title: people do not see what it is about"]
    return DraftAnswer(
        id=survey.id,
        statement=survey.to_json(),
        attachments={digest: base64.b64encode(held).decode() for digest, held in survey.attachments.items()},
        strategy=strategy,
        mechanism=asked.mechanism.name,
        report_bytes=asked.mechanism.report_bytes,
        people=people,
        margin=margin,
        l2=l2,
        explanation=explanation,
        promise=promise,
        central=central_of(survey),
        notes=[*untitled, *notes_of(asked), *notes],
    )


ROUTES: Final = (draft_survey, draft_question)
