"""`disclose`: from a survey to the page that its reviewers read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sottovoce.auditing import AuditResult
from sottovoce.core.errors import SurveyError
from sottovoce.disclosure.about import About
from sottovoce.disclosure.asked import asked_chapter
from sottovoce.disclosure.audited import Audited, Effort, audited
from sottovoce.disclosure.brief import AnySurvey, Brief
from sottovoce.disclosure.disclosure import Disclosure
from sottovoce.disclosure.guarantee import guarantee_chapter
from sottovoce.disclosure.nist import nist_chapter
from sottovoce.disclosure.not_covered import not_covered_chapter
from sottovoce.disclosure.observers import observers_chapter, retention_chapter
from sottovoce.disclosure.randomizer import audit_chapter, mechanism_chapter
from sottovoce.disclosure.registry import registry_chapter, registry_entry
from sottovoce.disclosure.unread import UnreadSurvey
from sottovoce.disclosure.versions import PlaceInLog, versions_chapter
from sottovoce.surveys.statement import Stated

__all__ = ["disclose"]


def disclose(
    survey: AnySurvey,
    *,
    about: About | Mapping[str, Any] | None = None,
    audit: Effort | AuditResult = "quick",
    partial: bool = False,
    key: bytes | None = None,
    log: PlaceInLog | None = None,
    progress: Callable[[int], object] | None = None,
) -> Disclosure:
    """Everything that a reviewer asks about a survey, on one page.

    Parameters
    ----------
    survey
        A survey, a tracking survey, or a round or period of one. A panel, or what `read_survey` could not read, has
        parts that cannot be stated.
    about
        What the survey cannot know: who asks, what for; see `About`. What is left out is "not claimed".
    audit
        "quick" runs the device for seconds, "full" as long as `sottovoce.audit` does, "none" not at all, and the page
        says so. Or the result of `sottovoce.audit`.
    partial
        Make a page also if parts cannot be stated, each marked as such, or if the audit found the device broken.
    key
        The public key by which the survey's signature was verified.
    log
        Where the survey stands in a log of published surveys.
    progress
        Called with the number of runs that the audit made since the last call.

    Raises
    ------
    SurveyError
        If parts cannot be stated, with their names.
    MechanismError
        If the audit found that the device does not do what it states.

    Examples
    --------
    >>> import sottovoce as sv
    >>> page = sv.disclose(sv.Survey.distribution(["yes", "no"], epsilon=1.0), audit="none")
    >>> page["guarantee"]["unit"].text
    'One person: the one value that a person answers.'
    >>> page["guarantee"]["local_epsilon"].value, page["audit"]["verdict"].state
    (1.0, 'not claimed')
    """
    if not isinstance(survey, Stated):
        raise SurveyError(f"only a survey can be disclosed, not {type(survey).__name__}").at("survey")
    said = about if isinstance(about, About) else About.of({} if about is None else about)
    made = datetime.now(UTC).replace(microsecond=0)
    found = Audited(None, "", None) if isinstance(survey, UnreadSurvey) else audited(survey, audit, made, progress)
    page = _written(Brief(survey, said, found, key, made), log)
    if not partial:
        page.check()
    return page


def _written(brief: Brief, log: PlaceInLog | None) -> Disclosure:
    guarantee, mechanism, audit = guarantee_chapter(brief), mechanism_chapter(brief), audit_chapter(brief)
    observers = observers_chapter(brief)
    registry = registry_chapter(brief, guarantee, mechanism, observers)
    chapters = (
        asked_chapter(brief),
        guarantee,
        mechanism,
        audit,
        not_covered_chapter(brief),
        observers,
        retention_chapter(brief),
        versions_chapter(brief, log),
        registry,
        nist_chapter(brief, guarantee, mechanism, audit, registry),
    )
    entry = registry_entry(registry, brief)
    return Disclosure(brief.survey.title, brief.survey.id, brief.made, chapters, brief.broken, log, entry)
