"""The log of publications: its signed head, its entries, and proofs. Open to everybody, and the same for everybody."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from sottovoce.collector.api.service import Service
from sottovoce.core.signing import to_base64url
from sottovoce.protocol.base import ResponseStruct, SurveyId
from sottovoce.service.http.response import Response, json_response
from sottovoce.service.http.route import route
from sottovoce.transparency.evidence import LogProof, TreeHash
from sottovoce.transparency.tree import LogEntry

__all__ = ["PAGE_ENTRIES", "ROUTES"]

PAGE_ENTRIES: Final = 1000
"""Most entries of one response."""

_BEHIND: Final = "the database is unavailable, or does not continue the log that was signed; try again later"

Position = Annotated[int, Meta(ge=0, le=2**53, description="a position in the log, from 0")]
LogSize = Annotated[int, Meta(ge=0, le=2**53, description="a number of entries")]
BlockNumber = Annotated[int, Meta(ge=0, le=2**45, description="how many whole blocks of 256 entries were seen before")]


class LogEntries(ResponseStruct):
    """A part of the log."""

    start: Position
    size: Annotated[int, Meta(ge=0, description="how many entries the log has")]
    entries: list[LogEntry]


class ConsistencyProof(ResponseStruct):
    """That one list begins with the other, as of RFC 9162."""

    old: LogSize
    new: LogSize
    proof: list[TreeHash]


@route(
    "GET",
    "/v1/log/checkpoint",
    responses={200: "text/plain"},
    errors={503: _BEHIND},
    for_devices=True,
    at_intake=True,
)
async def get_checkpoint(service: Service) -> Response:
    """The head of the log of published surveys: a signed note (c2sp.org/tlog-checkpoint)."""
    checkpoint, _ = await service.wait_for_store(service.log.checkpoint)
    # Nothing of the log is kept by anybody on the way: older heads and entries than what was seen look like a log that
    # was cut, and one that was lost and is signed again has other proofs.
    return Response(checkpoint.encode(), "text/plain; charset=utf-8")


@route("GET", "/v1/log/entries", responses={200: LogEntries}, errors={503: _BEHIND}, for_devices=True, at_intake=True)
async def list_log_entries(service: Service, start: Position = 0) -> Response:
    """Entries of the log from a position on, a thousand at most."""
    entries = await service.wait_for_store(service.log.entries, start, PAGE_ENTRIES)
    _, size = await service.wait_for_store(service.log.checkpoint)
    return json_response(LogEntries(start, size, entries))


@route(
    "GET",
    "/v1/log/consistency",
    responses={200: ConsistencyProof},
    errors={404: "the log has fewer entries", 503: _BEHIND},
    for_devices=True,
    at_intake=True,
)
async def get_consistency(service: Service, old: LogSize, new: LogSize) -> Response:
    """The proof that the log of `new` entries begins with that of `old`."""
    proof = await service.wait_for_store(service.log.consistency, old, new)
    return json_response(ConsistencyProof(old, new, [to_base64url(one) for one in proof]))


@route(
    "GET",
    "/v1/log/proofs/{survey_id}",
    responses={200: LogProof},
    errors={404: "the survey is not in the log", 503: _BEHIND},
    for_devices=True,
    at_intake=True,
)
async def get_log_proof(service: Service, survey_id: SurveyId, block: BlockNumber = 0) -> Response:
    """All that a device checks: the log's head, that the survey is in it, and that it goes on from before."""
    return json_response(await service.wait_for_store(service.log.proof, survey_id, block))


ROUTES: Final = (get_checkpoint, list_log_entries, get_consistency, get_log_proof)
