"""All that the chapters of a disclosure are written from, each number fetched from its home once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeAlias, final

from sottovoce.core.errors import SottovoceError
from sottovoce.disclosure.about import About
from sottovoce.disclosure.audited import Audited, asked_survey
from sottovoce.disclosure.unread import UnreadSurvey
from sottovoce.mechanisms import Mechanism
from sottovoce.mechanisms.registry import REGISTRY
from sottovoce.surveys.amplified import Amplified
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.composition import Composed, compose
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["AnySurvey", "Brief"]

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
        """Why nothing may be said of what a report tells; empty if there is no reason.

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
        return compose(self.central, self.central.delta, times=windows)
