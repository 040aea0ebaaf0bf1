"""The content of a survey: a question, its design, a title, perhaps a relay or groups; and what it is a part of: a seat
in a panel, a period, a group.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
import rfc8785

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import (
    DEFAULT_PEOPLE,
    DEFAULT_REPORT_BYTES,
    MAX_PEOPLE,
    check_delta,
    check_epsilon,
    check_integer,
)
from sottovoce.core.notebook import facts_html
from sottovoce.core.words import guarantee, plural
from sottovoce.domain import Domain
from sottovoce.estimates.half_width import half_width
from sottovoce.mechanisms import Mechanism
from sottovoce.questions.base import PerAnswer, Question
from sottovoce.questions.registry import question_from_statement, question_to_statement
from sottovoce.randomness.philox import key_of
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.options import evaluate_design, explain, options
from sottovoce.strategies.registry import REGISTRY as STRATEGIES
from sottovoce.strategies.registry import restore
from sottovoce.strategies.setting import Setting
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.surveys.groups import Group, Groups
from sottovoce.surveys.panel import Seat
from sottovoce.surveys.relay import MAX_RELAYED_BYTES, Relay
from sottovoce.surveys.statement import FORMAT, Attachments, Stated, check_fields, check_format, check_title
from sottovoce.theory.bounds import Bound

__all__ = ["Terms"]

_FIELDS: Final = {"format", "title", "epsilon", "delta", "question", "design"}

_OPTIONAL: Final = frozenset({"seat", "calendar", "period", "relay", "groups", "group"})


@dataclass(frozen=True, repr=False)
class Terms(Stated):
    """The data of a survey that reports, aggregates and estimates need; `Survey` adds its operations."""

    question: Question
    design: Strategy
    title: str = ""
    seat: Seat | None = None
    period: Period | None = None
    relay: Relay | None = None
    groups: Groups | None = None
    group: Group | None = None

    def __post_init__(self) -> None:
        check_title(self.title)
        if self.seat is not None:
            if not isinstance(self.seat, Seat):
                raise SurveyError("seat must be a Seat, or None; `round_of` makes the rounds of a panel").at("seat")
            object.__setattr__(self, "question", self.seat.question(self.question))
        if self.period is not None and (self.seat is not None or not isinstance(self.period, Period)):
            raise SurveyError("period must be a Period, or None; `Tracking.period` makes them").at("period")
        if self.relay is not None:
            self._check_relay(self.relay)
        self._check_groups()
        asked = self.design.name in self.question.strategies or STRATEGIES.is_foreign(type(self.design))
        if self.design.workload != self.question.workload or not asked:
            raise SurveyError("the design does not match the question").at("design")
        if self.seat is not None:
            self.seat.check_promise(self.question, self.mechanism, self.delta)
        object.__setattr__(self, "design", _keyed(self.design, self.group_of))

    @property
    def group_of(self) -> str:
        """The id of the survey that this is a group of, or its own.

        Public randomness derives from it: all groups of a survey share it, so that their counts add up.
        """
        if self.group is None:
            return self.id
        return hashlib.sha256(rfc8785.dumps(_without_group(self.to_statement()))).hexdigest()

    @property
    def takes_reports(self) -> bool:
        """Whether people answer this survey itself; of one with groups they answer the survey of their group."""
        return self.groups is None or self.group is not None

    def _check_groups(self) -> None:
        if self.groups is not None and not isinstance(self.groups, Groups):
            raise SurveyError("groups must be Groups, or None").at("groups")
        if self.groups is not None and self.seat is not None:
            raise SurveyError("a round of a panel has no groups: ask a survey without rounds").at("groups")
        if self.group is not None and (not isinstance(self.group, Group) or self.group.groups != self.groups):
            raise SurveyError("group must be one of the survey's groups, or None; `in_group` makes its survey").at(
                "group"
            )

    def _check_relay(self, relay: object) -> None:
        """Refuse a relay where shuffling has no certificate."""
        if not isinstance(relay, Relay):
            raise SurveyError("relay must be a Relay, or None").at("relay")
        if self.seat is not None:
            raise SurveyError(
                "a round of a panel cannot have a relay: its question waits for the answers before it, and a relay "
                "holds answers back; ask a survey without rounds"
            ).at("relay")
        if self.delta:
            raise SurveyError(
                f"the mechanism {self.mechanism.name} has delta {self.delta:g}, and a shuffler's certificate exists "
                "for pure epsilon-LDP only: choose another mechanism, or no relay"
            ).at("relay")
        if self.mechanism.report_bytes > MAX_RELAYED_BYTES:
            raise SurveyError(
                f"a report takes {self.mechanism.report_bytes:,} bytes, and a relay takes up to {MAX_RELAYED_BYTES:,}: "
                "choose a mechanism with shorter reports, or no relay"
            ).at("relay")

    # --- identity ---------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return self.question.kind

    @property
    def mechanism(self) -> Mechanism:
        return self.design.mechanism

    @property
    def epsilon(self) -> float:
        """The privacy parameter of one report."""
        return self.mechanism.epsilon

    @property
    def delta(self) -> float:
        """The delta of (epsilon, delta)-LDP; 0 except for `gaussian`."""
        return self.design.delta

    @property
    def query_text(self) -> str:
        """The query of a round, as text; empty for other surveys."""
        return "" if self.seat is None else self.seat.query.text

    @property
    def domain(self) -> Domain | None:
        """The domain of a person's value, for a round that of the records; None for vectors."""
        return self.question.domain if self.seat is None else self.seat.panel.domain

    def to_statement(self) -> dict[str, Any]:
        """The survey as plain JSON values."""
        return {
            "format": FORMAT,
            "title": self.title,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "question": question_to_statement(self.question),
            "design": self.design.to_statement(),
            **({} if self.seat is None else {"seat": self.seat.to_statement()}),
            **({} if self.period is None else _stated_period(self.period)),
            **({} if self.relay is None else {"relay": self.relay.to_statement()}),
            **({} if self.groups is None else {"groups": self.groups.to_statement()}),
            **({} if self.group is None else {"group": self.group.number}),
        }

    @property
    def attachments(self) -> dict[str, bytes]:
        """The design's attachment by its digest, if it has one: publish it beside the survey's JSON."""
        digest, attachment = self.design.digest, self.design.attachment
        return {} if digest is None or attachment is None else {digest: attachment}

    @classmethod
    def of_design(
        cls,
        question: Question,
        design: Strategy,
        title: str = "",
        *,
        seat: Seat | None = None,
        period: Period | None = None,
        relay: Relay | None = None,
        groups: Groups | None = None,
        group: Group | None = None,
    ) -> Self:
        """The survey with a design that is already made; `Survey(question, epsilon=...)` chooses one."""
        made = cls.__new__(cls)
        Terms.__init__(made, question, design, title, seat, period, relay, groups, group)
        return made

    @classmethod
    def from_statement(cls, statement: object, attachments: Attachments) -> Self:
        """Read a survey from JSON; every field is checked, unknown fields are refused."""
        stated = check_format(statement)
        check_fields(stated, "a survey", _FIELDS, _OPTIONAL)
        if ("calendar" in stated) != ("period" in stated):
            raise SurveyError("one period of a tracking survey must have both a calendar and a period").at("period")
        if "group" in stated and "groups" not in stated:
            raise SurveyError("one group of a survey must have both groups and a group").at("group")
        groups = Groups.from_statement(stated["groups"]) if "groups" in stated else None
        group = Group(groups, stated["group"]) if groups is not None and "group" in stated else None
        seat = Seat.from_statement(stated["seat"]) if "seat" in stated else None
        period = _period_from_statement(stated) if "period" in stated else None
        relay = Relay.from_statement(stated["relay"]) if "relay" in stated else None
        question = question_from_statement(stated["question"])
        if seat is not None:
            question = seat.question(question)
        promise = check_epsilon(stated["epsilon"]), check_delta(stated["delta"])
        design = restore(stated["design"], question.workload, *promise, attachments)
        parts: Any = {"seat": seat, "period": period, "relay": relay, "groups": groups, "group": group}
        return cls.of_design(question, design, stated["title"], **parts)

    @property
    def promise(self) -> str:
        """The guarantee of one report, and through what it goes."""
        return guarantee(self.epsilon, self.delta) + ("" if self.relay is None else f" locally, {self.relay}")

    def __repr__(self) -> str:
        answers = "" if self.question.is_searched else f"{plural(self.n_answers, 'answer')}, "
        return f"<{self.kind} survey {self.id[:12]}: {answers}{self.promise}, {self.mechanism.name}>"

    def _repr_html_(self) -> str:
        return facts_html(f"{self.kind} survey", self._facts())

    def _facts(self) -> dict[str, object]:
        """The facts that a notebook shows."""
        return {
            "title": self.title,
            "question": self.question.summary,
            "answers": None if self.question.is_searched else f"{self.n_answers:,}",
            "guarantee": self.promise,
            "design": f"{self.design.name} with {self.mechanism.name}",
            "report": plural(self.mechanism.report_bytes, "byte"),
            "id": self.id,
        }

    # --- answers ------------------------------------------------------------------------

    @property
    def n_answers(self) -> int:
        """The number of answers."""
        return self.question.n_answers

    def answer_label(self, index: int) -> str:
        """The label of an answer."""
        return self.question.label(index)

    def answer_labels(self) -> list[str]:
        """The labels of all answers."""
        return [self.question.label(i) for i in range(self.n_answers)]

    def answer_index(self, name: object) -> int:
        """The index of the answer with that name, value or number."""
        return self.question.find(name)

    @property
    def answer_range(self) -> tuple[PerAnswer, PerAnswer]:
        """Lower and upper limits of the answers: for all of them, or one per answer."""
        return self.question.answer_range

    def bound(self, n_reports: int) -> Bound:
        """Upper bound on the expected L2 error of an estimate from `n_reports` reports, for every population."""
        return self.design.bound(n_reports)

    def explain(self, people: int = DEFAULT_PEOPLE) -> str:
        """Why this design: a comparison with every other usable design."""
        check_integer("people", people, 1, MAX_PEOPLE)
        limit = DEFAULT_REPORT_BYTES  # the limit of "auto", so that this agrees with a plan
        setting = Setting(self.question.workload, self.epsilon, self.delta, people, max_report_bytes=limit)
        choices, unit = options(setting, self.question.strategies), self.question.unit
        chosen = replace(evaluate_design(self.design, setting), half_width=half_width(self.design, people))
        return explain(choices, chosen, unit=unit)

    # --- values -------------------------------------------------------------------------

    def parse(self, text: str) -> object:
        """The value that typed text stands for, for a round a record; text that stands for none is returned as it is.

        Examples
        --------
        >>> import sottovoce as sv
        >>> sv.Survey(sv.choices(["tea", "coffee", "water"], most=2), epsilon=1.0).parse("tea,water")
        ['tea', 'water']
        """
        return self.question.parse(text) if self.seat is None else self.seat.panel.parse(text)

    def private_input(self, value: object) -> Any:
        """The input of the mechanism for one person's value; an error message does not contain the value."""
        if self.seat is None:
            held = self.question.private_input(value)
            inputs = np.asarray(held)[None]
        else:
            domain = self.seat.panel.domain
            record = np.array([domain.index(value)], dtype=np.int64)
            inputs = self.seat.inputs(self.question, domain.split(record))
        mechanism_input = self.design.inputs(inputs)[0]
        return mechanism_input if isinstance(mechanism_input, np.ndarray) else int(mechanism_input)


def _stated_period(period: Period) -> dict[str, Any]:
    """A period in a survey's JSON, with the whole calendar, so that it is self-contained."""
    return {"calendar": period.calendar.to_statement(), "period": period.number}


def _without_group(statement: dict[str, Any]) -> dict[str, Any]:
    return {name: entry for name, entry in statement.items() if name != "group"}


def _period_from_statement(stated: dict[str, Any]) -> Period:
    return Period(Calendar.from_statement(stated["calendar"]), stated["period"])


def _keyed(design: Strategy, survey_id: str) -> Strategy:
    """The design with the public randomness derived from the survey's id, if its mechanism uses any.

    The id covers the whole statement, so the key is set last and is not part of it.
    """
    mechanism: Any = design.mechanism
    if not hasattr(mechanism, "key"):
        return design
    known: Any = design
    return replace(known, mechanism=replace(mechanism, key=key_of(bytes.fromhex(survey_id))))  # type: ignore[no-any-return]
