"""The audit behind a disclosure: the real one, with what it was given to run, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, final, get_args

from sottovoce.auditing import DEFAULT_SECONDS, AuditResult, audit
from sottovoce.core.errors import MismatchError, SurveyError
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["EFFORTS", "Audited", "Effort", "asked_survey", "audited"]

Effort: TypeAlias = Literal["quick", "full", "none"]
"""How long the device is run: for seconds, for minutes, not at all."""

EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)

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
    """What devices run: the survey itself, or the first period of one that is tracked; nothing for a panel."""
    if isinstance(survey, Panel):
        return None
    return survey.period(1) if isinstance(survey, Tracking) else survey


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
            raise MismatchError(f"the audit is of {of}, not of {wanted}: audit what devices answer")
        return Audited(how, _GIVEN, None)
    if how not in EFFORTS:
        raise SurveyError(f"audit must be one of {', '.join(EFFORTS)}, or the result of sottovoce.audit").at("audit")
    if asked is None or how == "none":
        return Audited(None, "", None)
    quick = how == "quick"
    seconds, samples = (QUICK_SECONDS, QUICK_SAMPLES) if quick else (DEFAULT_SECONDS, None)
    drawn = f", {samples:,} sampled reports for each value of a pair" if samples else ""
    words = f"{how}: up to {seconds:g} processor seconds for runs of the device{drawn}"
    return Audited(audit(asked, samples=samples, seconds=seconds, progress=progress), words, made)
