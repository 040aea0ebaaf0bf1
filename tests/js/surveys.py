"""Surveys of every kind and mechanism that JavaScript answers: tiny ones to enumerate, larger ones to sample."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final

import numpy as np

import sottovoce as sv
from sottovoce.mechanisms import ChannelMechanism, FiniteMechanism, SetMechanism, serving
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.factorized import Coordinates, FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads import Bins, Dense, Marginals, Parities, Prefix, Ranges
from sottovoce.workloads.naming import value_at

__all__ = ["LARGER", "PEOPLE", "Case", "larger", "last_value", "miniatures"]

PEOPLE = 10_000
"""How many answer a survey that is sampled."""

WORDS: Final = (" Tea", "Coffee", "lemonade", "wa\u0301ter", "hot chocolate", "")
SHARES: Final = (0.4, 0.25, 0.15, 0.1, 0.05, 0.05)
"""What people drink, and how many of them; the last three are no words of Latin letters, or too long."""

CHANNEL = [[44, 18, 18, 20], [20, 44, 18, 18], [18, 20, 44, 18], [18, 18, 20, 44], [28, 28, 28, 28]]
"""Chances of five reports for four values, out of 128, within a factor of e."""

Case = tuple[Any, list[Any]]
"""A survey, and values that people may have."""


def stated(question: dict[str, Any], epsilon: float, strategy: str, mechanism: dict[str, Any]) -> Any:
    """The survey of that question, asked by this very design."""
    fields = {"format": 2, "title": "", "epsilon": epsilon, "delta": 0, "question": question}
    return sv.Survey.from_json(json.dumps({**fields, "design": {"strategy": strategy, "mechanism": mechanism}}))


def distribution(mechanism: ChannelMechanism) -> Any:
    """A survey of how people are distributed, with this very mechanism."""
    question = {"kind": "shares", "domain": {"size": mechanism.domain_size, "start": 0, "step": 1}}
    return stated(question, mechanism.epsilon, "histogram", {"name": mechanism.name, **mechanism.parameters()})


def queries(strategy: Strategy) -> Any:
    """A survey of the strategy's queries."""
    return sv.Survey(sv.queries(strategy.workload), epsilon=strategy.mechanism.epsilon, strategy=strategy)


def mean(dimension: int, epsilon: float, mechanism: dict[str, Any]) -> Any:
    """A survey of a mean, with a radius of 2."""
    return stated({"kind": "vector", "dimension": dimension, "radius": 2}, epsilon, "direct", mechanism)


def miniatures(epsilon: float) -> dict[str, Case]:
    """Surveys so small that all outcomes of a device's draws can be run."""
    return dict(_tiny(epsilon))


def _tiny(epsilon: float) -> Iterator[tuple[str, Case]]:
    for kind in serving(FiniteMechanism).values():
        for i, mechanism in enumerate(kind.miniatures(epsilon)):
            yield f"{kind.name} {i}", (distribution(mechanism), list(range(mechanism.domain_size)))
    for i, tree in enumerate(Hierarchical.miniatures(epsilon)):
        yield f"hierarchical {i}", _over_values(queries(HierarchicalStrategy(Prefix(tree.domain_size), tree)))
    for i, wavelet in enumerate(Haar.miniatures(epsilon)):
        yield f"haar {i}", _over_values(queries(HaarStrategy(Prefix(wavelet.domain_size), wavelet)))
    for i, parities in enumerate(Fourier.miniatures(epsilon)):
        yield f"fourier {i}", _over_values(queries(FourierStrategy(_tables(parities), parities)))
    for i, channel in enumerate(MatrixChannel.miniatures(epsilon)):
        J = channel.domain_size
        optimized = OptimizedStrategy.of(Prefix(J), epsilon, channel.matrix, np.full(J, 1 / J))
        yield f"matrix_channel {i}", _over_values(queries(optimized))
    codebook = {"name": "codebook", "size": 64, "candidates": 8, "marked": 3, "rotations": 2, "layers": 6}
    vectors = [[-2.0, 0.0], [5e-324, 1e308], [1.5, -0.25]]
    yield "codebook", (mean(2, epsilon, codebook), [np.array(vector) for vector in vectors])
    numbers = [2.0, -2.0, 0.0, -0.0, 1e308, 0.3, -1e-300, 1.9999999999999998]
    yield "binary", (mean(1, epsilon, {"name": "binary"}), [np.array([number]) for number in numbers])
    panel = sv.Panel(range(9), rounds=2, epsilon=epsilon)
    # As many integers as a code of so many bits has, and one that is "other".
    for i, hashed in enumerate(m for m in HashedPrefixes.miniatures(epsilon) if m.bits > 1):
        code = {"code": "integers", "below": 2**hashed.bits - 1}
        design = {"name": hashed.name, **hashed.parameters()}
        values = [*range(2**hashed.bits - 1), -1]
        yield f"hashed_prefixes {i}", (stated({"kind": "words", "code": code}, epsilon, "prefixes", design), values)
    yield "round, mean", (sv.adaptive.round_of(panel, 1, "(value - 4) / 7"), list(range(9)))
    yield "round, choice", (sv.adaptive.round_of(panel, 2, "value % 5", 5), list(range(9)))


@cache
def larger(name: str) -> Case:
    """A survey as it is asked, one of `LARGER`, with one value for each of some people."""
    survey = LARGER[name]()
    return survey, _people(survey)


PERSON: Final = {"sex": ["F", "M"], "age": 6, "club": ["a", "b", "c"]}
DOMAINS: Final = (range(-7, 41, 2), [f"label {i}" for i in range(20)], {"a": 5, "b": ["x", "y", "z"]})


def _optimized() -> Any:
    channel = ChannelMatrix(np.array(CHANNEL), 7)
    return queries(OptimizedStrategy.of(Prefix(4), 1.0, channel, np.full(4, 0.25)))


def _factorized() -> Any:
    columns = np.array([[0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, 0.5, 0.5, 0.5]], dtype=np.float32)
    codebook = Codebook.best(3, 1.0, 2.0, 0.0, PEOPLE)
    return queries(FactorizedStrategy(Dense(columns), codebook, Coordinates(columns, np.full(4, 0.25))))


def _one_attribute() -> Any:
    bins = Bins(PERSON, [0, 2, 6], attribute="age")
    return queries(FourierStrategy(bins, Fourier(36, 1.0, (2, 6, 3), 1, only=2)))


def _panel() -> Any:
    return sv.Panel(PERSON, rounds=4, epsilon=2.0)


def _sought(workload: Callable[[], Any], epsilon: float, strategy: str, mechanism: str = "auto") -> Callable[[], Any]:
    return lambda: sv.Survey(
        sv.queries(workload()), epsilon=epsilon, mechanism=mechanism, strategy=strategy, people=PEOPLE
    )


LARGER: Final[dict[str, Callable[[], Any]]] = {
    **{
        name: partial(sv.Survey, sv.shares(DOMAINS[i % 3]), epsilon=1.0 + i % 3, mechanism=name)
        for i, name in enumerate(serving(FiniteMechanism))
    },
    "direct": _sought(lambda: Prefix(12), 2.0, "direct", "codebook"),
    "direct, one query": _sought(lambda: Dense([[0.5, -1.0, 0.25, 2.0]]), 1.0, "direct", "binary"),
    "hierarchical": _sought(lambda: Prefix(range(18, 50)), 2.0, "hierarchical"),
    "haar": _sought(lambda: Ranges(13), 2.0, "haar"),
    "fourier": _sought(lambda: Marginals(PERSON, k=2), 2.0, "fourier"),
    "fourier, parities": _sought(lambda: Parities(5, 3), 2.0, "fourier"),
    "fourier, one attribute": _one_attribute,
    "tables": _sought(lambda: Marginals(PERSON, k=2), 2.0, "tables"),
    "relation": lambda: sv.Survey(
        sv.relation({"age": sv.number(0, 5), "club": PERSON["club"]}, sv.number(0, 600, "minutes")), epsilon=2.0
    ),
    "records": lambda: sv.Survey(sv.records({**PERSON, "minutes": sv.number(0, 600)}), epsilon=2.0, people=PEOPLE),
    **{
        f"choices, {name}": partial(sv.Survey, sv.choices(12, 3), epsilon=2.0, mechanism=name, people=PEOPLE)
        for name in serving(SetMechanism)
    },
    "histogram": _sought(lambda: Prefix(12), 2.0, "histogram", "subset_selection"),
    "histogram, hadamard": _sought(lambda: Prefix(12), 2.0, "histogram", "hadamard"),
    "histogram, blocks": _sought(lambda: Prefix(12), 2.0, "histogram", "hadamard_blocks"),
    "histogram, projective geometry": _sought(lambda: Prefix(12), 2.0, "histogram", "projective_geometry"),
    "optimized": _optimized,
    "factorized": _factorized,
    "mean": lambda: sv.Survey(sv.vector(5, 2.0), epsilon=2.0, mechanism="codebook", people=PEOPLE),
    "mean of a number": lambda: sv.Survey(sv.vector(1, 3.0), epsilon=1.0, mechanism="binary"),
    "number, mean": lambda: sv.Survey(sv.number(-20, 40, points=9), epsilon=2.0),
    "number, spread": lambda: sv.Survey(sv.number(0, 1, wants="spread", points=5), epsilon=2.0),
    "number, distribution": lambda: sv.Survey(sv.number(0, 600, wants="distribution", points=12), epsilon=2.0),
    "words": lambda: sv.Survey(sv.words(8, "latin"), epsilon=3.0, people=PEOPLE),
    "round, mean": lambda: sv.adaptive.round_of(_panel(), 1, "age / 9 + 0.25 * (sex == 'M')"),
    "round, choice": lambda: sv.adaptive.round_of(_panel(), 2, "find(club, ('c', 'a', 'b'))", 3),
}
"""Every mechanism and every strategy that JavaScript runs."""


def _people(survey: Any) -> list[Any]:
    rng = np.random.default_rng(PEOPLE)
    if survey.kind in ("records", "relation"):
        return [
            _record(survey, *one) for one in zip(rng.integers(0, 36, PEOPLE), rng.uniform(0, 700, PEOPLE), strict=True)
        ]
    if survey.kind == "choices":
        first = rng.integers(0, 9, size=PEOPLE)
        return [[] if one == 8 else [int(one), int(one) // 4 + 9] if one > 3 else [int(one)] for one in first]
    if survey.kind == "words":
        return [WORDS[place] for place in rng.choice(len(WORDS), PEOPLE, p=SHARES)]
    if survey.kind == "number":
        low, high = survey.question.grid.low, survey.question.grid.high
        return list(low + (high - low) * rng.beta(2.0, 5.0, PEOPLE))
    if survey.domain is None:
        dimension, radius = survey.question.dimension, survey.question.radius
        return list(np.linspace(1.0, 0.0, dimension) * radius / 2 + rng.uniform(-0.2, 0.2, (PEOPLE, dimension)))
    shares = 1 / np.arange(1, survey.domain.size + 1)
    return [value_at(survey.domain, int(v)) for v in rng.choice(survey.domain.size, PEOPLE, p=shares / shares.sum())]


def last_value(survey: Any) -> Any:
    """A value that hardly anybody has."""
    if survey.kind in ("records", "relation"):
        return _record(survey, 35, 600.0)
    if survey.kind == "choices":
        return [9, 11]
    if survey.kind == "words":
        return "nobody's"
    if survey.kind == "number":
        return float(survey.question.grid.high)
    if survey.domain is None:
        return np.full(survey.question.dimension, -survey.question.radius / 4)
    return value_at(survey.domain, survey.domain.size - 1)


def _record(survey: Any, number: int, minutes: float) -> dict[str, Any]:
    person = {**value_at(sv.Domain.of(PERSON), int(number)), "minutes": round(float(minutes), 3)}
    return {name: person[name] for name in survey.question.field_names}


def _over_values(survey: Any) -> Case:
    return survey, [value_at(survey.domain, number) for number in range(survey.domain.size)]


def _tables(parities: Fourier) -> Any:
    """A workload that asks for exactly these coefficients."""
    domain = sv.Domain.product(**{f"a{i}": size for i, size in enumerate(parities.sizes)})
    if parities.only == 0:
        return Marginals(domain, k=parities.order)
    size = parities.sizes[parities.only - 1]
    return Bins(domain, [0, 1, size], attribute=f"a{parities.only - 1}")
