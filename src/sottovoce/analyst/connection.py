"""A connection to a collector: requests with an analyst's token, and verified surveys."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, TypeVar, final

import msgspec

from sottovoce.core.errors import ServiceError, SignatureError
from sottovoce.core.limits import check_integer
from sottovoce.core.signing import PUBLIC_KEY_BYTES, fingerprint, from_base64url
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import BAD_ANSWER, Http, Patience
from sottovoce.protocol.surveys import ListedSurvey
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking
from sottovoce.transparency.evidence import check_log_proof
from sottovoce.transparency.tree_head import TreeHead

__all__ = ["Connection", "check_key", "check_minimum", "check_pin", "read"]

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16,64}")


def check_pin(pin: str) -> str:
    """A public key in base64url, or the beginning of its fingerprint in hexadecimal; raises otherwise."""
    asked = "key must be the collector's public key, or 16 characters or more of its fingerprint"
    if not isinstance(pin, str):
        raise SignatureError(asked).at("key")
    if not _FINGERPRINT.fullmatch(pin):
        try:
            from_base64url(pin, PUBLIC_KEY_BYTES)
        except SignatureError as error:
            raise SignatureError(f"{asked}; {error}").at("key") from None
    return pin


def check_key(text: str, pin: str | None) -> bytes:
    """Decode the collector's public key; raises if it is not the pinned one."""
    public = from_base64url(text, PUBLIC_KEY_BYTES)
    if pin is not None:
        matches = fingerprint(public).startswith(pin) if _FINGERPRINT.fullmatch(pin) else from_base64url(pin) == public
        if not matches:
            raise SignatureError(
                f"the collector's key is not the given one: its fingerprint is {fingerprint(public)[:16]}; check the "
                "address"
            ).at("key")
    return public


T = TypeVar("T")


def read(answer: object, kind: type[T]) -> T:
    """The record behind a collector's answer."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise ServiceError(
            f"the collector's answer is not what this version understands ({error}); is it a collector, and of the "
            "same version?",
            code=BAD_ANSWER,
        ) from error


@final
class Connection:
    """A collector reached over `http`; with `key`, only the one that has this key."""

    def __init__(self, http: Http, key: str | None = None) -> None:
        self.http = http
        # Analysts verify with the same code as devices, without retries: a person is waiting.
        self._published = CollectorClient(http, Patience(attempts=1))
        self._pin = None if key is None else check_pin(key)

    @cached_property
    def key(self) -> bytes:
        """The collector's public key, which must match the pinned one if one was given."""
        sent = read(self.http.get("/v1/key"), dict[str, str])
        return check_key(sent.get("key", ""), self._pin)

    def surveys(self) -> list[ListedSurvey]:
        """All surveys that are open or sealed, oldest first."""
        if self._pin is not None:
            _ = self.key  # the list is unsigned; at least it comes from the right collector
        return self._published.surveys()

    def fetch(self, survey_id: str) -> Survey | Panel | Tracking:
        """The survey with that id, verified."""
        return self._published.survey(survey_id, self.key).survey

    def place_in_log(self, survey_id: str) -> tuple[int, TreeHead] | None:
        """The survey's position in the log of published surveys, proved, and the signed head; None without a log.

        Raises
        ------
        TransparencyError
            If there is a log, and it does not prove that the survey is in it.
        """
        proof = self._published.log_proof(survey_id, 0)
        return None if proof is None else (proof.position, check_log_proof(proof, self.key, survey_id, None))


def check_minimum(number: int | None) -> int | None:
    """Check a minimum number of reports; None leaves it to the collector."""
    return None if number is None else check_integer("minimum_reports", number, 1, 2**53)
