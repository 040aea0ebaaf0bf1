"""What devices fetch: the key, the surveys, the rounds, the attachments. Open to everybody."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.collector.api.answer import Answer, json_answer
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import Envelope, KeyAnswer, SurveyEntry, Surveys
from sottovoce.collector.failures import Refused
from sottovoce.signing import fingerprint
from sottovoce.surveys.statement import is_digest

__all__ = ["ROUTES"]

_ROUND: Final = re.compile(r"[1-9][0-9]{0,8}")

_FOR_EVER: Final = "public, max-age=31536000, immutable"
_BRIEFLY: Final = "public, max-age=10"

_AWAY: Final = {503: "the database is away; try again later"}
_GONE: Final = {404: "there is no such survey", 410: "the survey has been deleted", **_AWAY}


@route(
    "GET",
    "/v1/key",
    Operation("get_key", "The public key that signs every survey here.", {200: KeyAnswer}, devices=True),
)
async def get_key(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(KeyAnswer(service.public, fingerprint(service.key.public)), keep=_BRIEFLY)


@route(
    "GET",
    "/v1/surveys",
    Operation("list_surveys", "All surveys that are open or sealed.", {200: Surveys}, _AWAY, devices=True),
)
async def list_surveys(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(await service.ask(_listed, service))


def _listed(service: Service) -> Surveys:
    """Statements are read for it, which may be long: not on the event loop."""
    return Surveys(
        [SurveyEntry(one.id, one.title, one.kind, one.epsilon, one.delta, one.state) for one in service.store.surveys()]
    )


@route(
    "GET",
    "/v1/surveys/{survey_id:str}",
    Operation("get_survey", "A survey as it was signed, or a round.", {200: Envelope}, _GONE, devices=True),
)
async def get_survey(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(await service.ask(_envelope, service, request.path_params["survey_id"]))


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/rounds/{round_number:str}",
    Operation(
        "get_round",
        "One round of a panel, as it was signed.",
        {200: Envelope},
        {
            **_GONE,
            404: "there is no such survey, or the round is not open yet: ask again later",
            409: "the survey is not adaptive",
        },
        devices=True,
    ),
)
async def get_round(request: AnyRequest) -> Answer:
    service, found = service_of(request), request.path_params
    return json_answer(await service.ask(_round, service, found["survey_id"], found["round_number"]))


@route(
    "GET",
    "/v1/attachments/{digest:str}",
    Operation(
        "get_attachment",
        "What a survey names by its SHA-256.",
        {200: "application/octet-stream"},
        {404: "nothing here has that digest", **_AWAY},
        devices=True,
    ),
)
async def get_attachment(request: AnyRequest) -> Answer:
    service, digest = service_of(request), request.path_params["digest"]
    found = await service.ask(service.store.attachment, digest) if is_digest(digest) else None
    if found is None:
        raise Refused(404, "unknown_attachment", "nothing here has that digest: 64 hexadecimal digits in lower case")
    return Answer(found, "application/octet-stream", keep=_FOR_EVER)


def _envelope(service: Service, survey_id: str) -> Envelope:
    return service.envelope(service.record(survey_id))


def _round(service: Service, survey_id: str, number: str) -> Envelope:
    parent = service.record(survey_id)
    rounds = service.adaptive(parent).rounds
    if not _ROUND.fullmatch(number) or int(number) > rounds:
        raise Refused(404, "unknown_round", f"survey {parent.id[:12]} has the rounds 1 to {rounds}, and no other")
    for record in service.store.rounds(parent.id):
        if record.round == int(number):
            return service.envelope(record)
    raise Refused(
        404, "round_not_open", f"round {number} of survey {parent.id[:12]} has not been opened yet; ask again later"
    )


ROUTES: Final = (get_key, list_surveys, get_survey, get_round, get_attachment)
