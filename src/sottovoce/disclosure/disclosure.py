"""`disclose`: from a survey to everything that its reviewers ask for, as one `Disclosure` that three formats show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias, final

from sottovoce.auditing import AuditResult
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.notebook import facts_html
from sottovoce.core.text import json_text
from sottovoce.core.words import both_guarantees, delta_suffix, exactly, plural
from sottovoce.disclosure.about import About
from sottovoce.disclosure.asked import PlaceInLog, asked_chapter, versions_chapter
from sottovoce.disclosure.brief import AnySurvey, Audited, Brief, Effort, UnreadSurvey, audited
from sottovoce.disclosure.claim import UNSTATED, Chapter, Claim
from sottovoce.disclosure.guarantee import guarantee_chapter
from sottovoce.disclosure.not_covered import not_covered_chapter, observers_chapter, retention_chapter
from sottovoce.disclosure.page import html_page, markdown_page
from sottovoce.disclosure.randomizer import audit_chapter, mechanism_chapter
from sottovoce.disclosure.registry import nist_chapter, registry_chapter, registry_entry
from sottovoce.surveys.statement import Stated

__all__ = ["Disclosure", "Standing", "disclose"]


_FORMATS: Final = ("html", "markdown", "json")

Standing: TypeAlias = Literal["complete", "partial", "broken"]
"""All parts are stated; some cannot be; or the audit shows that the device does not do what is stated."""

FORMAT: Final = 1
"""Version of the JSON."""

_DERIVED: Final = ("registry", "nist")
"""Chapters that repeat what others state, in the words of somebody's form."""


def _number(claim: Claim) -> float:
    return float(claim.value or 0.0)


@final
@dataclass(frozen=True)
class Disclosure:
    """What one page says. Make it with `sottovoce.disclose`.

    Attributes
    ----------
    title
        The survey's title; it is untrusted text, which every format escapes.
    survey
        The survey's id.
    chapters
        The chapters of claims, in order.
    broken
        What the audit shows if the device does not do what it states; else empty.
    log
        The position of the survey in a log of published surveys, if that is known.
    """

    title: str
    survey: str
    made: datetime
    chapters: tuple[Chapter, ...]
    broken: str = ""
    log: PlaceInLog | None = None
    entry: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, name: str) -> Chapter:
        return next(chapter for chapter in self.chapters if chapter.name == name)

    @property
    def faults(self) -> dict[str, Claim]:
        """The parts that cannot be stated, by the names of their chapter and their own."""
        own = (chapter for chapter in self.chapters if chapter.name not in _DERIVED)
        return {
            f"{chapter.name}.{claim.name}": claim
            for chapter in own
            for claim in chapter.claims
            if claim.state == UNSTATED
        }

    @property
    def standing(self) -> Standing:
        """How complete the page is."""
        if self.broken:
            return "broken"
        return "partial" if self.faults else "complete"

    @property
    def headline(self) -> str:
        """What a reader must know before anything else, in a sentence or two."""
        if self.standing == "broken":
            return f"BROKEN. Do not deploy this survey: {self.broken}."
        if self.standing == "partial":
            return f"INCOMPLETE. {plural(len(self.faults), 'part')} cannot be stated; each says why."
        guarantee, audit = self["guarantee"], self["audit"]["verdict"]
        epsilon, central, delta = (guarantee[name] for name in ("local_epsilon", "central_epsilon", "central_delta"))
        promise = f"local epsilon {exactly(_number(epsilon))}{delta_suffix(_number(guarantee['delta']))}"
        if central.state == "stated":
            promise = both_guarantees(*(_number(value) for value in (epsilon, central, delta)))
        verdict = f"The audit's verdict: {audit.value}" if audit.state == "stated" else "Not audited here"
        return f"{promise[0].upper()}{promise[1:]}. {verdict}."

    def check(self) -> None:
        """Raise an error unless the page is complete; it names the parts that cannot be stated."""
        if self.standing == "broken":
            raise MechanismError(
                f"{self.broken}; no page is made of it, unless a partial one is asked for (partial=True, --partial)"
            ).at("mechanism")
        if self.faults:
            reason = min((claim.text for claim in self.faults.values()), key=len)
            raise SurveyError(
                f"{reason}; so these parts of a page cannot be stated: {', '.join(self.faults)}. For a page that says "
                "so at each of them, ask for a partial one (partial=True, --partial)"
            ).at("partial")

    def registry_entry(self) -> dict[str, Any]:
        """What is stated, nested as a file of OpenDP's registry; fields that are not claimed are missing."""
        return self.entry

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `disclosure.schema.json` in this package describes them."""
        return {
            "format": FORMAT,
            "standing": self.standing,
            "headline": self.headline,
            "title": self.title,
            "survey": self.survey,
            "made": f"{self.made:%Y-%m-%dT%H:%M:%SZ}",
            "cannot_be_stated": list(self.faults),
            "log": None if self.log is None else self.log.to_dict(),
            "chapters": {chapter.name: chapter.to_dict() for chapter in self.chapters},
            "registry_entry": self.entry,
        }

    def to_json(self) -> str:
        """The disclosure as one JSON object."""
        return json_text(self.to_dict())

    def to_html(self) -> str:
        """One page that needs nothing else: no script, no font, no network."""
        return html_page(self)

    def to_markdown(self) -> str:
        """The disclosure as CommonMark with tables."""
        return markdown_page(self)

    def render(self, kind: str) -> str:
        """The page in one of `FORMATS`."""
        match kind:
            case "html":
                return self.to_html()
            case "markdown":
                return self.to_markdown()
            case "json":
                return self.to_json()
        raise SurveyError(f"format must be one of {', '.join(_FORMATS)}").at("format")

    def __repr__(self) -> str:
        return f"<disclosure of survey {self.survey[:12]}: {self.standing}>"

    def _repr_html_(self) -> str:
        facts = {
            "title": self.title,
            "standing": self.standing,
            "headline": self.headline,
            "cannot be stated": ", ".join(self.faults),
            "survey": self.survey,
        }
        return facts_html("disclosure", facts)


@with_clear_calls("sv.disclose(survey)")
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
        The position of the survey in a log of published surveys.
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
    >>> page = sv.disclose(sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0), audit="none")
    >>> page["guarantee"]["unit"].text
    'One person: the one value that a person answers.'
    >>> page["guarantee"]["local_epsilon"].value, page["audit"]["verdict"].state
    (1.0, 'not claimed')
    """
    if not isinstance(survey, Stated):
        raise SurveyError(f"only a survey can be disclosed, not {type(survey).__name__}").at("survey")
    said = about if isinstance(about, About) else About.of({} if about is None else about)
    made = datetime.now(UTC).replace(microsecond=0)
    findings = Audited(None, "", None) if isinstance(survey, UnreadSurvey) else audited(survey, audit, made, progress)
    page = _written(Brief(survey, said, findings, key, made), log)
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
