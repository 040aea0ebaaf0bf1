"""Surveys, and not only their mechanisms, keep their promise: the exact channel of the bytes that a device sends.

A survey is read from its JSON, `Survey.randomize` is run on every outcome of its randomness, for every value of a small
domain, and the chances of equal bytes are added up. So whatever stands between a person's value and the mechanism is
audited too: the domain, the query of a round, clipping, a design's columns, the tag.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.auditing.channel import Channel, worst_ratio
from sottovoce.mechanisms import ChannelMechanism, FiniteMechanism, SetMechanism, Tables, serving
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.registry import create
from sottovoce.questions import Choices, Queries, Vector
from sottovoce.randomness import Source, within_epsilon
from sottovoce.randomness.scripts import row_of
from sottovoce.strategies import Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import Coordinates, FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.sets import SetStrategy
from sottovoce.strategies.setting import Setting
from sottovoce.strategies.tables.strategy import TablesStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.surveys import survey as survey_module
from sottovoce.surveys.panel import Seat
from sottovoce.workloads import Bins, Dense, Marginals, Prefix, Ranges
from sottovoce.workloads.ball import Ball
from sottovoce.workloads.naming import value_at

EPSILONS = [0.25, 1.0, 3.0]
PERSON = {"age": range(4), "city": ["Oslo", "Rome"]}
ONE_QUERY = Dense([[0.5, -1.0, 0.25, 2.0]])


def device(survey: sv.Survey, values: list[Any], monkeypatch: pytest.MonkeyPatch) -> Channel:
    """For every value, the exact probability of every report that a device would send."""
    draws: list[Source] = []
    monkeypatch.setattr(survey_module, "os_source", lambda: draws[-1])

    def sent(value: Any, source: Source) -> bytes:
        draws[:] = [source]
        report = survey.randomize(value)
        assert report.startswith(survey.tag)
        assert len(report) == len(survey.tag) + survey.mechanism.report_bytes
        return report

    channel = {place: row_of(partial(sent, value)) for place, value in enumerate(values)}
    assert all(sum(row.values()) == 1 for row in channel.values())
    return channel


def audited(survey: sv.Survey, values: list[Any], monkeypatch: pytest.MonkeyPatch) -> Fraction:
    """The worst likelihood ratio of the survey behind the published JSON, which must be within its epsilon."""
    published = sv.Survey.from_json(survey.to_json(), survey.attachments)
    assert isinstance(published, sv.Survey)
    worst = worst_ratio(device(published, values, monkeypatch))
    assert worst is not None
    assert within_epsilon(worst, published.epsilon)
    return worst


def everybody(survey: sv.Survey) -> list[Any]:
    """Every value of the domain."""
    assert survey.domain is not None
    return [value_at(survey.domain, number) for number in range(survey.domain.size)]


def small(dimension: int, radius: float, epsilon: float) -> Codebook:
    """A codebook with so few candidates and rotations that every outcome can be run."""
    return Codebook(dimension, radius, epsilon, 0.0, 64, 4, 1, 2, 6)


# --- shares and queries -------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mechanism", serving(FiniteMechanism))
@pytest.mark.parametrize("domain", [["a", "b", "c", "d", "e"], {"x": 2, "y": ["p", "q"]}], ids=["labels", "records"])
def test_shares(domain: Any, mechanism: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = sv.Survey(sv.shares(domain), epsilon=epsilon, mechanism=mechanism)
    assert audited(survey, everybody(survey), monkeypatch) == survey.mechanism.privacy_ratio()  # type: ignore[union-attr]


@cache
def designs(epsilon: float) -> dict[str, Strategy]:
    """Every strategy, and the histogram with every mechanism."""
    columns = np.array([[0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, 0.5, 0.5, 0.5]], dtype=np.float32)
    channel = MatrixChannel.miniatures(epsilon)[-1]
    J = channel.domain_size
    return {
        **{f"histogram, {name}": Histogram(Prefix(5), create(name, 5, epsilon)) for name in serving(FiniteMechanism)},
        "haar": HaarStrategy.best(Ranges(5), epsilon),
        "hierarchical": HierarchicalStrategy.best(Prefix(6), epsilon),
        "fourier": FourierStrategy.best(Marginals({"a": 3, "b": 2}, k=2), epsilon),
        "fourier, bins": FourierStrategy.best(Bins(PERSON, [0, 1, 4], attribute="age"), epsilon),
        "tables": TablesStrategy.designs(Setting(Marginals({"a": 2, "b": 2, "c": 2}, k=2), epsilon, 0.0, 1000))[0],
        "optimized": OptimizedStrategy.of(Prefix(J), epsilon, channel.matrix, np.full(J, 1 / J)),
        "direct, binary": Direct(ONE_QUERY, Binary(1, ONE_QUERY.radius, epsilon, 0.0)),
        "direct, codebook": Direct(Prefix(4), small(4, Prefix(4).radius, epsilon)),
        "factorized": FactorizedStrategy(
            Dense(columns), small(3, 1.0, epsilon), Coordinates(columns, np.full(4, 0.25))
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", designs(1.0))
def test_queries(name: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    design = designs(epsilon)[name]
    survey = sv.Survey.of_design(Queries(design.workload), design)
    found = audited(survey, everybody(survey), monkeypatch)
    if isinstance(survey.mechanism, ChannelMechanism | Tables):
        assert found == survey.mechanism.privacy_ratio()
    else:
        assert float(found) > 1 + epsilon / 4


def test_every_strategy_was_audited() -> None:
    assert {design.name for design in designs(1.0).values()} == set(Queries.strategies)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_vectors_inside_the_ball_and_beyond_it(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    number = sv.Survey(sv.vector(1, 2.0), epsilon=epsilon, mechanism="binary")
    found = audited(number, [[x] for x in (-2.0, 2.0, 0.0, -0.0, 0.3, 1e308, -1e308, 5e-324)], monkeypatch)
    assert found == end_ratio(number)
    vector = sv.Survey.of_design(Vector(2, 2.0), Direct(Ball(2, 2.0), small(2, 2.0, epsilon)))
    audited(vector, [[-2.0, 0.0], [2.0, 0.0], [0.0, 0.0], [1e308, 5e-324], [1.5, -0.25]], monkeypatch)


@pytest.mark.parametrize("kind", serving(SetMechanism).values())
def test_every_set(kind: type[SetMechanism], monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = kind.miniatures(1.0)[1]
    question = Choices(mechanism.options, mechanism.most)
    survey = sv.Survey.of_design(question, SetStrategy(question.workload, mechanism))
    found = audited(survey, [question.audit_trials().value(i) for i in range(question.n_possible or 0)], monkeypatch)
    assert 0.8 * mechanism.privacy_ratio() < found <= mechanism.privacy_ratio()


# --- rounds -------------------------------------------------------------------------------------


def end_ratio(survey: sv.Survey) -> Fraction:
    """How much likelier one end of the range makes a bit than the other."""
    mechanism = survey.mechanism
    assert isinstance(mechanism, Binary)
    return mechanism.probability(1, mechanism.radius) / mechanism.probability(1, -mechanism.radius)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("query", "reaches_the_ends"),
    [
        ("2 * (city == 'Rome') - 1", True),
        ("age / 3", False),
        ("0.5", False),
        ("1000 * age - 1500", True),  # a hostile query, which a session would not ask: the device clips its values
        ("1e300 if age < 2 else -1e300", True),
    ],
)
def test_means_in_rounds(query: str, reaches_the_ends: bool, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = sv.adaptive.round_of(sv.Panel(PERSON, rounds=3, epsilon=epsilon), 2, query)
    found = audited(survey, everybody(survey), monkeypatch)
    assert (found == end_ratio(survey)) is reaches_the_ends


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mechanism", serving(FiniteMechanism))
@pytest.mark.parametrize("query", ["age", "find(city, ('Rome', 'Oslo'))", "7 * age - 9"])
def test_choices_in_rounds(query: str, mechanism: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = Seat(sv.Panel(PERSON, rounds=3, epsilon=epsilon), 1, sv.query(query))
    question = seat.choice(4)
    survey = sv.Survey.of_design(question, Histogram(question.workload, create(mechanism, 4, epsilon)), "", seat=seat)
    found = audited(survey, everybody(survey), monkeypatch)
    assert found == survey.mechanism.privacy_ratio()  # type: ignore[union-attr]


# --- the audit finds what is planted ------------------------------------------------------------


def test_a_tag_that_tells_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One bit of the value where no mechanism ever looks."""
    survey = sv.Survey(sv.shares(4), epsilon=1.0, mechanism="randomized_response")
    honest = sv.Survey.randomize

    def telling(self: sv.Survey, value: Any) -> bytes:
        report = honest(self, value)
        return report[:-1] + bytes([report[-1] ^ (value & 1) << 7])

    monkeypatch.setattr(sv.Survey, "randomize", telling)
    assert worst_ratio(device(survey, list(range(4)), monkeypatch)) is None


def test_a_design_that_hands_over_other_values_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two values that are taken for one make the channel too good: the ratio is not the mechanism's any more."""
    survey = sv.Survey(sv.shares(2), epsilon=1.0, mechanism="randomized_response")
    monkeypatch.setattr(Histogram, "inputs", lambda self, indices: np.zeros_like(indices))
    assert audited(survey, [0, 1], monkeypatch) == 1
