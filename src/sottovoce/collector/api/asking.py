"""What drafts and plans share: the question of a request, and the library's plan for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
import numpy as np

from sottovoce.collector.api.parameters import MOST_LISTED, read_parameters
from sottovoce.core.errors import CapacityError, PlanError, SurveyError
from sottovoce.planning.planner import plan
from sottovoce.protocol.drafts import Draft, PlanRequest
from sottovoce.questions.base import Question
from sottovoce.questions.registry import REGISTRY
from sottovoce.service.refusal import Refusal
from sottovoce.strategies.registry import STRATEGIES
from sottovoce.surveys.panel import Panel

__all__ = ["as_refusals", "check_fields", "plan_for", "population_of", "question_of"]

_DESIGN: Final = ("delta", "strategy", "mechanism", "criterion", "max_report_bytes", "max_counters")
"""Fields by which a design is chosen besides epsilon and people."""


@contextmanager
def as_refusals(field: str | None = None) -> Iterator[None]:
    """What the library refuses inside is answered as such, with the field that it blames, or else this one."""
    try:
        yield
    except (SurveyError, PlanError, CapacityError) as error:
        raise Refusal(422, "invalid_draft", str(error), field=error.field or field) from None


def question_of(asked: Draft | PlanRequest) -> Question:
    """The question that is asked."""
    kind = REGISTRY.lookup(asked.kind)
    if kind is None:
        kinds = ", ".join((*REGISTRY.everything(), Panel.kind))
        raise SurveyError(f"kind must be one of {kinds}").at("kind")
    return kind.of(**read_parameters(f"a {kind.kind} question", kind.parameters, asked.parameters))


def check_fields(asked: Draft | PlanRequest, taken: Collection[str]) -> None:
    """Refuse what plays no part for this kind, so that nobody thinks that it did."""
    given = {name: value for name, value in msgspec.structs.asdict(asked).items() if value is not None}
    extra = next((name for name in given if name not in {"kind", "parameters", *taken}), None)
    if extra is not None:
        message = f"{extra} plays no part where the kind is {asked.kind}; leave it out, or give {', '.join(taken)}"
        raise SurveyError(message).at(extra)


def plan_for(question: Question, asked: Draft | PlanRequest, **given: Any) -> Any:
    """The library's plan, if it can be made while somebody waits: of a survey, of periods, or of two groups."""
    return plan(question, epsilon=asked.epsilon, **given, **_design(question, asked))


def _design(question: Question, asked: Draft | PlanRequest) -> dict[str, Any]:
    """The fields by which its design is chosen; a refusal if that would take minutes."""
    kind = STRATEGIES.get(asked.strategy or "")
    most, values = None if kind is None else kind.quick_values, question.workload.n_values
    if most is not None and values is not None and values > most:
        raise SurveyError(
            f"{asked.strategy} takes minutes to find for {values:,} values, and is found here for up to {most}: make "
            "the survey in Python or on the command line, and publish it"
        ).at("strategy")
    return {name: getattr(asked, name) for name in _DESIGN if getattr(asked, name) is not None}


def population_of(question: Question, asked: PlanRequest) -> Any:
    """The people a plan is for, as `plan` takes them."""
    if asked.population != "uniform" or question.domain is None:
        return asked.population
    size = question.domain.size
    if size > MOST_LISTED:
        raise SurveyError(
            f"a population of {size:,} values is too long to be listed; up to {MOST_LISTED:,} are taken here: leave it "
            "out for the worst case"
        ).at("population")
    return np.full(size, 1 / size)
