"""How a survey stands, told to a page as it changes: server-sent events."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from litestar.handlers import HTTPRouteHandler

from sottovoce.collector.api.route import AnyRequest, Operation, route, token_of
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import RoundInfo
from sottovoce.collector.api.surveys import rounds_of, status_of
from sottovoce.collector.streams import EVENT_STREAM, MOST_STREAMS, Pace, Stream, Streams

__all__ = ["ROUTES", "STREAMS", "streams_of"]

STREAMS: Final = "streams"
"""Under which name the application's state holds its streams."""


_LABELS_TOLD: Final = 4096
"""Characters of a round's labels that are told with every change; of longer ones `/rounds` tells."""


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/events",
    Operation(
        "follow_survey",
        "How a survey stands, at once and whenever that changes, as server-sent events.",
        {200: EVENT_STREAM},
        {
            404: "there is no such survey",
            410: "the survey has been deleted",
            503: f"{MOST_STREAMS} streams are open in this process, or the database is away; ask for the status",
        },
        scopes=("read",),
        streams=True,
    ),
)
async def follow_survey(request: AnyRequest) -> Stream:
    service, survey_id = service_of(request), request.path_params["survey_id"]
    streams: Streams = request.app.state[STREAMS]
    full = streams.full()
    if full is not None:
        raise full
    await service.ask(service.record, survey_id)
    token_id = token_of(request).id

    async def still_admitted() -> bool:
        record = await service.ask(service.store.token, token_id)
        return record is not None and not record.revoked

    return Stream(streams, survey_id, still_admitted)


def streams_of(service: Service, pace: Pace | None = None) -> Streams:
    """The streams of a service, none of them open yet."""

    async def look(survey_id: str) -> bytes:
        return await service.ask(_stands, service, survey_id)

    return Streams(look, pace)


def _stands(service: Service, survey_id: str) -> bytes:
    status = status_of(service, survey_id)
    told: Any = status
    if status.rounds is not None:
        told = {**msgspec.to_builtins(status), "rounds_info": [*map(_short, rounds_of(service, survey_id).rounds)]}
    return msgspec.json.encode(told)


def _short(info: RoundInfo) -> RoundInfo:
    """A round without its labels where they are long: they never change, and streams are many."""
    return info if sum(map(len, info.labels)) <= _LABELS_TOLD else msgspec.structs.replace(info, labels=[])


ROUTES: Final[tuple[HTTPRouteHandler, ...]] = (follow_survey,)
