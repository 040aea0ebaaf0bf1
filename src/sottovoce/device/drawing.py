"""Drawing one report for one question, and recording it, with its one recipient, before anybody sees it.

Whether a value is in a survey's domain is decided in the same time for every value: an error message can take much
longer than the lookup, so it is made only where it is shown; and caches are filled before the private value is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

from sottovoce.core.errors import BudgetError, MismatchError, ValueOutsideDomainError
from sottovoce.core.signing import fingerprint
from sottovoce.device.allowance import Allowance
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.store import DeviceStore, RecordedAnswer
from sottovoce.domain import Domain
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.survey import Survey

__all__ = [
    "REFUSE",
    "Asked",
    "check_address",
    "check_key",
    "check_otherwise",
    "check_question",
    "draw_once",
    "has",
    "must_fetch_again",
    "prepare",
    "why_not",
]


def check_address(stands: str | None, collector: CollectorClient) -> None:
    """Raise unless answers go to this address: anybody can republish a survey at an address of their own."""
    if stands is not None and stands != collector.url:
        raise MismatchError(
            f"this device answers this survey to another collector, at {stands}; an answer goes to one collector only. "
            "If it has moved here and an answer is unsent or due later, call device.move(survey_id, url)"
        )


def check_key(stands: bytes, key: bytes) -> None:
    """Raise unless answers go to this key: another key is another collector, whatever its address."""
    if key != stands:
        raise MismatchError(
            f"this device answers the collector with key {fingerprint(stands)[:16]}, and this one has key "
            f"{fingerprint(key)[:16]}; an answer goes to one collector only. Nothing was sent or moved"
        )


def check_question(kept: RecordedAnswer, survey_id: str) -> None:
    """Raise unless an answer belongs to this survey: a round asks one question."""
    if kept.survey != survey_id:
        raise MismatchError("this device has answered another question in this round; it answers one question only")


def must_fetch_again(kept: RecordedAnswer) -> bool:
    """Whether the question must be fetched again before sending: for an unsent answer to a round.

    The collector chooses a round's question; a period's follows from the survey that was signed before.
    """
    return kept.survey != kept.question and not kept.closes and kept.state != "sent"


def prepare(survey: Survey) -> None:
    """Fill all caches, with public values."""
    domain = survey.domain
    if domain is None:
        return
    for _, part in Domain.attributes_of(domain):
        # Both kinds of lookup, and the error message: each may scan all labels the first time.
        part._find("")
        part._find(0)
        str(part._allowed)


def has(survey: Survey, value: object) -> bool:
    """Whether the value is in the survey's domain."""
    domain = survey.domain
    return not why_not(survey, value) if domain is None else domain._find(value) >= 0


def why_not(survey: Survey, value: object) -> str:
    """Why the value is not in the domain, in a message that does not contain it; empty if it is."""
    try:
        survey.private_input(value)
    except ValueOutsideDomainError as error:
        return str(error)
    return ""


@final
class _Refuse:
    def __repr__(self) -> str:
        return "REFUSE"


REFUSE: Final = _Refuse()
"""Default of `otherwise`: a value outside the domain is refused on the device."""


@final
@dataclass(frozen=True)
class Asked:
    """A survey that the device may answer now: verified, open, within its limits, and its own turn."""

    question: str
    survey: Survey
    key: bytes
    collector: CollectorClient
    period: Period | None = None
    after: Period | None = None
    """The device's period in the next window."""

    @property
    def window(self) -> int:
        """The window that is answered, 1 if the survey has none."""
        return 1 if self.period is None else self.period.window

    @property
    def renews(self) -> bool:
        """Whether the survey asks again in later windows."""
        return self.period is not None and self.period.calendar.renews

    @property
    def title(self) -> str:
        """The survey's title; that of a round with its number, that of a group with what is sent of it in the open."""
        if self.survey.group is not None:
            return f"{self.survey.title or '(no title)'}, {self.survey.group.label}"
        if self.survey.seat is None:
            return self.survey.title
        return f"{self.survey.title or self.survey.seat.panel.title or '(no title)'}, round {self.survey.seat.round}"


def check_otherwise(survey: Survey, otherwise: object) -> None:
    """Raise unless the public replacement is in the domain, and fill all caches: before anybody is asked."""
    prepare(survey)
    if isinstance(otherwise, Iterator):
        raise ValueOutsideDomainError(
            "`otherwise`, which replaces every other value, is an iterator and can be read once only: give a list"
        ).at("otherwise")
    if not isinstance(otherwise, _Refuse) and not has(survey, otherwise):
        problem = why_not(survey, otherwise)
        raise ValueOutsideDomainError(f"`otherwise`, which replaces every other value: {problem}").at("otherwise")


def draw_once(
    store: DeviceStore,
    allowance: Allowance,
    asked: Asked,
    value: object,
    otherwise: object,
    report_id: bytes,
    day: str,
) -> RecordedAnswer:
    """The recorded answer, drawn now if there is none; `check_otherwise` came before."""
    kept = store.answer(asked.question, asked.window)
    if kept is None:
        kept = _draw(store, allowance, asked, _chosen(asked.survey, value, otherwise), report_id, day)
    if asked.survey.group is None:  # another group may have been answered for just now; that report stands
        check_question(kept, asked.survey.id)
    check_address(kept.collector, asked.collector)
    check_key(kept.key, asked.key)
    return kept


def _draw(
    store: DeviceStore, allowance: Allowance, asked: Asked, chosen: object, report_id: bytes, day: str
) -> RecordedAnswer:
    """Draw a report and record it, unless another thread or process was faster; returns the recorded answer.

    Drawing precedes the transaction, so that a slow draw does not block others. Of two that race, the report of one is
    discarded unseen: one draw leaves the device. Which one depends on how long the draws took, and that does not depend
    on the value; the collector sees the time of a report anyway.
    """
    report = asked.survey.randomize(chosen)
    period = asked.period
    # Read only now: the owner may have refused while the person was asked for the value.
    refuses = asked.renews and store.refuses_renewals(asked.question)

    def pay(answers: Sequence[RecordedAnswer]) -> RecordedAnswer:
        epsilon, delta = allowance.check(asked.survey, answers, day)
        if refuses and any(answer.question == asked.question for answer in answers):
            raise BudgetError("this device's owner refuses renewals, and another window was answered")
        return RecordedAnswer(
            question=asked.question,
            survey=asked.survey.id,
            collector=asked.collector.url,
            key=asked.key,
            title=asked.title,
            epsilon=epsilon,
            delta=delta,
            day=day,
            report_id=report_id,
            report=report,
            window=asked.window,
            renews=asked.renews,
            period="" if period is None else period.label,
            closes="" if period is None else period.closes.isoformat(),
            relay="" if asked.survey.relay is None else asked.survey.relay.url,
        )

    return store.record(asked.question, asked.window, pay)


def _chosen(survey: Survey, value: object, otherwise: object) -> object:
    """The value or its replacement, which was checked first, whatever the value is."""
    value = survey.question.settled(value)
    if isinstance(otherwise, _Refuse):
        if not has(survey, value):
            raise ValueOutsideDomainError(
                f"{why_not(survey, value)}. Nothing was sent, which also reveals something: give `otherwise` "
                "(--otherwise), a value of the domain that replaces all others"
            ).at("value")
        return value
    return (otherwise, value)[has(survey, value)]
