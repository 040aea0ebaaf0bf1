"""Surveys and rounds as forms have them, turned into statements that can be published; nothing is kept."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from sottovoce.collector.api.answer import JSON, Answer, json_answer
from sottovoce.collector.api.asking import refusing
from sottovoce.collector.api.body import read_json
from sottovoce.collector.api.drafting import drafted
from sottovoce.collector.api.page_structs import Draft, DraftAnswer, Question, QuestionAnswer
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import LINE, MAX_LABEL
from sottovoce.collector.failures import Refused
from sottovoce.errors import SurveyError
from sottovoce.expressions import Query
from sottovoce.expressions import query as as_query
from sottovoce.limits import check_integer
from sottovoce.plural import counted
from sottovoce.surveys.panel import MAX_CHOICES, Panel, Seat
from sottovoce.surveys.survey import Survey

__all__ = ["MAX_DRAFT_BYTES", "ROUTES"]

MAX_DRAFT_BYTES: Final = 2**22
"""Longest form: some hundred thousand labels."""

_LINE: Final = re.compile(LINE)

_draft: Final = msgspec.json.Decoder(Draft)
_question: Final = msgspec.json.Decoder(Question)

_REFUSES: Final = {
    400: "the body is no JSON of this shape",
    408: "the body took too long, or was cut off",
    413: "the body is too long",
    415: "the body is not JSON, or compressed",
    422: "no survey can be made of this; `field` says why",
    503: "too much is being worked on, or the database is away; try again later",
}


@route(
    "POST",
    "/v1/drafts",
    Operation(
        "draft_survey",
        "Make the statement of a survey from the fields of a form; nothing is kept.",
        {200: DraftAnswer},
        _REFUSES,
        scopes=("publish",),
        bodies={JSON: Draft},
    ),
)
async def draft_survey(request: AnyRequest) -> Answer:
    service = service_of(request)
    given = await read_json(request, _draft, MAX_DRAFT_BYTES, service.settings.body_seconds)
    return json_answer(await service.work(drafted, given))


@route(
    "POST",
    "/v1/surveys/{survey_id:str}/questions",
    Operation(
        "draft_question",
        "Make the statement of the next round of a panel; nobody is asked.",
        {200: QuestionAnswer},
        {
            **_REFUSES,
            404: "there is no such survey",
            409: "the survey is not adaptive or is sealed, or all its rounds have been asked",
            410: "the survey has been deleted",
            422: "the query cannot be asked of this survey; `field` says why",
        },
        scopes=("ask",),
        bodies={JSON: Question},
    ),
)
async def draft_question(request: AnyRequest) -> Answer:
    service = service_of(request)
    given = await read_json(request, _question, MAX_DRAFT_BYTES, service.settings.body_seconds)
    survey_id = request.path_params["survey_id"]
    return json_answer(await service.work(_asked, service, survey_id, given))


def _asked(service: Service, survey_id: str, given: Question) -> QuestionAnswer:
    record = service.record(survey_id)
    panel = service.adaptive(record)
    if record.state == "sealed":
        raise Refused(409, "survey_sealed", f"panel {record.id[:12]} is sealed: no more questions can be asked in it")
    rounds = service.store.rounds(record.id)
    if len(rounds) >= panel.rounds:
        raise Refused(
            409,
            "rounds_spent",
            f"all {counted(panel.rounds, 'round')} of panel {record.id[:12]} have been asked, and everybody has "
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


def _round(panel: Panel, number: int, given: Question) -> tuple[Survey, list[str]]:
    """The round, its query written in the one way it is written, and the names of its choices."""
    with refusing("query"):
        # Checked as it was given, so that a fault is told by the column in which it stands there.
        written = as_query(given.query)
        written.check(panel.domain)
        query = Query.from_tree(written.tree)
        if given.choices is None:
            Seat(panel, number, query).check_radius()
            return Survey.round(panel, number, query), []
    with refusing("choices"):
        names, size = _choices(given.choices)
    with refusing("query"):
        return Survey.round(panel, number, query, size), names


def _choices(given: list[str] | int) -> tuple[list[str], int]:
    """Names of choices, if they have any, and how many there are."""
    names = given if isinstance(given, list) else []
    size = check_integer("choices", len(given) if isinstance(given, list) else given, 2, MAX_CHOICES)
    if not all(name.strip() and len(name) <= MAX_LABEL and _LINE.match(name) for name in names):
        raise SurveyError(f"the name of a choice must be one line of 1 to {MAX_LABEL:,} characters")
    if len(set(names)) < len(names):
        raise SurveyError("two choices have the same name; give every choice its own")
    return names, size


ROUTES: Final = (draft_survey, draft_question)
