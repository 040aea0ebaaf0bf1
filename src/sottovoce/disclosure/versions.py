"""The chapter on versions and hashes: what exactly this page is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from sottovoce.auditing.page import build_facts
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.signing import fingerprint
from sottovoce.core.version import __version__
from sottovoce.core.words import plural
from sottovoce.disclosure.brief import Brief
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed
from sottovoce.surveys.statement import FORMAT, is_digest
from sottovoce.surveys.survey import Survey

__all__ = ["PlaceInLog", "versions_chapter"]

_MOST_ENTRIES = 2**63 - 1
_LOG = "docs/log.md"


@final
@dataclass(frozen=True)
class PlaceInLog:
    """Where a survey stands in an append-only log of published surveys: its index, and a signed tree that holds it."""

    index: int
    tree_size: int
    root: str

    def __post_init__(self) -> None:
        check_integer("tree_size", self.tree_size, 1, _MOST_ENTRIES)
        check_integer("index", self.index, 0, self.tree_size - 1)
        if not isinstance(self.root, str) or not is_digest(self.root):
            raise SurveyError("root must be a SHA-256 in lower-case hexadecimal, 64 digits").at("root")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"index": self.index, "tree_size": self.tree_size, "root": self.root}


def versions_chapter(brief: Brief, log: PlaceInLog | None) -> Chapter:
    """Hashes of the survey, and versions of what made the page."""
    return Chapter.of("versions", "Versions and hashes", [*_survey(brief), *_signed(brief, log), *_software(brief)])


def _survey(brief: Brief) -> Iterator[Claim]:
    survey = brief.survey
    yield Claim("id", "Survey", f"{survey.id}: the SHA-256 of its canonical JSON (RFC 8785).", survey.id)
    size = len(survey.canonical)
    yield Claim(
        "statement_bytes", "Canonical JSON", f"{size:,} bytes, format {FORMAT}", size, "docs/wire_format/survey.md"
    )
    if isinstance(survey, Survey) and survey.parent_id is not None:
        whose = "a round of" if survey.seat is not None else "a period of"
        yield Claim("parent", "Part of", f"{whose} {survey.parent_id}", survey.parent_id)
    for number, (digest, attached) in enumerate(survey.attachments.items(), 1):
        yield Claim(f"attachment_{number}", "Attachment", f"SHA-256 {digest}, {len(attached):,} bytes", digest)


def _signed(brief: Brief, log: PlaceInLog | None) -> Iterator[Claim]:
    if brief.key is None:
        yield not_claimed("key", "Signed by", "this page was made from a file; a collector signs what it publishes")
    else:
        found = fingerprint(brief.key)
        text = f"the Ed25519 key with the fingerprint {found}; the signature was verified"
        yield Claim("key", "Signed by", text, found, "docs/device.md")
    if log is None:
        yield not_claimed("log", "Log of published surveys", "no place in a log was given", _LOG)
    else:
        entries = plural(log.tree_size, "entry", "entries")
        place = f"position {log.index:,}, from 0, in a log of {entries} with the root {log.root}"
        yield Claim("log", "Log of published surveys", place, log.root, _LOG)


def _software(brief: Brief) -> Iterator[Claim]:
    build = build_facts()
    yield Claim(
        "package", "Made by", f"Sottovoce {__version__}, Python {build['Python']}, {build['system']}", __version__
    )
    vectors = f"those of Sottovoce {__version__}; a client in another language must reproduce them bit for bit"
    yield Claim("vectors", "Test vectors", vectors, __version__, "vectors/README.md")
    yield Claim("made", "Date", f"{brief.made:%Y-%m-%d %H:%M} UTC", f"{brief.made:%Y-%m-%dT%H:%M:%SZ}")
