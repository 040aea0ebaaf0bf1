"""A collector as a device sees it: surveys it believes only after checking every byte, and a place to send reports.

The order matters: key, signature and id are checked over the bytes as they came, before anything in them is read.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar, final

import msgspec

from sottovoce.client.effort import ANALYST, Effort
from sottovoce.client.http import BAD_ANSWER, Http
from sottovoce.client.patience import Patience
from sottovoce.client.text import one_line
from sottovoce.errors import MismatchError, ServiceError, SignatureError, SottovoceError, SurveyError
from sottovoce.signing import PUBLIC_KEY_BYTES, SIGNATURE_BYTES, fingerprint, from_base64url, verify
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import is_digest
from sottovoce.surveys.survey import Survey
from sottovoce.wire import BATCH_MEDIA_TYPE, encode_batch

__all__ = ["Collector", "Listed", "Published", "check_survey_id"]

T = TypeVar("T")

ROUND_NOT_OPEN: Final = "round_not_open"

_MOST_ATTACHMENTS: Final = 4


class Listed(msgspec.Struct, frozen=True):
    """A survey as the collector lists it; nobody has signed this, so it only helps to find the id."""

    id: str
    title: str
    kind: str
    epsilon: float
    state: str
    delta: Annotated[float, msgspec.Meta(ge=0, lt=1)] | None = None
    """None where the collector does not say."""


class _List(msgspec.Struct, frozen=True):
    surveys: list[Listed]


class _Envelope(msgspec.Struct, frozen=True):
    id: str
    statement: str
    signature: str
    key: str
    attachments: list[str]
    state: str


@final
@dataclass(frozen=True)
class Published:
    """A survey that was checked, by whom it was signed, and whether it takes reports, which nobody has signed."""

    survey: Survey | Panel
    key: bytes
    state: str


def check_survey_id(survey_id: object) -> str:
    """A survey's id, if it can be one.

    Examples
    --------
    >>> check_survey_id("colours")
    Traceback (most recent call last):
    sottovoce.errors.SurveyError: a survey's id is 64 hexadecimal digits ...
    """
    if isinstance(survey_id, str) and is_digest(survey_id):
        return survey_id
    raise SurveyError("a survey's id is 64 hexadecimal digits in small letters: the SHA-256 of its canonical JSON")


@final
class Collector:
    """Reads and checks what a collector publishes, and hands it reports.

    Parameters
    ----------
    http
        How it is reached.
    patience
        How often a request is tried.
    effort
        How much is read and unpacked.
    """

    def __init__(self, http: Http, patience: Patience | None = None, effort: Effort = ANALYST) -> None:
        self._http = http
        self._effort = effort
        self._patience = Patience() if patience is None else patience

    def __repr__(self) -> str:
        return f"<Collector {self.url}>"

    @property
    def url(self) -> str:
        """Its address, in the one spelling."""
        return self._http.url

    def close(self) -> None:
        """Give back idle connections."""
        self._http.close()

    def surveys(self) -> list[Listed]:
        """What may be answered, as the collector has it."""
        return self._get("/v1/surveys", _List).surveys

    def survey(self, survey_id: str, trusted: bytes | None) -> Published:
        """The survey of that id, if it was signed with the trusted key; with its own where none is trusted yet.

        Raises
        ------
        SignatureError
            If key, signature or id are wrong, or the statement is not written the one way it can be.
        SurveyError
            If it is signed and cannot be answered: an unknown mechanism, a parameter out of range.
        ServiceError
            If the collector cannot be reached, or its answer is none.
        """
        return self._checked(self._envelope(survey_id), trusted)

    def check_key(self, survey_id: str, key: bytes) -> None:
        """Raise `SignatureError` unless the survey of that id is there, signed with this key; it is not read."""
        self._signed(self._envelope(survey_id), key)

    def round(self, parent: Panel, number: int, trusted: bytes) -> Published | None:
        """The round of that number, if it is open and belongs to this very panel; None while it is not open."""
        try:
            envelope = self._get(f"/v1/surveys/{parent.id}/rounds/{number}", _Envelope)
        except ServiceError as error:
            if error.code != ROUND_NOT_OPEN:
                raise
            return None
        found = self._checked(envelope, trusted)
        seat = found.survey.seat if isinstance(found.survey, Survey) else None
        if seat is None or seat.panel.id != parent.id or seat.round != number:
            raise MismatchError(f"the collector answered with something else than round {number} of {parent.id[:12]}")
        return found

    def send(self, survey_id: str, report_id: bytes, report: bytes) -> None:
        """Hand over one report; on return the collector has it for good."""
        body = encode_batch(survey_id, [(report_id, report)])
        path = f"/v1/surveys/{survey_id}/reports"
        answer = self._patience.ask(lambda: self._http.post(path, body=body, content_type=BATCH_MEDIA_TYPE))
        if not isinstance(answer, dict) or type(answer.get("accepted")) is not int or answer["accepted"] != 1:
            # Somebody between the two may answer anything with 200; only these words mean that the report was kept.
            raise ServiceError("the collector's answer does not say that it has accepted the report", BAD_ANSWER)

    def _get(self, path: str, kind: type[T]) -> T:
        most = self._effort.envelope_bytes
        return _as(self._patience.ask(lambda: self._http.get(path, most=most, kind=kind)), kind)

    def _envelope(self, survey_id: str) -> _Envelope:
        envelope = self._get(f"/v1/surveys/{check_survey_id(survey_id)}", _Envelope)
        if envelope.id != survey_id:
            raise SignatureError(f"the collector answered with another survey than {survey_id[:12]}")
        return envelope

    def _checked(self, envelope: _Envelope, trusted: bytes | None) -> Published:
        key, statement = self._signed(envelope, trusted)
        survey = _read(statement, self._attachments(envelope))
        if survey.canonical != statement:
            raise SignatureError("the survey's statement is not canonical JSON, so its id would not be its own")
        return Published(survey, key, envelope.state)

    def _signed(self, envelope: _Envelope, trusted: bytes | None) -> tuple[bytes, bytes]:
        """The key and the statement, once the signature and the id are right; nothing in the statement is read."""
        key = from_base64url(envelope.key, PUBLIC_KEY_BYTES)
        if trusted is not None and key != trusted:
            raise SignatureError(
                f"the collector at {self.url} now signs with the key {fingerprint(key)[:16]}; this device trusts "
                f"{fingerprint(trusted)[:16]} only. Nothing was sent: ask the collector's owner, by another way, "
                "whether the key was changed"
            )
        statement = _utf8(envelope.statement)
        self._effort.check_statement(statement)
        verify(key, statement, from_base64url(envelope.signature, SIGNATURE_BYTES))
        if hashlib.sha256(statement).hexdigest() != envelope.id:
            raise SignatureError("the survey's id is not the SHA-256 of its statement")
        return key, statement

    def _attachments(self, envelope: _Envelope) -> dict[str, bytes]:
        """What the statement names by a digest; reading the statement checks them against it."""
        named = [digest for digest in envelope.attachments if f'"{digest}"' in envelope.statement]
        if len(named) > _MOST_ATTACHMENTS or not all(is_digest(digest) for digest in named):
            raise ServiceError("the survey's attachments are too many, or not named by digests", BAD_ANSWER)
        return {digest: self._attachment(digest) for digest in named}

    def _attachment(self, digest: str) -> bytes:
        path, most = f"/v1/attachments/{digest}", self._effort.attachment_bytes
        found = self._patience.ask(lambda: self._http.get_bytes(path, most=most))
        self._effort.check_attachment(found)
        return found


def _as(answer: Any, kind: type[T]) -> T:
    """What `Http` has read is of the kind already; an answer that came another way is checked here."""
    try:
        return msgspec.convert(answer, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ServiceError(f"the collector's answer is not what it must be: {error}", BAD_ANSWER) from error


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        pass
    raise SignatureError("the survey's statement is not valid Unicode text")


def _read(statement: bytes, attachments: dict[str, bytes]) -> Survey | Panel:
    try:
        return Survey.from_json(statement, attachments)
    except SottovoceError as error:
        error.args = (one_line(str(error), 500),)  # it may repeat a label of a million letters, or an escape sequence
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError) as error:
        # Signed nonsense that no check foresaw is still nonsense, not this program's failure.
        raise SurveyError(f"the survey cannot be read ({type(error).__name__}); nothing was answered") from error
