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
from typing import Any, ClassVar, Final, Self, TypeAlias, final

import rfc8785

from sottovoce.errors import SurveyError

__all__ = [
    "FORMAT",
    "Attachments",
    "Stated",
    "check_fields",
    "check_title",
    "is_digest",
    "parse_json",
    "read_statement",
]

FORMAT = 1
"""Version of the JSON of surveys; a device refuses one it does not know."""

TAG_BYTES = 4
"""How much of a survey's id stands before every report, so that a stray one is noticed."""

MAX_TITLE = 200

MAX_SURVEY_BYTES = 2**26
"""Longest JSON that is read as a survey."""

Attachments: TypeAlias = Mapping[str, bytes]
"""What a survey's JSON names by its digest, by that digest."""

_NONE: Final[Attachments] = {}

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

_COMMON = frozenset({"format", "kind", "title", "epsilon"})


class Stated(abc.ABC):
    """Something with a title and an epsilon that both sides know by its JSON."""

    kind: ClassVar[str]
    """Name of the kind in the JSON."""

    epsilon: float
    title: str

    @abc.abstractmethod
    def _own_statement(self) -> dict[str, Any]:
        """The fields of the JSON that only this kind has."""

    @classmethod
    @abc.abstractmethod
    def _from_statement(cls, statement: dict[str, Any], attachments: Attachments) -> Self:
        """What stands behind a statement of this kind and format; its fields are still to be checked."""

    @final
    def _check_title(self) -> None:
        check_title(self.title)

    @final
    def to_statement(self) -> dict[str, Any]:
        """Everything both sides need, as plain JSON values."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "title": self.title,
            "epsilon": self.epsilon,
            **self._own_statement(),
        }

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
        raise SurveyError(f"title must be one line of printable text, at most {MAX_TITLE} characters")
    return title


def is_digest(text: str) -> bool:
    """Whether it is written as ids and the digests of attachments are: SHA-256 in lower-case hexadecimal."""
    return _DIGEST.fullmatch(text) is not None


def read_statement(text: str | bytes, attachments: Attachments = _NONE) -> Stated:
    """The survey behind its JSON. Every field is checked again; unknown ones are refused."""
    if isinstance(text, (str, bytes)) and len(text) > MAX_SURVEY_BYTES:
        raise SurveyError(f"the survey's JSON is longer than the {MAX_SURVEY_BYTES:,} bytes that are read")
    return from_statement(parse_json(text), attachments)


def from_statement(statement: object, attachments: Attachments = _NONE) -> Stated:
    """The survey behind parsed JSON."""
    from sottovoce.protocols import KINDS

    if not isinstance(statement, dict) or not {"format", "kind"} <= set(statement):
        raise SurveyError("a survey is a JSON object with at least a format and a kind")
    if statement["format"] != FORMAT or type(statement["format"]) is not int:
        raise SurveyError(f"this survey has a format this version does not know; it knows format {FORMAT}")
    kind = KINDS.get(statement["kind"]) if isinstance(statement["kind"], str) else None
    if kind is None:
        known = ", ".join(repr(name) for name in KINDS)
        raise SurveyError(f"this survey is of a kind this version does not know; it knows {known}")
    return kind._from_statement(statement, attachments)


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


def check_fields(statement: dict[str, Any], own: set[str]) -> None:
    """Refuse a statement that has other fields than the common ones and these."""
    expected = _COMMON | own
    if set(statement) != expected:
        raise SurveyError(f"a survey must hold exactly these fields: {', '.join(sorted(expected))}")
