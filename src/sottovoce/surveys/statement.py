"""Published, immutable objects that are identified by their canonical JSON (RFC 8785).

The id is the SHA-256 of that JSON, so any change gives another id.
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

from sottovoce.core.errors import SurveyError

__all__ = [
    "FORMAT",
    "Attachments",
    "Stated",
    "check_fields",
    "check_format",
    "check_title",
    "is_beginning",
    "is_digest",
    "parse_json",
    "read_json",
]

FORMAT = 2
"""Version of the JSON of surveys; a device refuses other versions."""

TAG_BYTES = 4
"""Bytes of a survey's id at the start of every report, to detect reports of other surveys."""

MAX_TITLE = 200

MAX_SURVEY_BYTES = 2**26
"""Maximum length of a survey's JSON."""

Attachments: TypeAlias = Mapping[str, bytes]
"""Attachments of a survey, keyed by their digest in the JSON."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_BEGINNING: Final = re.compile(r"[0-9a-f]{8,64}")


class Stated(abc.ABC):
    """A survey or a panel: an object identified by its JSON."""

    title: str

    @property
    @abc.abstractmethod
    def kind(self) -> str:
        """Its kind, as lists and pages show it."""

    @abc.abstractmethod
    def to_statement(self) -> dict[str, Any]:
        """Everything both sides need, as plain JSON values."""

    @property
    def attachments(self) -> dict[str, bytes]:
        """Data that the JSON contains only by its digest; empty for most."""
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
        """The first bytes of the id, at the start of every report."""
        return bytes.fromhex(self.id)[:TAG_BYTES]

    @final
    def to_json(self) -> str:
        """The canonical JSON as text."""
        return self.canonical.decode()


def check_title(title: object) -> str:
    """Return `title` if it is valid."""
    if not isinstance(title, str) or len(title) > MAX_TITLE or not title.isprintable():
        raise SurveyError(f"title must be one line of printable text, at most {MAX_TITLE} characters").at("title")
    return title


def is_digest(text: str) -> bool:
    """Whether the text is a SHA-256 in lower-case hexadecimal, as ids and digests are."""
    return _DIGEST.fullmatch(text) is not None


def is_beginning(name: str, digest: str) -> bool:
    """Whether the name is an id, or the first eight or more digits of it: how surveys are named everywhere.

    Examples
    --------
    >>> [is_beginning(name, "3f9a11c2" + 56 * "0") for name in ("3f9a11c2", "3f9a11c", "3F9A11C2", "")]
    [True, False, False, False]
    """
    return _BEGINNING.fullmatch(name) is not None and digest.startswith(name)


def read_json(text: str | bytes) -> dict[str, Any]:
    """The JSON object of a survey or a panel in a known format; its fields are not yet checked."""
    if isinstance(text, (str, bytes)) and len(text) > MAX_SURVEY_BYTES:
        raise SurveyError(f"the survey's JSON is longer than {MAX_SURVEY_BYTES:,} bytes")
    return check_format(parse_json(text))


def check_format(statement: object) -> dict[str, Any]:
    """Return `statement` if it is a JSON object in the format of this version."""
    if not isinstance(statement, dict) or "format" not in statement:
        raise SurveyError("a survey must be a JSON object with a format")
    if statement["format"] != FORMAT or type(statement["format"]) is not int:
        raise SurveyError(f"unknown survey format; this version reads format {FORMAT}")
    return statement


def parse_json(text: object) -> object:
    """Parse strict JSON: UTF-8, no duplicate keys, no NaN or Infinity."""
    if not isinstance(text, (str, bytes)):
        raise SurveyError(f"a survey must be text or bytes, not {type(text).__name__}").at("text")
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        return json.loads(decoded, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SurveyError(f"the survey is not valid JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("duplicate key in an object")
    return fields


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def check_fields(statement: object, what: str, expected: set[str], optional: frozenset[str] = frozenset()) -> None:
    """Refuse a JSON object with missing or unknown fields."""
    if not isinstance(statement, dict) or not expected <= set(statement) <= expected | optional:
        named = ", ".join(sorted(expected))
        more = f", and possibly {', '.join(sorted(optional))}" if optional else ""
        raise SurveyError(f"{what} must have exactly these fields: {named}{more}")
