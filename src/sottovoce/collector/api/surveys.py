"""What analysts do with a survey that stands: look how far it is, list its rounds, seal it, delete it."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Final

from sottovoce.collector.api.answer import Answer, json_answer
from sottovoce.collector.api.route import AnyRequest, Operation, require, route, token_of
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import RoundInfo, Rounds, State, Status
from sottovoce.collector.store.base import Store, SurveyRecord, TokenRecord
from sottovoce.errors import StoreError
from sottovoce.surveys.panel import Panel

__all__ = ["ROUTES", "rounds_of", "status_of"]

_REFUSES: Final = {
    404: "there is no such survey",
    410: "the survey has been deleted",
    503: "the database is away; try again later",
}
_WRITES: Final = {**_REFUSES, 507: "the disk is full; nothing was changed"}

_TRIES: Final = 50
_PAUSE: Final = 0.05
"""Seconds between two tries; all of them take far less than a request may."""

_log = logging.getLogger("sottovoce.serve")


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/status",
    Operation("get_status", "How many reports a survey has.", {200: Status}, _REFUSES, scopes=("read",)),
)
async def get_status(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(await service.ask(status_of, service, request.path_params["survey_id"]))


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/rounds",
    Operation(
        "list_rounds",
        "The rounds asked so far.",
        {200: Rounds},
        {**_REFUSES, 409: "the survey is not adaptive"},
        scopes=("read",),
    ),
)
async def list_rounds(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(await service.ask(rounds_of, service, request.path_params["survey_id"]))


@route(
    "POST",
    "/v1/surveys/{survey_id:str}/seal",
    Operation(
        "seal_survey",
        "Take no more reports, for ever; to seal a round is to close it, for which the scope ask is enough.",
        {200: State},
        _WRITES,
        scopes=("publish", "ask"),
    ),
)
async def seal_survey(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(await service.ask(_seal, service, request.path_params["survey_id"], token_of(request)))


@route(
    "DELETE",
    "/v1/surveys/{survey_id:str}",
    Operation(
        "delete_survey",
        "Remove a survey with all its reports and rounds, for ever.",
        {200: State},
        _WRITES,
        scopes=("admin",),
    ),
)
async def delete_survey(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(await service.ask(_delete, service, request.path_params["survey_id"]))


def status_of(service: Service, survey_id: str) -> Status:
    """How a survey stands; an adaptive one with all its rounds."""
    record = service.record(survey_id)
    survey = service.survey(record)
    rounds = service.store.rounds(record.id) if isinstance(survey, Panel) else []
    n_reports, waiting = _numbers(service, (record, *rounds))
    adaptive = isinstance(survey, Panel)
    return Status(
        id=record.id,
        title=record.title,
        kind=record.kind,
        epsilon=record.epsilon,
        delta=record.delta,
        mechanism=None if isinstance(survey, Panel) else survey.mechanism.name,
        state=record.state,
        n_reports=n_reports,
        waiting=waiting,
        minimum_reports=record.minimum_reports,
        rounds=survey.rounds if isinstance(survey, Panel) else None,
        asked=len(rounds) if adaptive else None,
    )


def _numbers(service: Service, records: tuple[SurveyRecord, ...]) -> tuple[int, int]:
    """How many reports of these have been counted, and how many wait."""
    waiting = sum(service.store.waiting(record.id) for record in records)
    return sum(service.counted(record) for record in records), waiting


def rounds_of(service: Service, survey_id: str) -> Rounds:
    """The rounds of a panel, each as it stands."""
    parent = service.record(survey_id)
    service.adaptive(parent)
    found = []
    for record in service.store.rounds(parent.id):
        asked = service.survey(record)
        n_reports, waiting = _numbers(service, (record,))
        text = "" if isinstance(asked, Panel) else asked.query_text
        found.append(
            RoundInfo(record.id, record.round or 0, record.state, n_reports, waiting, text, list(record.labels))
        )
    return Rounds(found)


def _seal(service: Service, survey_id: str, token: TokenRecord) -> State:
    record = service.record(survey_id)
    if record.parent is None:
        require(token, "publish")
    service.store.seal(record.id)
    return State(record.id, "sealed")


def _delete(service: Service, survey_id: str) -> State:
    record = service.record(survey_id)
    service.store.delete(record.id)
    _forget(service.store)
    return State(record.id, "deleted")


def _forget(store: Store) -> None:
    """Let the database drop what it still keeps of a deletion; it happened whether or not this succeeds."""
    for _ in range(_TRIES):
        with suppress(StoreError):
            if store.forget():
                return
        time.sleep(_PAUSE)
    _log.warning(
        "others read or write all the time: the database's own log may keep what was deleted until a counting process, "
        "which tries again every few seconds, finds a quiet moment"
    )


ROUTES: Final = (get_status, list_rounds, seal_survey, delete_survey)
