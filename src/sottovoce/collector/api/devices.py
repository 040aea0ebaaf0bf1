"""What devices fetch: the key, the surveys, the rounds, the attachments, the log of publications. Open to everybody."""

from __future__ import annotations

from typing import Final

from sottovoce.collector.api.service import Service
from sottovoce.collector.surveys.listing import PAGE_SURVEYS
from sottovoce.collector.surveys.log import not_in_log
from sottovoce.core.signing import fingerprint, to_base64url
from sottovoce.protocol.base import Digest, SurveyId
from sottovoce.protocol.log import BlockNumber, ConsistencyProof, LogEntries, LogProof, LogSize, Position
from sottovoce.protocol.surveys import Envelope, KeyAnswer, Surveys
from sottovoce.service.http.response import Response, json_response
from sottovoce.service.http.route import Page, check_page, route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.statement import is_digest

__all__ = ["PAGE_ENTRIES", "ROUTES"]

_FOR_EVER: Final = "public, max-age=31536000, immutable"
_BRIEFLY: Final = "public, max-age=10"


@route("GET", "/v1/key", responses={200: KeyAnswer}, for_devices=True, at_intake=True)
async def get_key(service: Service) -> Response:
    """The public key that signs every survey here."""
    return json_response(KeyAnswer(service.public, fingerprint(service.key.public)), cache=_BRIEFLY)


@route(
    "GET",
    "/v1/surveys",
    responses={200: Surveys},
    errors={404: "the list ends before that page", 503: "the database is unavailable; try again later"},
    for_devices=True,
    is_shared=True,
)
async def list_surveys(service: Service, page: Page = 1) -> Response:
    """Surveys that are open or sealed, oldest first, on pages of a thousand."""
    check_page(page, await service.wait_for_store(service.listed.refresh), PAGE_SURVEYS)
    return Response(await service.wait_for_store(service.listed.page, page))


@route("GET", "/v1/surveys/{survey_id}", for_devices=True, at_intake=True)
async def get_survey(service: Service, survey_id: SurveyId) -> Envelope:
    """A survey as it was signed, or a round."""
    return await service.wait_for_store(_envelope, service, survey_id)


@route(
    "GET",
    "/v1/surveys/{survey_id}/rounds/latest",
    errors={
        404: "the survey does not exist, or no round was opened yet: ask again later",
        409: "the survey is not a panel",
    },
    for_devices=True,
    at_intake=True,
)
async def get_latest_round(service: Service, survey_id: SurveyId) -> Envelope:
    """The round of a panel that was opened last, as it was signed: every device asks for the same one."""
    return await service.wait_for_store(_latest_round, service, survey_id)


@route(
    "GET",
    "/v1/attachments/{digest}",
    responses={200: "application/octet-stream"},
    errors={404: "no attachment has that digest", 503: "the database is unavailable; try again later"},
    for_devices=True,
    at_intake=True,
)
async def get_attachment(service: Service, digest: Digest) -> Response:
    """What a survey names by its SHA-256."""
    content = await service.wait_for_store(service.store.attachment, digest) if is_digest(digest) else None
    if content is None:
        message = "no attachment has that digest: 64 hexadecimal digits in lower case"
        raise Refusal(404, "unknown_attachment", message)
    return Response(content, "application/octet-stream", cache=_FOR_EVER)


def _envelope(service: Service, survey_id: str) -> Envelope:
    return service.envelope(service.record(survey_id))


def _latest_round(service: Service, survey_id: str) -> Envelope:
    parent = service.record(survey_id)
    service.panel(parent)
    record = service.store.latest_round(parent.id)
    if record is None:
        message = f"no round of survey {parent.id[:12]} has been opened yet; ask again later"
        raise Refusal(404, "round_not_open", message)
    return service.envelope(record)


PAGE_ENTRIES: Final = 1000
"""Most entries of one response."""

_BEHIND: Final = "the database is unavailable, or does not continue the log that was signed; try again later"


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
    return json_response(ConsistencyProof(old, new, [to_base64url(node) for node in proof]))


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


@route(
    "GET",
    "/v1/log/statements/{survey_id}",
    responses={200: "application/json"},
    errors={
        404: "the log has no such entry",
        410: "the survey was deleted by an earlier version, which kept no statements",
        503: "the database is unavailable; try again later",
    },
    for_devices=True,
    at_intake=True,
)
async def get_statement(service: Service, survey_id: SurveyId) -> Response:
    """The statement behind an entry of the log, by its SHA-256: canonical bytes that stay as long as the entry does."""
    statement = await service.wait_for_store(service.store.statement, survey_id) if is_digest(survey_id) else None
    if statement is None:
        raise not_in_log()
    if not statement:
        message = f"survey {survey_id[:12]} was deleted by an earlier version, which kept no statements"
        raise Refusal(410, "statement_gone", message)
    return Response(statement, "application/json", cache=_FOR_EVER)


ROUTES: Final = (
    get_key,
    list_surveys,
    get_survey,
    get_latest_round,
    get_attachment,
    get_checkpoint,
    list_log_entries,
    get_consistency,
    get_log_proof,
    get_statement,
)
