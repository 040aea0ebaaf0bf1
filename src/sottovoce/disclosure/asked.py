"""The chapters on what is asked, how often, of whom and who signed it; and on its versions and hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from sottovoce.auditing.page import build_facts
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.signing import fingerprint
from sottovoce.core.text import one_line
from sottovoce.core.version import __version__
from sottovoce.core.words import plural
from sottovoce.disclosure.brief import Brief, UnreadSurvey
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed, unstated
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import FORMAT, is_digest
from sottovoce.surveys.survey import Survey

__all__ = ["PlaceInLog", "asked_chapter", "domain_of", "versions_chapter"]


def asked_chapter(brief: Brief) -> Chapter:
    """The survey and its purpose, before any number."""
    about = brief.about
    claims = [
        Claim("title", "Title", brief.survey.title, brief.survey.title)
        if brief.survey.title
        else not_claimed("title", "Title", "the survey has none"),
        *_question(brief),
        *_how_often(brief),
        _said("curator", "Who asks", about.curator),
        _said("contact", "Contact", about.contact),
        _said("purpose", "Purpose", about.purpose),
        _said("region", "Region", about.region),
        Claim("links", "Links", " ".join(about.links)) if about.links else not_claimed("links", "Links"),
    ]
    return Chapter.of("asked", "What is asked", claims)


def _said(name: str, label: str, text: str) -> Claim:
    return Claim(name, label, text, text) if text else not_claimed(name, label)


def _question(brief: Brief) -> Iterator[Claim]:
    survey, label = brief.survey, "Question"
    if isinstance(survey, UnreadSurvey):
        yield unstated("kind", label, f"it calls itself {survey.kind}; {brief.unknown}")
    elif isinstance(survey, Panel):
        yield Claim("kind", label, f"{survey.kind}: {survey.summary}", survey.kind, "docs/adaptive.md")
    else:
        summary = survey.question.summary
        yield Claim("kind", label, f"{survey.question.kind}: {summary}", survey.question.kind, "docs/questions.md")
    if isinstance(survey, Survey) and survey.seat is not None:
        yield Claim("query", "Asked of each record", one_line(survey.query_text, 500), evidence="docs/expressions.md")
    if not isinstance(survey, UnreadSurvey):
        yield Claim("values", "What a person may have", f"{domain_of(brief)}.")


def domain_of(brief: Brief) -> str:
    """The values that a person may have, in words."""
    survey = brief.survey
    if isinstance(survey, UnreadSurvey):
        return ""
    if isinstance(survey, Panel) or survey.domain is not None:
        domain: Any = survey.domain
        return f"one of {plural(domain.size, 'value')}"
    return survey.question.values_text


def _how_often(brief: Brief) -> Iterator[Claim]:
    if brief.calendar is not None:
        calendar = brief.calendar
        ends = "without an end" if calendar.periods is None else f"{plural(calendar.periods, 'period')} in all"
        every = calendar.spans(1).removeprefix("1 ")
        seat = f"everybody answers in one period of every {calendar.spans(calendar.window)}"
        yield Claim("how_often", "How often", f"In every {every} from {calendar.starts.isoformat()}, {ends}; {seat}.")
    elif brief.panel is not None:
        rounds = plural(brief.panel.rounds, "round")
        yield Claim("how_often", "How often", f"Up to {rounds}, each answered by other people.")
    elif brief.known is not None:
        yield Claim("how_often", "How often", "Once.")


_MOST_ENTRIES = 2**63 - 1
_LOG = "docs/log.md"
_WIRE = "docs/contributors/wire_format/survey.md"


@final
@dataclass(frozen=True)
class PlaceInLog:
    """The position of a survey in an append-only log of published surveys, and a signed tree that holds it."""

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
        "statement_bytes",
        "Canonical JSON",
        f"{size:,} bytes, format {FORMAT}",
        size,
        _WIRE,
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
        shown = fingerprint(brief.key)
        text = f"the Ed25519 key with the fingerprint {shown}; the signature was verified"
        yield Claim("key", "Signed by", text, shown, "docs/device.md")
    if log is None:
        yield not_claimed("log", "Log of published surveys", "no place in a log was given", _LOG)
    else:
        entries = plural(log.tree_size, "entry", "entries")
        position = f"position {log.index:,}, from 0, in a log of {entries} with the root {log.root}"
        yield Claim("log", "Log of published surveys", position, log.root, _LOG)


def _software(brief: Brief) -> Iterator[Claim]:
    build = build_facts()
    yield Claim(
        "package", "Made by", f"Sottovoce {__version__}, Python {build['Python']}, {build['system']}", __version__
    )
    vectors = f"those of Sottovoce {__version__}; a client in another language must reproduce them bit for bit"
    yield Claim("vectors", "Test vectors", vectors, __version__, "vectors/README.md")
    yield Claim("made", "Date", f"{brief.made:%Y-%m-%d %H:%M} UTC", f"{brief.made:%Y-%m-%dT%H:%M:%SZ}")
