"""What devices fetch: the key, the surveys, the rounds, the attachments. Open to everybody."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.collector.api.paging import Page, check_page
from sottovoce.collector.api.service import Service
from sottovoce.collector.reading.survey_list import PAGE_SURVEYS
from sottovoce.core.signing import fingerprint
from sottovoce.protocol.base import Digest, RoundNumber, SurveyId
from sottovoce.protocol.surveys import Envelope, KeyAnswer, Surveys
from sottovoce.service.http.response import Response, json_response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.statement import is_digest

__all__ = ["ROUTES"]

_ROUND: Final = re.compile(r"[1-9][0-9]{0,8}")

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
    "/v1/surveys/{survey_id}/rounds/{round_number}",
    errors={
        404: "there is no such survey, or the round is not open yet: ask again later",
        409: "the survey is not adaptive",
    },
    for_devices=True,
    at_intake=True,
)
async def get_round(service: Service, survey_id: SurveyId, round_number: RoundNumber) -> Envelope:
    """One round of a panel, as it was signed."""
    return await service.wait_for_store(_round, service, survey_id, round_number)


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
    found = await service.wait_for_store(service.store.attachment, digest) if is_digest(digest) else None
    if found is None:
        message = "no attachment has that digest: 64 hexadecimal digits in lower case"
        raise Refusal(404, "unknown_attachment", message)
    return Response(found, "application/octet-stream", cache=_FOR_EVER)


def _envelope(service: Service, survey_id: str) -> Envelope:
    return service.envelope(service.record(survey_id))


def _round(service: Service, survey_id: str, number: str) -> Envelope:
    parent = service.record(survey_id)
    rounds = service.panel(parent).rounds
    if not _ROUND.fullmatch(number) or int(number) > rounds:
        raise Refusal(404, "unknown_round", f"survey {parent.id[:12]} has the rounds 1 to {rounds}, and no other")
    for record in service.store.rounds(parent.id):
        if record.round == int(number):
            return service.envelope(record)
    raise Refusal(
        404, "round_not_open", f"round {number} of survey {parent.id[:12]} has not been opened yet; ask again later"
    )


ROUTES: Final = (get_key, list_surveys, get_survey, get_round, get_attachment)
