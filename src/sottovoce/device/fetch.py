"""The client of a collector: fetches and verifies surveys, and sends reports.

The order matters: key, signature and id are verified over the received bytes before these are parsed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar, final

import msgspec

from sottovoce.core.errors import (
    MismatchError,
    ServiceError,
    SignatureError,
    SottovoceError,
    SurveyError,
    TransparencyError,
)
from sottovoce.core.signing import PUBLIC_KEY_BYTES, SIGNATURE_BYTES, fingerprint, from_base64url, verify
from sottovoce.core.text import one_line
from sottovoce.device.effort import ANALYST, Effort
from sottovoce.device.foreign import check_foreign_allowed
from sottovoce.device.http import BAD_ANSWER, LONGEST_ANSWER, Patience, check_confirmed
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.protocol.log import LogProof
from sottovoce.protocol.surveys import Envelope, ListedSurvey, ListedSurveys, TimeAnswer
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import is_beginning, is_digest
from sottovoce.surveys.survey import Survey, Tracking

__all__ = [
    "CollectorClient",
    "CollectorConnection",
    "LatestRound",
    "Published",
    "check_survey_id",
    "find_listed",
    "read_survey",
]

T = TypeVar("T")

ROUND_NOT_OPEN: Final = "round_not_open"

NOT_IN_LOG: Final = "not_in_log"

NO_SUCH_PAGE: Final = "no_such_page"

_MOST_PAGES: Final = 1000
"""A collector that names more is not followed for ever."""

_MOST_ATTACHMENTS: Final = 4

_MOST_SHOWN: Final = 8


@final
@dataclass(frozen=True)
class Published:
    """A verified survey, the key that signed it, and its state, which is unsigned."""

    survey: Survey | Panel | Tracking
    key: bytes
    state: str


@final
@dataclass(frozen=True)
class LatestRound:
    """The round of a panel that was opened last."""

    published: Published
    survey: Survey
    number: int


def check_survey_id(survey_id: object) -> str:
    """Return a survey's id if it is well formed.

    Examples
    --------
    >>> check_survey_id("colours")
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: a survey's id is 64 lowercase hexadecimal digits...
    """
    if isinstance(survey_id, str) and is_digest(survey_id):
        return survey_id
    raise SurveyError("a survey's id is 64 lowercase hexadecimal digits, the SHA-256 of its canonical JSON")


class CollectorConnection(Protocol):
    """How requests reach the collector: directly (`Http`), or through a relay (`ObliviousHttp`)."""

    url: str

    def get(
        self, path: str, params: Mapping[str, object] | None = None, *, most: int = LONGEST_ANSWER, kind: Any = Any
    ) -> Any: ...

    def get_bytes(
        self, path: str, params: Mapping[str, object] | None = None, *, most: int = LONGEST_ANSWER
    ) -> bytes: ...

    def post(self, path: str, json: object = None, *, body: bytes | None = None, content_type: str = ...) -> Any: ...

    def close(self) -> None: ...


@final
class CollectorClient:
    """Fetches and verifies what a collector publishes, and sends it reports.

    Parameters
    ----------
    http
        The connection.
    patience
        The policy by which requests are retried.
    effort
        Limits on what is read and unpacked.
    """

    def __init__(self, http: CollectorConnection, patience: Patience | None = None, effort: Effort = ANALYST) -> None:
        self._http = http
        self._effort = effort
        self._patience = Patience() if patience is None else patience

    def __repr__(self) -> str:
        return f"<CollectorClient {self.url}>"

    @property
    def url(self) -> str:
        """Its address in canonical form."""
        return self._http.url

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

    def surveys(self) -> list[ListedSurvey]:
        """The collector's list of surveys, unverified; at most a million of them."""
        first = self._get("/v1/surveys", ListedSurveys)
        by_id = {listed.id: listed for listed in first.surveys}
        for page in range(2, min(first.pages, _MOST_PAGES) + 1):
            try:
                by_id |= {listed.id: listed for listed in self._get(f"/v1/surveys?page={page}", ListedSurveys).surveys}
            except ServiceError as error:
                if error.code != NO_SUCH_PAGE:
                    raise
                break  # some were deleted meanwhile
        return list(by_id.values())

    def survey(self, survey_id: str, trusted: bytes | None, allowed: Collection[str] | None = None) -> Published:
        """The survey of that id, verified with the trusted key, or with its own if there is none yet.

        `allowed` names the mechanisms of other packages that it may have: any other is refused before its package is
        imported. None allows all that are installed.

        Raises
        ------
        SignatureError
            If key, signature or id are wrong, or the statement is not in canonical form.
        SurveyError
            If it is signed but invalid: an unknown mechanism, a parameter out of range.
        ServiceError
            If the collector cannot be reached, or its response is invalid.
        """
        return self._checked(self._envelope(survey_id), trusted, allowed)

    def check_key(self, survey_id: str, key: bytes) -> None:
        """Raise `SignatureError` unless the survey of that id is signed with this key; it is not parsed."""
        self._signed(self._envelope(survey_id), key)

    def latest_round(self, parent: Panel, trusted: bytes, allowed: Collection[str] | None = None) -> LatestRound | None:
        """The round of this panel that was opened last; None before the first. `allowed`: see `survey`.

        The request names no round: one that did would tell the collector which round a device has drawn.
        """
        try:
            envelope = self._get(f"/v1/surveys/{parent.id}/rounds/latest", Envelope)
        except ServiceError as error:
            if error.code != ROUND_NOT_OPEN:
                raise
            return None
        published = self._checked(envelope, trusted, allowed)
        survey = published.survey
        if not isinstance(survey, Survey) or survey.seat is None or survey.seat.panel.id != parent.id:
            raise MismatchError(f"the collector did not send a round of panel {parent.id[:12]}")
        return LatestRound(published, survey, survey.seat.round)

    def log_proof(self, survey_id: str, block: int) -> LogProof | None:
        """What the collector's log proves of a survey; None if it has no log.

        Raises
        ------
        TransparencyError
            If its log does not have the survey.
        """
        try:
            return self._get(f"/v1/log/proofs/{check_survey_id(survey_id)}?block={block}", LogProof)
        except ServiceError as error:
            if error.code == NOT_IN_LOG:
                problem = f"survey {survey_id[:12]} is not in the log of the collector at {self.url}"
            elif error.status in (404, 405):
                return None
            else:
                raise
        raise TransparencyError(
            f"{problem}: others cannot see that it is asked. Nothing was answered; ask the collector's operator, "
            "through another channel"
        )

    def statement(self, survey_id: str) -> bytes | None:
        """The statement that the log has under this hash, as anybody can fetch it; None if it is not there."""
        return self._content(f"/v1/log/statements/{check_survey_id(survey_id)}", self._effort.statement_bytes)

    def attachment(self, digest: str) -> bytes | None:
        """The attachment of that digest, not yet verified; None if it is not there."""
        return self._content(f"/v1/attachments/{digest}", self._effort.attachment_bytes)

    def time(self) -> datetime:
        """The time by the collector's clock."""
        now = _as(self._get("/v1/time", TimeAnswer).now, datetime)
        if now.tzinfo is None:
            raise ServiceError("the collector's response is invalid: its time has no zone", BAD_ANSWER)
        return now

    def send(self, survey_id: str, report_id: bytes, report: bytes) -> None:
        """Send one report; on return it is durable at the collector."""
        body = encode_batch(survey_id, [(report_id, report)])
        path = f"/v1/surveys/{survey_id}/reports"
        answer = self._patience.ask(lambda: self._http.post(path, body=body, content_type=BATCH_MEDIA_TYPE))
        check_confirmed(answer)

    def _get(self, path: str, kind: type[T]) -> T:
        most = self._effort.envelope_bytes
        return _as(self._patience.ask(lambda: self._http.get(path, most=most, kind=kind)), kind)

    def _content(self, path: str, most: int) -> bytes | None:
        """The bytes under a path; None if there are none."""
        try:
            return self._patience.ask(lambda: self._http.get_bytes(path, most=most))
        except ServiceError as error:
            if error.status not in (404, 405, 410):
                raise
        return None

    def _envelope(self, survey_id: str) -> Envelope:
        envelope = self._get(f"/v1/surveys/{check_survey_id(survey_id)}", Envelope)
        if envelope.id != survey_id:
            raise SignatureError(f"the collector sent another survey than {survey_id[:12]}")
        return envelope

    def _checked(self, envelope: Envelope, trusted: bytes | None, allowed: Collection[str] | None) -> Published:
        key, statement = self._signed(envelope, trusted)
        survey = read_survey(statement, self._attachments(envelope), allowed)
        if survey.canonical != statement:
            raise SignatureError("the survey's statement is not canonical JSON")
        return Published(survey, key, envelope.state)

    def _signed(self, envelope: Envelope, trusted: bytes | None) -> tuple[bytes, bytes]:
        """The key and the statement, after signature and id are verified; the statement is not parsed."""
        key = from_base64url(envelope.key, PUBLIC_KEY_BYTES)
        if trusted is not None and key != trusted:
            raise SignatureError(
                f"the collector at {self.url} signs with the key {fingerprint(key)[:16]}, but this device trusts only "
                f"{fingerprint(trusted)[:16]}. Nothing was sent; ask its operator, through another channel, "
                "whether the key has changed"
            )
        statement = _utf8(envelope.statement)
        self._effort.check_statement(statement)
        verify(key, statement, from_base64url(envelope.signature, SIGNATURE_BYTES))
        if hashlib.sha256(statement).hexdigest() != envelope.id:
            raise SignatureError("the survey's id is not the SHA-256 of its statement")
        return key, statement

    def _attachments(self, envelope: Envelope) -> dict[str, bytes]:
        """The attachments that the statement names by digest; parsing it verifies them."""
        named = [digest for digest in envelope.attachments if f'"{digest}"' in envelope.statement]
        if len(named) > _MOST_ATTACHMENTS or not all(is_digest(digest) for digest in named):
            raise ServiceError("the survey has too many attachments, or names that are not digests", BAD_ANSWER)
        return {digest: self._attachment(digest) for digest in named}

    def _attachment(self, digest: str) -> bytes:
        path, most = f"/v1/attachments/{digest}", self._effort.attachment_bytes
        attachment = self._patience.ask(lambda: self._http.get_bytes(path, most=most))
        self._effort.check_attachment(attachment)
        return attachment


def _as(answer: Any, kind: type[T]) -> T:
    """Convert a response that `Http` has not converted already."""
    try:
        return msgspec.convert(answer, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ServiceError(f"the collector's response is invalid: {error}", BAD_ANSWER) from error


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    raise SignatureError("the survey's statement is not valid Unicode text")


def read_survey(
    statement: bytes, attachments: dict[str, bytes], allowed: Collection[str] | None
) -> Survey | Panel | Tracking:
    """Parse a statement whose signature is verified; a mechanism that is not allowed is not loaded."""
    try:
        if allowed is not None:
            check_foreign_allowed(statement, allowed)
        return Survey.from_json(statement, attachments)
    except SottovoceError as error:
        error.args = (one_line(str(error), 500),)  # it may quote a very long label or an escape sequence
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        # Signed but invalid in a way that no check covers: still an invalid survey, not a failure of this program.
        raise SurveyError(f"the survey cannot be read ({type(error).__name__}); nothing was answered") from error


def find_listed(collector: CollectorClient, wanted: str) -> str:
    """The id of the named survey. The list is unsigned; the survey is verified before it is used."""
    if not wanted:
        raise SurveyError("no survey is given; name it by title or id").at("survey")
    matches = {
        listed.id
        for listed in collector.surveys()
        if is_digest(listed.id) and (listed.title == wanted or is_beginning(wanted, listed.id))
    }
    if len(matches) == 1:
        return matches.pop()
    if matches:
        shown = ", ".join(sorted(matches)[:_MOST_SHOWN]) + (", and more" if len(matches) > _MOST_SHOWN else "")
        raise SurveyError(f"{len(matches)} surveys match; name one by its id: {shown}").at("survey")
    raise SurveyError(
        "the collector has no such survey; give its title, or the first eight or more hexadecimal digits of its id"
    ).at("survey")
