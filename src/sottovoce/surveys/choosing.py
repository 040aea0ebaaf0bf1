"""Which design a survey gets: the one that is named, or the best of all that can serve."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from sottovoce.errors import MechanismError, SurveyError
from sottovoce.limits import (
    MAX_COUNTERS,
    MAX_REPORT_BYTES,
    MAX_USERS,
    check_delta,
    check_epsilon,
    check_integer,
)
from sottovoce.mechanisms.channel_registry import CHANNELS
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS
from sottovoce.questions.base import Question
from sottovoce.strategies.base import AUTO, Setting, Strategy
from sottovoce.strategies.options import Criterion, choose
from sottovoce.strategies.registry import STRATEGIES

__all__ = ["Asking", "check_setting", "design_for"]


class Asking(TypedDict, total=False):
    """What every way to make a survey takes besides the question, epsilon and mechanism; see `Survey.ask`."""

    strategy: str | Strategy
    users: int
    max_report_bytes: int
    max_counters: int
    criterion: Criterion
    title: str


def check_setting(question: Question, setting: Setting) -> Setting:
    """The setting with every number checked, and the strategy and mechanism if they are named."""
    name = setting.strategy
    if name != AUTO and (not isinstance(name, str) or name not in STRATEGIES):
        raise SurveyError(f"strategy must be one of {', '.join(STRATEGIES)}, or {AUTO!r}").at("strategy")
    if name not in (AUTO, *question.strategies):
        listed = ", ".join(question.strategies)
        raise SurveyError(f"a {question.kind} question cannot be asked by {name}; it takes {listed}").at("strategy")
    if setting.mechanism not in (AUTO, *MECHANISMS, *VECTOR_MECHANISMS, *CHANNELS):
        raise MechanismError(
            f"mechanism must be one of {', '.join((*MECHANISMS, *VECTOR_MECHANISMS, *CHANNELS))}, or {AUTO!r}"
        ).at("mechanism")
    return replace(
        setting,
        epsilon=check_epsilon(setting.epsilon),
        delta=check_delta(setting.delta),
        users=check_integer("users", setting.users, 1, MAX_USERS),
        max_report_bytes=check_integer("max_report_bytes", setting.max_report_bytes, 1, MAX_REPORT_BYTES),
        max_counters=check_integer("max_counters", setting.max_counters, 1, MAX_COUNTERS),
    )


def design_for(question: Question, setting: Setting, strategy: str | Strategy, criterion: Criterion) -> Strategy:
    """The design of a survey: the best, among those of a strategy if one is named, or the one that is given."""
    if criterion not in ("l2", "margin"):
        raise SurveyError("criterion must be 'l2' or 'margin'").at("criterion")
    if not isinstance(strategy, Strategy):
        checked = check_setting(question, replace(setting, strategy=strategy))
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
