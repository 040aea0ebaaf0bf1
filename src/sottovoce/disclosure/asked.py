"""The chapter on what is asked: the question, how often, of whom, and by whose word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sottovoce.core.text import one_line
from sottovoce.core.words import plural
from sottovoce.disclosure.brief import Brief
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed, unstated
from sottovoce.disclosure.unread import UnreadSurvey
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

__all__ = ["asked_chapter", "domain_of"]


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
