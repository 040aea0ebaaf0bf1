"""Plans under a shuffler: the certificate is that of the very design planned, and nothing cheaper would do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import PlanError, SottovoceError
from sottovoce.core.limits import MAX_EPSILON
from sottovoce.core.words import SHUFFLER, rounded_up
from sottovoce.planning.plan import Plan
from sottovoce.questions import Choices, Number, Queries, Records, Shares, Vector
from sottovoce.questions.base import Question
from sottovoce.strategies.options import usable_designs
from sottovoce.surveys.amplified import Amplified
from sottovoce.workloads import Prefix

GOAL: dict[str, Any] = {"central_epsilon": 0.5, "delta": 1e-8}

ASKED: dict[str, Question] = {
    "shares": Shares(40),
    "queries": Queries(Prefix(64)),
    "vector": Vector(8, 3.0),
    "choices": Choices(list("abcd"), 2),
    "records": Records({"city": list("abc"), "age": range(10)}),
    "spread": Number.of(low=0, high=3, wants="spread", points=6),
}


def certified(plan: Plan, epsilon: float, n: int) -> float:
    """The central epsilon of the planned strategy and mechanism at a local epsilon."""
    setting = replace(plan.setting, epsilon=epsilon, mechanism=plan.best.mechanism)
    (design,) = usable_designs(setting, (plan.best.strategy,))
    return Amplified.of(design.for_people(plan.people, setting.max_counters).mechanism, n, GOAL["delta"]).epsilon


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
def test_the_certificate_holds_for_the_planned_survey(kind: str) -> None:
    found = sv.plan(ASKED[kind], people=50_000, **GOAL)
    assert found.central is not None
    survey, certificate = found.survey("any title"), found.central.certificate
    assert survey.amplified(people=50_000, delta=1e-8) == certificate
    assert certificate.epsilon <= 0.5 < certificate.local_epsilon == found.epsilon == survey.epsilon
    assert found.delta == survey.delta == 0
    assert found.solved_for == "error"
    assert found.best.error(found.criterion) == min(one.error(found.criterion) for one in found.options if one.fits)
    central = f"central epsilon {rounded_up(certificate.epsilon)}, delta 1e-08, {SHUFFLER}"
    assert found.promise == f"local epsilon {found.epsilon:g} on the device; {central}"


def test_no_design_could_say_more_and_the_best_beats_those_at_the_generic_epsilon() -> None:
    """Each option stands at its own largest local epsilon of three digits."""
    found = sv.plan(sv.shares(40), people=100_000, **GOAL)
    assert len({one.epsilon for one in found.options if one.design is not None}) > 1
    for one in found.options:
        if one.design is not None:
            plan = replace(found, options=(one,))
            assert certified(plan, one.epsilon, 100_000) <= 0.5 < certified(plan, one.epsilon + 0.02, 100_000)
    generic = sv.plan(sv.shares(40), people=100_000, epsilon=5.5)
    assert found.margin < generic.margin


@pytest.mark.parametrize("least", [None, 10_000])
def test_people_are_enough_for_the_error_and_for_the_certificate(least: int | None) -> None:
    found = sv.plan(sv.shares(40), margin=0.01, least=least, **GOAL)
    assert found.solved_for == "people"
    assert found.central is not None
    n = found.people if least is None else least
    # The local epsilon is rounded down after people are counted, so a margin may be larger by its last digit.
    assert (found.central.certificate.n, found.margin <= 0.01 * 1.002) == (n, True)
    assert found.central.certificate.epsilon <= 0.5
    fewer = sv.plan(sv.shares(40), people=round(0.98 * found.people), least=least, criterion="margin", **GOAL)
    assert fewer.margin > 0.01


def test_a_batch_is_planned_even_where_the_error_takes_fewer_people() -> None:
    assert sv.plan(sv.shares(40), margin=0.1, least=10_000, **GOAL).people == 10_000


def test_a_smaller_batch_hides_less() -> None:
    all_at_once, in_parts = (sv.plan(sv.shares(40), people=100_000, least=least, **GOAL) for least in (None, 10_000))
    assert in_parts.epsilon < all_at_once.epsilon
    assert in_parts.margin > all_at_once.margin


def test_a_period_is_a_batch() -> None:
    found = sv.plan(["yes", "no"], periods=12, people=120_000, **GOAL)
    once = sv.plan(["yes", "no"], people=10_000, **GOAL)
    assert found.period.central is not None
    assert (found.people, found.period.people, found.period.central.certificate.n) == (120_000, 10_000, 10_000)
    assert found.epsilon == once.epsilon
    assert found.period.promise in str(found)
    people = sv.plan(["yes", "no"], periods=12, change=0.05, **GOAL)
    assert people.people == 12 * people.period.people
    assert people.change <= 0.05


def test_which_limit_binds_is_said() -> None:
    capped = sv.plan(sv.shares(40), people=100_000, epsilon=2.0, **GOAL)
    assert capped.central is not None
    assert (capped.epsilon, capped.central.device_note) == (2.0, "")
    assert capped.central.limit_note.startswith("Local epsilon 2 is the largest allowed")
    free = sv.plan(sv.shares(40), people=100_000, **GOAL)
    assert free.central is not None
    assert (free.central.limit_note, "above 2" in free.central.device_note) == ("", True)
    # More than the mechanism can use is not charged: beyond 2.81 it has the same channel.
    unused = sv.plan(Vector(8, 3.0), people=10**6, mechanism="rejection", **GOAL)
    assert unused.epsilon < 3 < MAX_EPSILON


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"central_epsilon": 0.0}, "central_epsilon"),
        ({"central_epsilon": "much"}, "central_epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"people": 1}, "people"),
        ({"people": 999, "least": 1000}, "people"),
        ({"least": 1}, "least"),
        ({"margin": 0.01}, "people"),
        ({"people": None}, "people"),
        ({"people": None, "margin": 1e-6}, "margin"),
        ({"mechanism": "gaussian"}, "mechanism"),
        ({"epsilon": 17.0}, "epsilon"),
    ],
)
def test_refusals(given: dict[str, Any], field: str) -> None:
    asked: dict[str, Any] = {"people": 1000, **GOAL, **given}
    question = Vector(2, 1.0) if "mechanism" in given else Shares(4)
    with refuses(SottovoceError, field):
        sv.plan(question, **asked)


def test_a_batch_without_a_shuffler_is_a_mistake() -> None:
    with refuses(PlanError, "least"):
        sv.plan(sv.shares(4), people=1000, epsilon=1.0, least=100)
