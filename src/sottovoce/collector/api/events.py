"""The status of a survey as it changes: server-sent events."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from sottovoce.collector.api.admission import is_expired
from sottovoce.collector.api.service import Service
from sottovoce.collector.api.surveys import rounds_of, status_of
from sottovoce.collector.reading.streams import EVENT_STREAM, MOST_STREAMS, Stream, StreamPace, Streams
from sottovoce.collector.store.records import TokenRecord
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.surveys import RoundStatus
from sottovoce.service.http.route import route
from sottovoce.surveys.panel import Panel

__all__ = ["ROUTES", "streams_of"]

_LABELS_SENT: Final = 4096
"""Characters of a round's labels that are sent with every change; `/rounds` has longer ones."""


@route(
    "GET",
    "/v1/surveys/{survey_id}/events",
    scopes=("read",),
    responses={200: EVENT_STREAM},
    errors={
        503: f"{MOST_STREAMS} streams are open in this process, or the database is unavailable; ask for the status"
    },
    is_stream=True,
)
async def follow_survey(service: Service, token: TokenRecord, survey_id: SurveyId) -> Stream:
    """The status of a survey, at once and whenever it changes, as server-sent events."""
    full = service.streams.refusal_if_full()
    if full is not None:
        raise full
    await service.wait_for_store(service.record, survey_id)

    async def still_admitted() -> bool:
        return await service.wait_for_store(_is_valid, service, token.id)

    return Stream(service.streams, survey_id, still_admitted)


def _is_valid(service: Service, token_id: str) -> bool:
    record = service.store.token(token_id)
    return record is not None and not record.revoked and not is_expired(service.store, record)


def streams_of(service: Service, pace: StreamPace | None = None) -> Streams:
    """The streams of a service, none of them open yet."""

    async def look(survey_id: str) -> bytes:
        return await service.wait_for_store(_status_json, service, survey_id)

    return Streams(look, pace)


def _status_json(service: Service, survey_id: str) -> bytes:
    status = status_of(service, survey_id)
    body: Any = status
    if status.kind == Panel.kind:
        body = {
            **msgspec.to_builtins(status),
            "rounds_info": [*map(_without_long_labels, rounds_of(service, survey_id).rounds)],
        }
    return msgspec.json.encode(body)


def _without_long_labels(info: RoundStatus) -> RoundStatus:
    """A round without its labels where they are long: they never change, and streams are many."""
    return info if sum(map(len, info.labels)) <= _LABELS_SENT else msgspec.structs.replace(info, labels=[])


ROUTES: Final = (follow_survey,)
