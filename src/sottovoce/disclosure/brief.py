"""What the chapters of a disclosure are written from: a survey, read or not, its audit, and numbers fetched once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, final, get_args

from sottovoce.auditing import DEFAULT_SECONDS, AuditResult, audit
from sottovoce.core.errors import MismatchError, SottovoceError, SurveyError
from sottovoce.core.text import one_line
from sottovoce.disclosure.about import About
from sottovoce.mechanisms import Mechanism
from sottovoce.mechanisms.registry import REGISTRY
from sottovoce.surveys.amplified import Amplified
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.composition import Composed, compose
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.statement import MAX_TITLE, Attachments, Stated, read_json
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["AnySurvey", "Audited", "Brief", "Effort", "UnreadSurvey", "asked_survey", "audited", "read_survey"]


Effort: TypeAlias = Literal["quick", "full", "none"]
"""How long the device is run: for seconds, for minutes, not at all."""

_EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)

QUICK_SECONDS: Final = 3.0
QUICK_SAMPLES: Final = 2000

_GIVEN: Final = "made before this page, which was given its result: how long it ran is not recorded"


@final
@dataclass(frozen=True)
class Audited:
    """What an audit found, or that there was none.

    Attributes
    ----------
    result
        None if nothing was run.
    budget
        What it was allowed, in words.
    made
        When it ran; None for a result that was given.
    """

    result: AuditResult | None
    budget: str
    made: datetime | None

    @property
    def broken(self) -> bool:
        """Whether it shows that the device does not do what it states."""
        return self.result is not None and not self.result.sound


def asked_survey(survey: Survey | Tracking | Panel) -> Survey | None:
    """What devices run: the survey, or its first period or group; nothing for a panel."""
    if isinstance(survey, Panel):
        return None
    return (survey.period(1) if isinstance(survey, Tracking) else survey).answered


def audited(
    survey: Survey | Tracking | Panel,
    how: Effort | AuditResult,
    made: datetime,
    progress: Callable[[int], object] | None = None,
) -> Audited:
    """Run the audit, or take a result of the same survey."""
    asked = asked_survey(survey)
    if isinstance(how, AuditResult):
        if asked is None or how.survey != asked.id:
            of = how.survey[:12] or "a mechanism alone"
            wanted = "a round; a panel asks nothing itself" if asked is None else f"survey {asked.id[:12]}"
            raise MismatchError(f"the audit is of {of}, not of {wanted}: audit what devices answer").at("audit")
        return Audited(how, _GIVEN, None)
    if how not in _EFFORTS:
        raise SurveyError(f"audit must be one of {', '.join(_EFFORTS)}, or the result of sottovoce.audit").at("audit")
    if asked is None or how == "none":
        return Audited(None, "", None)
    quick = how == "quick"
    seconds, samples = (QUICK_SECONDS, QUICK_SAMPLES) if quick else (DEFAULT_SECONDS, None)
    drawn = f", {samples:,} sampled reports for each value of a pair" if samples else ""
    words = f"{how}: up to {seconds:g} processor seconds for runs of the device{drawn}"
    return Audited(audit(asked, samples=samples, seconds=seconds, progress=progress), words, made)


_LONGEST_NAME = 64
_LONGEST_REASON = 500


@final
@dataclass(frozen=True)
class UnreadSurvey(Stated):
    """JSON in the format of a survey, which was refused; for instance, it names a mechanism that is not installed.

    Attributes
    ----------
    why
        What was wrong with it.
    """

    statement: dict[str, Any]
    why: str

    @property
    def kind(self) -> str:
        """The kind of its question, as it says itself."""
        question = self.statement.get("question")
        return _name(question.get("kind") if isinstance(question, dict) else None)

    @property
    def title(self) -> str:  # type: ignore[override]
        title = self.statement.get("title")
        return title if isinstance(title, str) and len(title) <= MAX_TITLE and title.isprintable() else ""

    @property
    def mechanism_name(self) -> str:
        """The name of its mechanism, as it says itself."""
        design = self.statement.get("design")
        mechanism = design.get("mechanism") if isinstance(design, dict) else None
        return _name(mechanism.get("name") if isinstance(mechanism, dict) else None)

    @cached_property
    def states_relay(self) -> bool:
        """Whether it wants its reports shuffled."""
        return "relay" in self.statement

    def number(self, name: str) -> float | None:
        """A number that it states, such as epsilon; None if that is none."""
        value = self.statement.get(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if number and math.isfinite(value) else None  # type: ignore[arg-type]

    def to_statement(self) -> dict[str, Any]:
        """The JSON as it was read."""
        return self.statement


def _name(value: object) -> str:
    known = isinstance(value, str) and len(value) <= _LONGEST_NAME and value.isprintable()
    return str(value) if known else "unknown"


def read_survey(text: str | bytes, attachments: Attachments | None = None) -> Survey | Panel | Tracking | UnreadSurvey:
    """The survey that JSON states; what it says of itself if it is none that this installation can run.

    Raises
    ------
    SurveyError
        If it is not a JSON object in the format of a survey at all.

    Examples
    --------
    >>> import sottovoce as sv
    >>> stated = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0).to_json()
    >>> read_survey(stated).kind
    'shares'
    >>> read_survey(stated.replace("randomized_response", "nobody_knows")).mechanism_name
    'nobody_knows'
    """
    try:
        return Survey.from_json(text, attachments)
    except SottovoceError as error:
        unread = UnreadSurvey(read_json(text), one_line(str(error), _LONGEST_REASON))
        try:
            _ = unread.id
        except (ValueError, OverflowError):  # numbers beyond what canonical JSON can hold
            raise SurveyError("the survey has no canonical JSON, and so no id: its numbers are out of range") from error
        return unread


AnySurvey: TypeAlias = Survey | Tracking | Panel | UnreadSurvey


@final
@dataclass(frozen=True)
class Brief:
    """A survey, what is said about it, its audit, and who signed it."""

    survey: AnySurvey
    about: About
    audit: Audited
    key: bytes | None
    made: datetime

    @property
    def known(self) -> Survey | Tracking | Panel | None:
        """The survey, if this installation can run it."""
        return None if isinstance(self.survey, UnreadSurvey) else self.survey

    @cached_property
    def asked(self) -> Survey | None:
        """What devices run."""
        return None if self.known is None else asked_survey(self.known)

    @property
    def mechanism(self) -> Mechanism | None:
        """What randomizes; None where that is not known."""
        return None if self.asked is None else self.asked.mechanism

    @property
    def mechanism_delta(self) -> float:
        """The delta of the mechanism; 0 for almost all."""
        return 0.0 if self.asked is None else self.asked.delta

    @property
    def foreign(self) -> bool:
        """Whether another package brings the mechanism."""
        return self.mechanism is not None and REGISTRY.is_foreign(type(self.mechanism))

    @property
    def relay(self) -> Relay | None:
        """The relay that shuffles, if the survey states one."""
        return None if self.asked is None else self.asked.relay

    @cached_property
    def calendar(self) -> Calendar | None:
        """The calendar of a survey that is tracked, or of a period of it."""
        tracked = self.survey if isinstance(self.survey, Tracking) else None
        if isinstance(self.survey, Survey):
            tracked = self.survey.tracked
        return None if tracked is None else tracked.calendar

    @property
    def panel(self) -> Panel | None:
        """The panel, or that of a round."""
        if isinstance(self.survey, Survey) and self.survey.seat is not None:
            return self.survey.seat.panel
        return self.survey if isinstance(self.survey, Panel) else None

    @property
    def unknown(self) -> str:
        """Why nothing can be derived of the mechanism; empty if it can."""
        if isinstance(self.survey, UnreadSurvey):
            return self.survey.why
        if isinstance(self.survey, Panel):
            return "a panel asks nothing itself, and each round has its own mechanism: disclose a round"
        return ""

    @property
    def broken(self) -> str:
        """What the audit shows, if it shows that the device does not do what it states."""
        result = self.audit.result
        return "" if result is None or result.sound else f"the audit found it broken: {result.method}; {result.witness}"

    @property
    def doubt(self) -> str:
        """Why nothing may be claimed about what a report reveals; empty if there is no doubt.

        The audit found the device broken; or the mechanism is not known; or another package brings it, and no audit
        vouches for it.
        """
        if self.broken or isinstance(self.survey, UnreadSurvey):
            return self.broken or self.unknown
        if self.foreign and self.mechanism is not None and self.audit.result is None:
            return f"{self.mechanism.name} is of another package, and was not audited here: nothing else vouches for it"
        return ""

    @cached_property
    def central(self) -> Amplified | str:
        """The certificate of the relay's batches, or why there is none."""
        if self.unknown or self.doubt or self.asked is None:
            return self.unknown or self.doubt
        if self.relay is None:
            return ""
        try:
            return self.asked.amplified()
        except SottovoceError as error:
            return str(error)

    @cached_property
    def composed(self) -> Composed | None:
        """The central guarantee over all windows, where a survey has several and an end."""
        windows = None if self.calendar is None else self.calendar.windows
        if not isinstance(self.central, Amplified) or windows is None or windows < 2:
            return None
        return compose(self.central, delta=self.central.delta, times=windows)
