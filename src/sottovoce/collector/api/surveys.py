"""Analysts and a published survey: status, rounds, periods, segments, how to embed it, sealing and deleting it."""

from __future__ import annotations

import logging
import re
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from sottovoce.collector.api.admission import require
from sottovoce.collector.api.notes import central_of
from sottovoce.collector.api.service import Service
from sottovoce.collector.pages.files import ELEMENT, script_name, snippet_of
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import RoundStanding, SurveyRecord, TokenRecord
from sottovoce.collector.surveys.keeper import begun, moment_of
from sottovoce.collector.surveys.published import PublishedSurvey
from sottovoce.core.errors import StoreError
from sottovoce.core.integrity import integrity_of
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, REPORT_ID_BYTES, encode_batch
from sottovoce.protocol.base import SegmentNumber, SurveyId
from sottovoce.protocol.surveys import (
    CentralGuarantee,
    Embedding,
    PeriodAhead,
    PeriodList,
    PeriodStatus,
    Rounds,
    RoundStatus,
    SegmentEntry,
    Segments,
    StateBody,
    Status,
    TimeAnswer,
)
from sottovoce.service.http.response import Response
from sottovoce.service.http.route import Page, check_page, route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["EPOCH_HEADER", "PAGE_PERIODS", "ROUTES", "rounds_of", "status_of"]

_FULL: Final = {507: "the disk is full; nothing was changed"}

_TRIES: Final = 50
_PAUSE: Final = 0.05
"""Seconds between two tries; all of them take far less than a request may."""

_log = logging.getLogger("sottovoce.serve")


@route("GET", "/v1/surveys/{survey_id}/status", scopes=("read",))
async def get_status(service: Service, survey_id: SurveyId) -> Status:
    """How many reports a survey has."""
    return await service.wait_for_store(status_of, service, survey_id)


@route("GET", "/v1/surveys/{survey_id}/rounds", scopes=("read",), errors={409: "the survey is not a panel"})
async def list_rounds(service: Service, survey_id: SurveyId) -> Rounds:
    """The rounds asked so far."""
    return await service.wait_for_store(rounds_of, service, survey_id)


@route("POST", "/v1/surveys/{survey_id}/seal", scopes=("publish", "ask"), errors=_FULL)
async def seal_survey(service: Service, token: TokenRecord, survey_id: SurveyId) -> StateBody:
    """Accept no more reports, for ever, of its rounds or periods neither; for a round the scope ask is enough."""
    return await service.wait_for_store(_seal, service, survey_id, token)


@route(
    "DELETE",
    "/v1/surveys/{survey_id}",
    scopes=("admin",),
    errors={409: "the survey is one group of another, and is deleted with it", **_FULL},
)
async def delete_survey(service: Service, survey_id: SurveyId) -> StateBody:
    """Remove a survey with all its reports, rounds, periods and groups, for ever."""
    return await service.wait_for_store(_delete, service, survey_id)


def status_of(service: Service, survey_id: str) -> Status:
    """How a survey stands; one with rounds or periods with all of them."""
    record = service.record(survey_id)
    survey = service.survey(record)
    rounds = None if isinstance(survey, Survey) else service.store.standing_rounds(record.id)
    if rounds is None:
        n_reports, waiting = service.n_counted(record), service.n_waiting(record)
    else:
        n_reports, waiting = sum(entry.counted for entry in rounds), sum(entry.waiting for entry in rounds)
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
        groups=_variables(survey),
    )


def _variables(survey: PublishedSurvey) -> dict[str, list[str]] | None:
    """The public variables that people are asked for; none are asked for any more in the survey of one group."""
    of_one = isinstance(survey, Survey) and survey.group is not None
    groups = None if of_one or isinstance(survey, Panel) else survey.groups
    return None if groups is None else {name: list(values) for name, values in groups.variables}


def _central(service: Service, survey: PublishedSurvey) -> CentralGuarantee | None:
    """Computed once: it follows from the statement."""
    known = service.certificates.get(survey.id)
    if known is not None:
        return known
    guarantee = central_of(survey)
    return None if guarantee is None else service.certificates.put(survey.id, guarantee)


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
    rounds = []
    for record in service.store.rounds(parent.id):
        asked = service.survey(record)
        n_reports, waiting = service.n_counted(record), service.n_waiting(record)
        text = asked.query_text if isinstance(asked, Survey) else ""
        rounds.append(
            RoundStatus(record.id, record.round or 0, record.state, n_reports, waiting, text, list(record.labels))
        )
    return Rounds(rounds)


def _seal(service: Service, survey_id: str, token: TokenRecord) -> StateBody:
    record = service.record(survey_id)
    parent = None if record.parent is None else service.store.survey(record.parent)
    if parent is None or parent.kind == Tracking.kind:
        require(token, "publish")
    service.store.seal(record.id)
    return StateBody(record.id, "sealed")


def _delete(service: Service, survey_id: str) -> StateBody:
    record = service.record(survey_id)
    _check_whole(service, record)
    service.store.delete(record.id)
    _forget(service.store)
    return StateBody(record.id, "deleted")


def _check_whole(service: Service, record: SurveyRecord) -> None:
    """Refuse to delete one group: results of all groups are held by their number of reports, which must only grow."""
    parent = None if record.parent is None else service.store.survey(record.parent)
    if parent is not None and parent.has_groups:
        raise Refusal(
            409,
            "group_of_a_survey",
            f"survey {record.id[:12]} is one group of survey {parent.id[:12]}, whose results tell of all groups: "
            f"delete survey {parent.id[:12]}, with all its groups",
        )


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


PAGE_PERIODS: Final = 1000
"""Periods on a page."""


@route("GET", "/v1/time", for_devices=True, at_intake=True)
async def get_time(service: Service) -> TimeAnswer:
    """The time by which periods begin and close: the database's."""
    return TimeAnswer(_written(moment_of(service.clock())))


@route(
    "GET",
    "/v1/surveys/{survey_id}/periods",
    scopes=("read",),
    errors={404: "the survey does not exist, or its periods end before that page", 409: "the survey has no calendar"},
)
async def list_periods(service: Service, survey_id: SurveyId, page: Page = 1) -> PeriodList:
    """The periods of a tracking survey that have begun, first to last, on pages of a thousand; and the next one."""
    return await service.wait_for_store(_periods, service, survey_id, page)


def _periods(service: Service, survey_id: str, page: int) -> PeriodList:
    record = service.record(survey_id)
    tracking = service.tracking(record)
    standing = service.store.standing_rounds(record.id)
    pages = check_page(page, len(standing), PAGE_PERIODS)
    now = moment_of(service.clock())
    return PeriodList(
        now=_written(now),
        promise=tracking.promise,
        periods=[_status(tracking.calendar, entry) for entry in standing[(page - 1) * PAGE_PERIODS :][:PAGE_PERIODS]],
        next=_ahead(tracking, now) if record.state == "open" else None,
        total=tracking.calendar.periods,
        page=page,
        pages=pages,
    )


def _status(calendar: Calendar, entry: RoundStanding) -> PeriodStatus:
    return PeriodStatus(
        number=entry.round,
        id=entry.id,
        **_times(Period(calendar, entry.round)),
        state=entry.state,
        n_reports=entry.counted,
        waiting=entry.waiting,
    )


def _ahead(tracking: Tracking, now: datetime) -> PeriodAhead | None:
    number, last = begun(tracking.calendar, now) + 1, tracking.calendar.periods
    if last is not None and number > last:
        return None
    survey = tracking.period(number)
    return PeriodAhead(number=number, id=survey.id, **_times(Period(tracking.calendar, number)))


def _times(period: Period) -> dict[str, str]:
    written = {name: _written(getattr(period, name)) for name in ("start", "end", "closes")}
    return {"label": period.label, "starts": written["start"], "ends": written["end"], "closes": written["closes"]}


def _written(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


EPOCH_HEADER: Final = "Sottovoce-Epoch"

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,17}")


@route("GET", "/v1/surveys/{survey_id}/segments", scopes=("admin",))
async def list_segments(service: Service, survey_id: SurveyId) -> Segments:
    """The segments of a survey's counted reports."""
    return await service.wait_for_store(_segments, service, survey_id)


@route(
    "GET",
    "/v1/surveys/{survey_id}/segments/{segment_number}",
    scopes=("admin",),
    responses={200: BATCH_MEDIA_TYPE},
    errors={404: "the survey or segment does not exist", 409: "the survey is a panel: its rounds have reports"},
    headers={EPOCH_HEADER: "the coarse time in which the segment's reports came"},
)
async def get_segment(service: Service, survey_id: SurveyId, segment_number: SegmentNumber) -> Response:
    """The reports of a segment, as one batch."""
    body, epoch = await service.compute(_segment, service, survey_id, segment_number)
    return Response(body, BATCH_MEDIA_TYPE, headers={EPOCH_HEADER: str(epoch)})


def _segments(service: Service, survey_id: str) -> Segments:
    record = service.record(survey_id)
    return Segments(
        [SegmentEntry(segment.number, segment.epoch, segment.n) for segment in service.store.segments(record.id)]
    )


def _segment(service: Service, survey_id: str, text: str) -> tuple[bytes, int]:
    record = service.record(survey_id)
    survey = service.answerable(record)
    number = int(text) if _NUMBER.fullmatch(text) else -1
    segment = next(iter(service.store.read_segments(record.id, number - 1)), None) if number >= 0 else None
    if segment is None or segment.info.number != number:
        raise Refusal(
            404,
            "unknown_segment",
            f"survey {record.id[:12]} has no such segment, or it has been merged with others; list them again",
        )
    n, tag = segment.info.n, np.frombuffer(survey.tag, dtype=np.uint8)
    width = survey.mechanism.report_bytes
    rows = np.concatenate(
        (
            np.frombuffer(segment.ids, dtype=np.uint8).reshape(n, REPORT_ID_BYTES),
            np.broadcast_to(tag, (n, len(tag))),
            np.frombuffer(segment.payloads, dtype=np.uint8).reshape(n, width),
        ),
        axis=1,
    )
    return encode_batch(record.id, ()) + rows.tobytes(), segment.info.epoch


Address = Annotated[
    str,
    Meta(
        max_length=300,
        pattern=r"^https?://[A-Za-z0-9._~:/\[\]-]+$",
        description="address at which browsers reach the collector; the setting public_url, if set, counts instead",
    ),
]


@route("GET", "/v1/surveys/{survey_id}/embedding", scopes=("read",))
async def get_embedding(service: Service, survey_id: SurveyId, address: Address) -> Embedding:
    """The lines that show a survey in another page, with the hash that its script must have."""
    record = await service.wait_for_store(service.record, survey_id)
    script = service.files[ELEMENT].plain.body
    return Embedding(
        snippet=snippet_of(service.settings.public_url or address.rstrip("/"), script, record.id, service.public),
        script=f"/embed/{script_name(script)}",
        integrity=integrity_of(script),
        bytes=len(script),
        allow_origins=list(service.settings.allow_origins),
    )


ROUTES: Final = (
    get_status,
    list_rounds,
    seal_survey,
    delete_survey,
    get_time,
    list_periods,
    list_segments,
    get_segment,
    get_embedding,
)
