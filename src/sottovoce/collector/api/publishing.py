"""Publishing a survey and opening a round: read strictly, sign, keep. What stands is never changed."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

import msgspec
import rfc8785

from sottovoce.adaptive.rounds import n_choices
from sottovoce.collector.api.answer import JSON, Answer, json_answer
from sottovoce.collector.api.body import read_json
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import Envelope, Publication, RoundOpening
from sottovoce.collector.failures import Refused
from sottovoce.collector.store.base import SurveyRecord
from sottovoce.errors import MismatchError, SurveyError
from sottovoce.limits import MAX_CELLS
from sottovoce.sharded import in_parts
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import parse_json
from sottovoce.surveys.survey import Survey

__all__ = ["MAX_PUBLICATION_BYTES", "ROUTES"]

MAX_PUBLICATION_BYTES: Final = 2**27
"""Longest body of an analyst, whose attachments may be long; devices' bodies have a limit of their own."""

_STANDARD: Final = str.maketrans("-_", "+/")

_publication: Final = msgspec.json.Decoder(Publication)
_opening: Final = msgspec.json.Decoder(RoundOpening)

_REFUSES: Final = {
    400: "the body is no JSON of this shape",
    408: "the body took too long, or was cut off",
    413: "the body is too long",
    415: "the body is not JSON, or compressed",
    422: "the statement is no survey that could be published",
    503: "the database is away; try again later",
    507: "the disk is full; nothing was kept",
}


@route(
    "POST",
    "/v1/surveys",
    Operation(
        "publish_survey",
        "Sign and publish a survey; the same one again changes nothing.",
        {201: Envelope, 200: Envelope},
        {**_REFUSES, 409: "the survey was deleted, which cannot be undone"},
        scopes=("publish",),
        bodies={JSON: Publication},
    ),
)
async def publish_survey(request: AnyRequest) -> Answer:
    service = service_of(request)
    given = await read_json(request, _publication, MAX_PUBLICATION_BYTES, service.settings.body_seconds)
    envelope, new = await service.work(_publish, service, given)
    return json_answer(envelope, 201 if new else 200)


@route(
    "POST",
    "/v1/surveys/{survey_id:str}/rounds",
    Operation(
        "open_round",
        "Sign and open the next round of a panel; the same one again changes nothing.",
        {201: Envelope, 200: Envelope},
        {
            **_REFUSES,
            404: "there is no such survey",
            409: "the survey is not adaptive or is sealed, another question is that round already, or an earlier round "
            "is missing or still open",
            410: "the survey has been deleted",
        },
        scopes=("ask",),
        bodies={JSON: RoundOpening},
    ),
)
async def open_round(request: AnyRequest) -> Answer:
    service = service_of(request)
    given = await read_json(request, _opening, MAX_PUBLICATION_BYTES, service.settings.body_seconds)
    envelope, new = await service.work(_open, service, request.path_params["survey_id"], given)
    return json_answer(envelope, 201 if new else 200)


def _publish(service: Service, given: Publication) -> tuple[Envelope, bool]:
    attachments = _decoded(given.attachments)
    survey = _read(given.statement, attachments)
    seat = survey.seat if isinstance(survey, Survey) else None
    if seat is not None:
        raise Refused(
            422,
            "round_of_a_panel",
            f"this is a round of panel {seat.panel.id[:12]}; open it at /v1/surveys/{seat.panel.id}/rounds",
            field="statement",
        )
    if set(attachments) != set(survey.attachments):
        raise Refused(
            422,
            "unexpected_attachment",
            f"this survey names {len(survey.attachments)} attachments; send exactly those it names",
            field="attachments",
        )
    _check_countable(survey)
    record = _signed(service, survey, _minimum(given.minimum_reports, service.settings.minimum_reports))
    # As the survey packs them itself: the digest is of what they hold, and only that has been checked.
    return _kept(service, record, survey.attachments)


def _open(service: Service, survey_id: str, given: RoundOpening) -> tuple[Envelope, bool]:
    parent = service.record(survey_id)
    service.adaptive(parent)
    asked = _read(given.statement, {})
    seat = asked.seat if isinstance(asked, Survey) else None
    if not isinstance(asked, Survey) or seat is None or seat.panel.id != parent.id:
        raise Refused(
            422, "foreign_round", f"the statement must be of a round of panel {parent.id[:12]}", field="statement"
        )
    choices = n_choices(asked)
    if given.labels and (len(given.labels) != choices or len(set(given.labels)) != choices):
        raise Refused(
            422,
            "invalid_labels",
            f"labels must name each of the {choices} choices once, or be left out",
            field="labels",
        )
    minimum = _minimum(given.minimum_reports, parent.minimum_reports)
    signed = _signed(service, asked, minimum, parent.id, seat.round, tuple(given.labels))
    try:
        return _kept(service, signed, {})
    except MismatchError as error:
        raise Refused(409, "round_not_next", str(error)) from None


def _decoded(given: Mapping[str, str]) -> dict[str, bytes]:
    found = {}
    for digest, text in given.items():
        bare = text.translate(_STANDARD).rstrip("=")
        try:
            found[digest] = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        except ValueError:
            raise Refused(422, "wrong_attachment", "an attachment is no base64", field="attachments") from None
    return found


def _read(statement: str, attachments: Mapping[str, bytes]) -> Survey | Panel:
    """The survey, if this text states it and nothing else."""
    try:
        survey = Survey.from_json(statement, attachments)
        canonical = rfc8785.dumps(parse_json(statement))  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise SurveyError("the survey holds text or numbers that canonical JSON (RFC 8785) cannot hold") from error
    if canonical != survey.canonical:
        raise SurveyError(
            "the survey is not stated as it must be: read it with Survey.from_json and send what its to_json gives"
        )
    return survey


def _check_countable(survey: Survey | Panel) -> None:
    """Refuse now what neither a worker nor an engine could ever count."""
    if isinstance(survey, Survey) and survey.mechanism.cells > MAX_CELLS and not in_parts(survey.mechanism):
        raise Refused(
            422,
            "too_many_counters",
            f"counting its reports takes {survey.mechanism.cells:,} counters, above the {MAX_CELLS:,} that one process "
            "keeps; use a smaller domain or dimension",
            field="statement",
        )


def _minimum(given: int | None, floor: int) -> int:
    """How many reports an estimate takes: whoever publishes may ask for more than the operator does, never fewer."""
    if given is not None and given < floor:
        raise Refused(
            422,
            "minimum_too_low",
            f"minimum_reports must be {floor:,} or more here, or be left out",
            field="minimum_reports",
        )
    return floor if given is None else given


def _signed(
    service: Service,
    survey: Survey | Panel,
    minimum_reports: int,
    parent: str | None = None,
    number: int | None = None,
    labels: tuple[str, ...] = (),
) -> SurveyRecord:
    return SurveyRecord(
        id=survey.id,
        canonical=survey.canonical,
        signature=service.key.sign(survey.canonical),
        title=survey.title,
        kind=survey.kind,
        epsilon=survey.epsilon,
        minimum_reports=minimum_reports,
        epoch=service.epoch(),
        parent=parent,
        round=number,
        labels=labels,
    )


def _kept(service: Service, record: SurveyRecord, attachments: Mapping[str, bytes]) -> tuple[Envelope, bool]:
    before = service.store.survey(record.id)
    standing = service.store.publish(record, attachments)
    if standing.state == "deleted":
        raise Refused(
            409, "survey_deleted", f"survey {record.id[:12]} was deleted and cannot come back; change its title"
        )
    return service.envelope(standing), before is None


ROUTES: Final = (publish_survey, open_round)
