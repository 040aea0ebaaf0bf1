"""Publishing a survey and opening a round: read strictly, sign, store. Published surveys never change.

A relay at the collector's own address separates nothing; devices refuse such a survey, so it is never published.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import rfc8785

from sottovoce.adaptive.answer import n_choices
from sottovoce.collector.api.service import Service
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.collector.surveys.keeper import moment_of
from sottovoce.collector.surveys.published import PublishedSurvey, signed_record
from sottovoce.core.errors import MismatchError, SurveyError
from sottovoce.core.limits import MAX_CELLS
from sottovoce.formats.sharded import in_parts
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.surveys import Envelope, Publication, RoundOpening
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Response, json_response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.statement import parse_json
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["MAX_PUBLICATION_BYTES", "OWN_RELAY", "ROUTES", "is_own_relay"]

OWN_RELAY: Final = (
    "the relay is at the collector's own address, and so separates nothing: devices refuse such a survey; name a relay "
    "that somebody else runs, at another address"
)

_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


def is_own_relay(relay: Relay | None, request: Request) -> bool:
    """Whether the relay has the host and port at which the collector was asked, or that it tells people."""
    if relay is None:
        return False
    scheme = urlsplit(relay.url).scheme
    asked = f"{scheme}://{request.header(b'host') or ''}"
    return _place(relay.url, scheme) in {_place(url, scheme) for url in (asked, request.service.settings.public_url)}


def _place(url: str, scheme: str) -> tuple[str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme or scheme)
    except ValueError:  # a Host header may be anything
        return None, None


MAX_PUBLICATION_BYTES: Final = 2**27
"""Longest body of an analyst, whose attachments may be long; devices' bodies have a limit of their own."""

_STANDARD: Final = str.maketrans("-_", "+/")

_ERRORS: Final = {
    422: "the statement is not a survey that could be published",
    503: "the database is unavailable, or does not continue the log of surveys; nothing was stored",
    507: "the disk is full; nothing was stored",
}


@route(
    "POST",
    "/v1/surveys",
    scopes=("publish",),
    responses={201: Envelope, 200: Envelope},
    errors={**_ERRORS, 409: "the survey was deleted, which cannot be undone"},
    max_bytes=MAX_PUBLICATION_BYTES,
)
async def publish_survey(service: Service, request: Request, body: Publication) -> Response:
    """Sign and publish a survey; the same one again changes nothing."""
    envelope, new = await service.compute(_publish, service, request, body)
    return json_response(envelope, 201 if new else 200)


@route(
    "POST",
    "/v1/surveys/{survey_id}/rounds",
    scopes=("ask",),
    responses={201: Envelope, 200: Envelope},
    errors={
        **_ERRORS,
        409: "the survey is not a panel or is sealed, another question is that round already, or an earlier round is "
        "missing or still open",
    },
    max_bytes=MAX_PUBLICATION_BYTES,
)
async def open_round(service: Service, survey_id: SurveyId, body: RoundOpening) -> Response:
    """Sign and open the next round of a panel; the same one again changes nothing."""
    envelope, new = await service.compute(_open, service, survey_id, body)
    return json_response(envelope, 201 if new else 200)


def _publish(service: Service, request: Request, given: Publication) -> tuple[Envelope, bool]:
    attachments = _decoded(given.attachments)
    survey = _read(given.statement, attachments)
    seat = survey.seat if isinstance(survey, Survey) else None
    if seat is not None:
        raise Refusal(
            422,
            "round_of_a_panel",
            f"this is a round of panel {seat.panel.id[:12]}; open it at /v1/surveys/{seat.panel.id}/rounds",
            field="statement",
        )
    if isinstance(survey, Survey) and survey.period is not None:
        raise Refusal(
            422,
            "period_of_a_survey",
            f"this is one period ({survey.period.label}) of a tracking survey; publish that, and its periods open by "
            "themselves",
            field="statement",
        )
    if isinstance(survey, Survey) and survey.group is not None:
        raise Refusal(
            422,
            "group_of_a_survey",
            f"this is one group ({survey.group.label}) of a survey; publish that, and its groups open by themselves",
            field="statement",
        )
    if not isinstance(survey, Panel) and is_own_relay(survey.relay, request):
        raise Refusal(422, "own_relay", OWN_RELAY, field="statement")
    if set(attachments) != set(survey.attachments):
        raise Refusal(
            422,
            "unexpected_attachment",
            f"this survey names {len(survey.attachments)} attachments; send exactly those it names",
            field="attachments",
        )
    _check_countable(survey)
    minimum = _minimum(given.minimum_reports, service.settings.minimum_reports)
    if isinstance(survey, Tracking):
        _check_starts(service, survey)
    record = signed_record(service.key, survey, service.epoch(), minimum)
    # As the survey packs them itself: the digest is of what they hold, and only that has been checked.
    envelope, new = _kept(service, record, survey.attachments)
    if isinstance(survey, Tracking):
        service.keeper.advance(survey.id)  # its first period may begin today
    return envelope, new


def _open(service: Service, survey_id: str, given: RoundOpening) -> tuple[Envelope, bool]:
    parent = service.record(survey_id)
    service.panel(parent)
    asked = _read(given.statement, {})
    seat = asked.seat if isinstance(asked, Survey) else None
    if not isinstance(asked, Survey) or seat is None or seat.panel.id != parent.id:
        raise Refusal(
            422, "foreign_round", f"the statement must be of a round of panel {parent.id[:12]}", field="statement"
        )
    choices = n_choices(asked)
    if given.labels and (len(given.labels) != choices or len(set(given.labels)) != choices):
        raise Refusal(
            422,
            "invalid_labels",
            f"labels must name each of the {choices} choices once, or be left out",
            field="labels",
        )
    minimum = _minimum(given.minimum_reports, parent.minimum_reports)
    labels = tuple(given.labels)
    signed = signed_record(service.key, asked, service.epoch(), minimum, parent.id, seat.round, labels)
    try:
        return _kept(service, signed, {})
    except MismatchError as error:
        raise Refusal(409, "round_not_next", str(error)) from None


def _decoded(given: Mapping[str, str]) -> dict[str, bytes]:
    attachments = {}
    for digest, text in given.items():
        bare = text.translate(_STANDARD).rstrip("=")
        try:
            attachments[digest] = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        except ValueError:
            raise Refusal(422, "wrong_attachment", "an attachment is not base64", field="attachments") from None
    return attachments


def _read(statement: str, attachments: Mapping[str, bytes]) -> PublishedSurvey:
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


def _check_countable(survey: PublishedSurvey) -> None:
    """Refuse now what neither a worker nor an engine could ever count."""
    if isinstance(survey, Panel):
        return
    mechanism = survey.once.mechanism if isinstance(survey, Tracking) else survey.mechanism
    if mechanism.cells > MAX_CELLS and not in_parts(mechanism):
        raise Refusal(
            422,
            "too_many_counters",
            f"counting its reports takes {mechanism.cells:,} counters, above the {MAX_CELLS:,} that one process "
            "keeps; use a smaller domain or dimension",
            field="statement",
        )


def _minimum(given: int | None, floor: int) -> int:
    """How many reports an estimate takes: a publisher may ask for more than the operator does, never fewer."""
    if given is not None and given < floor:
        raise Refusal(
            422,
            "minimum_too_low",
            f"minimum_reports must be {floor:,} or more here, or be left out",
            field="minimum_reports",
        )
    return floor if given is None else given


def _check_starts(service: Service, tracking: Tracking) -> None:
    """Refuse a start that has passed; the same survey again is not refused later for having begun."""
    today, starts = moment_of(service.keeper.now()).date(), tracking.calendar.starts
    if starts < today and service.store.survey(tracking.id) is None:
        raise Refusal(
            422,
            "start_in_the_past",
            f"starts is {starts}, and today is {today} by the collector's clock (UTC): choose today or a later day",
            field="starts",
        )


def _kept(service: Service, record: SurveyRecord, attachments: Mapping[str, bytes]) -> tuple[Envelope, bool]:
    service.log.check()
    before = service.store.survey(record.id)
    standing = service.store.publish(record, attachments)
    if standing.state == "deleted":
        raise Refusal(
            409, "survey_deleted", f"survey {record.id[:12]} was deleted and cannot come back; change its title"
        )
    return service.envelope(standing), before is None


ROUTES: Final = (publish_survey, open_round)
