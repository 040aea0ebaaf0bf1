"""Estimates as bytes, ready to be sent: made once for a number of reports, however many ask, and then kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from sottovoce.collector.api.reading import estimate_of, holds_at_every_look, n_told, searched
from sottovoce.collector.api.service import Service
from sottovoce.collector.reading.table_files import table_of
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.table_files import CheckStop, EstimateTable
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import JSON, Response
from sottovoce.service.http.slow_work import SlowWork
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.survey import Survey

__all__ = ["MOST_ROWS", "TAG", "Rendered", "at_hand", "check_rows", "rendered", "rendered_from", "rendered_table"]
__all__ += ["rendered_estimate", "response_of"]

MOST_ROWS: Final = 2**20
"""Most answers of one body: more would be some hundred megabytes."""

TAG: Final = {"ETag": "changes with the body: sent back in If-None-Match, it gets 304 and no body while nothing has"}
"""What a response says of its header."""

Make: TypeAlias = Callable[[], tuple[int, list[bytes]]]
"""Makes a body from all reports that are counted, and says how many they are."""


class Rendered(NamedTuple):
    """A body, or all of it but an end that changes more often."""

    n_reports: int
    parts: list[bytes]
    digest: bytes


def check_rows(record: SurveyRecord, rows: int, remedy: str) -> None:
    """Refuse a body of very many answers."""
    if rows > MOST_ROWS:
        message = f"survey {record.id[:12]} has {rows:,} answers, and one response holds {MOST_ROWS:,}; {remedy}"
        raise Refusal(409, "too_much", message)


async def rendered(
    service: Service, work: SlowWork, record: SurveyRecord, name: tuple[object, ...], make: Make
) -> Rendered:
    """The result of `make` for all reports so far; results with one `name` are interchangeable."""
    n_reports = await service.wait_for_store(n_told, service, record)
    return await rendered_from(service, work, record, n_reports, name, make)


async def rendered_from(
    service: Service, work: SlowWork, record: SurveyRecord, n_reports: int, name: tuple[object, ...], make: Make
) -> Rendered:
    """The result of `make`, once enough reports are known to be counted."""
    known = at_hand(service, record, n_reports, name)
    if known is not None:
        return known
    name = ("rendered", *name)
    return await work.once((record.id, n_reports, *name), _render, service, record, name, make)


def at_hand(service: Service, record: SurveyRecord, n_reports: int, name: tuple[object, ...]) -> Rendered | None:
    """The result of that name from exactly this many reports, if it is still held."""
    known: Rendered | None = service.surveys.result(record.id, n_reports, "rendered", *name)
    return known


def _render(service: Service, record: SurveyRecord, name: tuple[object, ...], make: Make) -> Rendered:
    n_reports, parts = make()
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    made = Rendered(n_reports, parts, digest.digest())
    size = sum(len(part) for part in parts)
    return service.surveys.put_result(record.id, n_reports, *name, result=made, size=size)


async def rendered_table(
    service: Service,
    work: SlowWork,
    record: SurveyRecord,
    survey: Survey,
    level: float,
    always: str,
    name: tuple[object, ...],
    write: Callable[[EstimateTable, CheckStop], list[bytes]],
) -> Rendered:
    """The file of an estimate with intervals of that level, for these `Looks`."""

    def write_table(estimate: Estimate) -> list[bytes]:
        return write(table_of(estimate, level, record.labels), work.check_stop)

    return await rendered_estimate(service, work, record, survey, always, (level, *name), write_table)


async def rendered_estimate(
    service: Service,
    work: SlowWork,
    record: SurveyRecord,
    survey: Survey,
    always: str,
    name: tuple[object, ...],
    write: Callable[[Estimate], list[bytes]],
) -> Rendered:
    """What is written of an estimate, for these `Looks`."""
    watched = await service.wait_for_store(holds_at_every_look, service, record, always)
    words = await searched(service, record, survey) if survey.question.is_searched else None

    def make() -> tuple[int, list[bytes]]:
        estimate = estimate_of(service, record, survey) if words is None else words
        work.check_stop()
        return estimate.n_reports, write(estimate.watched(watched))

    if words is not None:
        return await rendered_from(service, work, record, words.n_reports, (watched, *name), make)
    return await rendered(service, work, record, (watched, *name), make)


def response_of(
    request: Request, made: Rendered, end: bytes = b"", media_type: str = JSON, headers: dict[str, str] | None = None
) -> Response:
    """The body with its end; or only that it is still the one which the asker names in If-None-Match."""
    tag = f'"{hashlib.sha256(made.digest + end).hexdigest()[:32]}"'
    sent_headers: dict[str, Any] = {**(headers or {}), "ETag": tag}
    known = [tag.strip().removeprefix("W/") for tag in (request.header(b"if-none-match") or "").split(",")]
    if tag in known or "*" in known:
        return Response(b"", media_type, 304, {"ETag": tag})
    return Response([*made.parts, end] if end else made.parts, media_type, headers=sent_headers)
