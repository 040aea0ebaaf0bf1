"""The choice of a survey's design: the one named, or the best of all that can serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TypeAlias, TypedDict

from sottovoce.core.calls import did_you_mean
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.limits import (
    MAX_COUNTERS,
    MAX_PEOPLE,
    MAX_REPORT_BYTES,
    check_delta,
    check_epsilon,
    check_integer,
)
from sottovoce.core.progress import steps
from sottovoce.domain import Domain
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.registry import MECHANISMS, REGISTRY, register
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.questions.base import Question
from sottovoce.questions.shares import Shares
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.histogram import design_around
from sottovoce.strategies.options import Criterion, choose
from sottovoce.strategies.registry import REGISTRY as STRATEGIES
from sottovoce.strategies.registry import find
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.surveys.relay import Relay
from sottovoce.workloads.base import Workload

__all__ = ["Asked", "Asking", "NamedMechanism", "as_question", "check_delta_used", "check_setting", "design_for"]

NamedMechanism: TypeAlias = str | FiniteMechanism | type[FiniteMechanism]
"""A mechanism by its name; for values also as an object or a class, which may be of another package."""


Asked: TypeAlias = Question | Domain | Sequence[object] | range
"""A question, or the labels of one that asks for shares."""


class Asking(TypedDict, total=False):
    """Arguments of `Survey` besides the question and epsilon."""

    delta: float
    strategy: str | Strategy
    mechanism: NamedMechanism
    people: int
    max_report_bytes: int
    max_counters: int
    criterion: Criterion
    title: str
    relay: Relay | None
    groups: Mapping[str, Sequence[str]] | None


def as_question(asked: object) -> Question:
    """The question that was given; labels and domains ask for shares.

    Numbers and mappings are refused, because they could mean several questions.
    """
    if isinstance(asked, Question):
        return asked
    if isinstance(asked, type) and issubclass(asked, Question):
        remedy = f"give the question itself, such as sv.{asked.kind}(...)"
    elif isinstance(asked, (Domain, range)) or (isinstance(asked, (list, tuple)) and not _is_nested(asked)):
        return Shares(asked)  # type: ignore[arg-type]
    elif isinstance(asked, Workload):
        remedy = "write sv.queries(workload)"
    elif isinstance(asked, Mapping):
        remedy = "write sv.records({...}) for tables of its attributes, or sv.shares({...}) for whole records"
    elif isinstance(asked, Integral) and asked not in (False, True):
        remedy = f"write sv.shares({int(asked)}) for that many values, or sv.vector({int(asked)}) for vectors"
    else:
        remedy = (
            "write sv.shares, sv.number, sv.choices, sv.records, sv.words, sv.queries or sv.vector, or a list of labels"
        )
    raise SurveyError(f"question has type {type(asked).__name__}: {remedy}").at("question")


def _is_nested(asked: Sequence[object]) -> bool:
    return any(isinstance(item, (list, tuple, Mapping, Question)) for item in asked)


def check_setting(question: Question, setting: Setting) -> Setting:
    """The setting with every number, and the names of strategy and mechanism, checked."""
    name = setting.strategy
    if name != AUTO and name not in question.strategies and not STRATEGIES.is_foreign(find(name)):
        listed = ", ".join(question.strategies)
        raise SurveyError(f"a {question.kind} question cannot be asked by {name}; it takes {listed}").at("strategy")
    if setting.mechanism not in (AUTO, *MECHANISMS):
        _check_known(setting.mechanism)
    return replace(
        setting,
        epsilon=check_epsilon(setting.epsilon),
        delta=check_delta(setting.delta),
        people=check_integer("people", setting.people, 1, MAX_PEOPLE),
        max_report_bytes=check_integer("max_report_bytes", setting.max_report_bytes, 1, MAX_REPORT_BYTES),
        max_counters=check_integer("max_counters", setting.max_counters, 1, MAX_COUNTERS),
    )


def _check_known(mechanism: object) -> None:
    try:
        known = REGISTRY.lookup(mechanism) is not None
    except MechanismError as error:
        raise error.at("mechanism") from None
    if not known:
        names = ", ".join(MECHANISMS)
        hint = did_you_mean(mechanism, MECHANISMS)
        raise MechanismError(f"mechanism must be one of {names}, or {AUTO!r}{hint}; {REGISTRY.remedy}").at("mechanism")


def design_for(
    question: Question,
    setting: Setting,
    strategy: str | Strategy,
    mechanism: NamedMechanism,
    criterion: Criterion,
) -> Strategy:
    """The design of a survey: the given one, or the best, of one strategy or mechanism if it is named."""
    if criterion not in ("l2", "margin"):
        raise SurveyError("criterion must be 'l2' or 'margin'").at("criterion")
    if isinstance(mechanism, FiniteMechanism):
        strategy = _around(question, strategy, mechanism)
    else:
        setting = replace(setting, mechanism=_name_of(mechanism))
    if not isinstance(strategy, Strategy):
        checked = check_setting(question, replace(setting, strategy=strategy))
        check_delta_used(question, checked)
        with steps("comparing designs"):
            option = choose(checked, question.strategies, criterion)
        if option.design is None:
            raise MechanismError(option.reason)
        return option.design
    checked = check_setting(question, setting)
    if checked.mechanism != AUTO:
        raise SurveyError("a strategy given as an object brings its mechanism: give one or the other").at("mechanism")
    if strategy.epsilon != checked.epsilon:
        raise SurveyError("the strategy is for another epsilon than the survey states").at("epsilon")
    if strategy.delta > checked.delta:
        raise SurveyError(
            f"the strategy's delta is {strategy.delta:g}, above the {checked.delta:g} allowed; state that delta"
        ).at("delta")
    if strategy.workload != question.workload:
        raise SurveyError("the strategy is for another workload than the question's").at("strategy")
    if strategy.mechanism.report_bytes > checked.max_report_bytes:
        raise SurveyError(
            f"the strategy's report takes {strategy.mechanism.report_bytes:,} bytes, above the "
            f"{checked.max_report_bytes:,} allowed; raise max_report_bytes"
        ).at("max_report_bytes")
    return strategy


def check_delta_used(question: Question, setting: Setting) -> None:
    """Refuse a delta that no design of the question could use: all of them are pure."""
    names = question.strategies if setting.strategy == AUTO else (setting.strategy,)
    kinds = [find(name) for name in names]
    if setting.delta > 0 and not any(kind.family is VectorMechanism or STRATEGIES.is_foreign(kind) for kind in kinds):
        raise SurveyError(
            f"delta is {setting.delta:g}, but all designs of this {question.kind} question are pure epsilon-LDP: leave "
            "delta out"
        ).at("delta")


def _name_of(mechanism: str | type[FiniteMechanism]) -> str:
    """The name of a mechanism; a class of another package is registered, so that surveys can name it."""
    if not isinstance(mechanism, type):
        return mechanism
    if REGISTRY.is_foreign(mechanism):
        try:
            register(mechanism)
        except MechanismError as error:
            raise error.at("mechanism") from None
    return mechanism.name


def _around(question: Question, strategy: str | Strategy, mechanism: FiniteMechanism) -> Strategy:
    """The design that a mechanism given as an object makes."""
    if not isinstance(strategy, str):
        raise SurveyError("give a strategy or a mechanism as an object, not both").at("mechanism")
    try:
        return design_around(mechanism, question.workload, strategy, question.strategies)
    except SurveyError as error:
        raise error.at("mechanism") from None
