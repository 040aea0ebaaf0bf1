"""What is published and never changed: a frozen object whose canonical JSON (RFC 8785) is its identity.

Its id is the SHA-256 of that JSON, so it cannot be changed without becoming another one.
"""

from __future__ import annotations

import abc
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, TypeAlias, final

import rfc8785

from sottovoce.errors import SurveyError

__all__ = [
    "FORMAT",
    "Attachments",
    "Stated",
    "check_fields",
    "check_format",
    "check_title",
    "is_digest",
    "parse_json",
    "read_json",
]

FORMAT = 2
"""Version of the JSON of surveys; a device refuses one it does not know."""

TAG_BYTES = 4
"""How much of a survey's id stands before every report, so that a stray one is noticed."""

MAX_TITLE = 200

MAX_SURVEY_BYTES = 2**26
"""Longest JSON that is read as a survey."""

Attachments: TypeAlias = Mapping[str, bytes]
"""What a survey's JSON names by its digest, by that digest."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Stated(abc.ABC):
    """Something with a title and an epsilon that both sides know by its JSON."""

    title: str

    @property
    @abc.abstractmethod
    def kind(self) -> str:
        """What it is, in the word that lists and pages show."""

    @abc.abstractmethod
    def to_statement(self) -> dict[str, Any]:
        """Everything both sides need, as plain JSON values."""

    @property
    def attachments(self) -> dict[str, bytes]:
        """What is too long for the JSON and stands in it by its digest only; empty for most."""
        return {}

    @cached_property
    def canonical(self) -> bytes:
        """The canonical JSON (RFC 8785): sorted keys, no spaces, shortest numbers."""
        return rfc8785.dumps(self.to_statement())

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.canonical).hexdigest()

    @cached_property
    def tag(self) -> bytes:
        """The first bytes of the id; they stand before every report."""
        return bytes.fromhex(self.id)[:TAG_BYTES]

    @final
    def to_json(self) -> str:
        """The canonical JSON as text."""
        return self.canonical.decode()


def check_title(title: object) -> str:
    """Return `title` if a survey may have it."""
    if not isinstance(title, str) or len(title) > MAX_TITLE or not title.isprintable():
        raise SurveyError(f"title must be one line of printable text, at most {MAX_TITLE} characters").at("title")
    return title


def is_digest(text: str) -> bool:
    """Whether it is written as ids and the digests of attachments are: SHA-256 in lower-case hexadecimal."""
    return _DIGEST.fullmatch(text) is not None


def read_json(text: str | bytes) -> dict[str, Any]:
    """The JSON object of a survey or a panel, of a format that is known; its fields are still to be checked."""
    if isinstance(text, (str, bytes)) and len(text) > MAX_SURVEY_BYTES:
        raise SurveyError(f"the survey's JSON is longer than the {MAX_SURVEY_BYTES:,} bytes that are read")
    return check_format(parse_json(text))


def check_format(statement: object) -> dict[str, Any]:
    """Return `statement` if it is a JSON object of the format that this version reads."""
    if not isinstance(statement, dict) or "format" not in statement:
        raise SurveyError("a survey is a JSON object that begins with its format")
    if statement["format"] != FORMAT or type(statement["format"]) is not int:
        raise SurveyError(f"the survey's format is not known to this version, which reads format {FORMAT}")
    return statement


def parse_json(text: object) -> object:
    """Strict JSON: UTF-8, no key twice in one object, no NaN or Infinity."""
    if not isinstance(text, (str, bytes)):
        raise SurveyError(f"a survey is read from text or bytes, not from {type(text).__name__}")
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        return json.loads(decoded, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SurveyError(f"the survey is not valid JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def check_fields(statement: object, what: str, expected: set[str], optional: frozenset[str] = frozenset()) -> None:
    """Refuse a JSON object that has other fields than these."""
    if not isinstance(statement, dict) or not expected <= set(statement) <= expected | optional:
        named = ", ".join(sorted(expected))
        more = f", and possibly {', '.join(sorted(optional))}" if optional else ""
        raise SurveyError(f"{what} must hold exactly these fields: {named}{more}")
