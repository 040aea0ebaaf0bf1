"""Analysts and a published survey: its status, its rounds, sealing and deleting it."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Final

from sottovoce.collector.api.admission import require
from sottovoce.collector.api.central import central_of
from sottovoce.collector.api.service import Service
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import TokenRecord
from sottovoce.collector.stored import PublishedSurvey
from sottovoce.core.errors import StoreError
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.surveys import CentralGuarantee, Rounds, RoundStatus, StateBody, Status
from sottovoce.service.http.route import route
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["ROUTES", "rounds_of", "status_of"]

_FULL: Final = {507: "the disk is full; nothing was changed"}

_TRIES: Final = 50
_PAUSE: Final = 0.05
"""Seconds between two tries; all of them take far less than a request may."""

_log = logging.getLogger("sottovoce.serve")


@route("GET", "/v1/surveys/{survey_id}/status", scopes=("read",))
async def get_status(service: Service, survey_id: SurveyId) -> Status:
    """How many reports a survey has."""
    return await service.wait_for_store(status_of, service, survey_id)


@route("GET", "/v1/surveys/{survey_id}/rounds", scopes=("read",), errors={409: "the survey is not adaptive"})
async def list_rounds(service: Service, survey_id: SurveyId) -> Rounds:
    """The rounds asked so far."""
    return await service.wait_for_store(rounds_of, service, survey_id)


@route("POST", "/v1/surveys/{survey_id}/seal", scopes=("publish", "ask"), errors=_FULL)
async def seal_survey(service: Service, token: TokenRecord, survey_id: SurveyId) -> StateBody:
    """Accept no more reports, for ever, of its rounds or periods neither; for a round the scope ask is enough."""
    return await service.wait_for_store(_seal, service, survey_id, token)


@route("DELETE", "/v1/surveys/{survey_id}", scopes=("admin",), errors=_FULL)
async def delete_survey(service: Service, survey_id: SurveyId) -> StateBody:
    """Remove a survey with all its reports, rounds and periods, for ever."""
    return await service.wait_for_store(_delete, service, survey_id)


def status_of(service: Service, survey_id: str) -> Status:
    """How a survey stands; one with rounds or periods with all of them."""
    record = service.record(survey_id)
    survey = service.survey(record)
    rounds = None if isinstance(survey, Survey) else service.store.standing_rounds(record.id)
    if rounds is None:
        n_reports, waiting = service.n_counted(record), service.store.waiting(record.id)
    else:
        n_reports, waiting = sum(one.counted for one in rounds), sum(one.waiting for one in rounds)
    return Status(
        id=record.id,
        title=record.title,
        kind=record.kind,
        epsilon=record.epsilon,
        delta=record.delta,
        mechanism=_mechanism(survey),
        state=record.state,
        n_reports=n_reports,
        waiting=waiting,
        minimum_reports=record.minimum_reports,
        rounds=_most_rounds(survey),
        asked=None if rounds is None else len(rounds),
        every=survey.calendar.every if isinstance(survey, Tracking) else None,
        central=_central(service, survey),
    )


def _central(service: Service, survey: PublishedSurvey) -> CentralGuarantee | None:
    """Computed once: it follows from the statement."""
    known = service.certificates.get(survey.id)
    if known is not None:
        return known
    found = central_of(survey)
    return None if found is None else service.certificates.put(survey.id, found)


def _mechanism(survey: PublishedSurvey) -> str | None:
    """The name of the mechanism of its reports; None where rounds may differ."""
    match survey:
        case Panel():
            return None
        case Tracking():
            return survey.once.mechanism.name
        case _:
            return survey.mechanism.name


def _most_rounds(survey: PublishedSurvey) -> int | None:
    """How many rounds or periods there can be; None where there are none, or no end of them."""
    match survey:
        case Panel():
            return survey.rounds
        case Tracking():
            return survey.calendar.periods
        case _:
            return None


def rounds_of(service: Service, survey_id: str) -> Rounds:
    """The rounds of a panel, each as it stands."""
    parent = service.record(survey_id)
    service.panel(parent)
    found = []
    for record in service.store.rounds(parent.id):
        asked = service.survey(record)
        n_reports, waiting = service.n_counted(record), service.store.waiting(record.id)
        text = asked.query_text if isinstance(asked, Survey) else ""
        found.append(
            RoundStatus(record.id, record.round or 0, record.state, n_reports, waiting, text, list(record.labels))
        )
    return Rounds(found)


def _seal(service: Service, survey_id: str, token: TokenRecord) -> StateBody:
    record = service.record(survey_id)
    parent = None if record.parent is None else service.store.survey(record.parent)
    if parent is None or parent.kind == Tracking.kind:
        require(token, "publish")
    service.store.seal(record.id)
    return StateBody(record.id, "sealed")


def _delete(service: Service, survey_id: str) -> StateBody:
    record = service.record(survey_id)
    service.store.delete(record.id)
    _forget(service.store)
    return StateBody(record.id, "deleted")


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
