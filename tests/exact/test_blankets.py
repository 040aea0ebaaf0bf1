"""Every mechanism's blanket against its channel, listed: the mass, every ordered pair, and the pairs stated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.auditing.blankets import WEIGHTS, blanket_fault, blanket_masses, pair_excess
from sottovoce.auditing.conformance import ConformanceError, check_instance
from sottovoce.mechanisms import MECHANISMS
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.mechanisms.tables import TableResponse, Tables
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.randomness import ONE
from sottovoce.theory import blanket_laws as listed
from sottovoce.theory.blanket import Blanket, PairLaw
from sottovoce.theory.convex_order import envelope, opposed, stop_losses

Floats = NDArray[np.float64]

WITHOUT = {
    "gaussian": "its delta is above 0, for which nothing here is proved",
    "sphere": "a baseline in floating point that never runs on a device",
}
"""Mechanisms without a blanket of their own, and why."""

SMALLER = ("wheel", "set_selection", "rejection", "hashed_prefixes")
"""Those whose stated blanket may be smaller than the least probability: the same for every report."""

SPREAD = ("matrix_channel", "rounded_channel", "wheel", "rejection", "hashed_prefixes")
"""Those whose dominating law may be above every pair's: spread over a grid, or for seeds that a miniature lacks."""

ROUNDING = 1e-11


def floats(channel: list[list[Fraction]]) -> Floats:
    return np.array(channel, dtype=np.float64)


def of_vectors(kind: type[Mechanism], epsilon: float) -> Iterator[tuple[Mechanism, Floats]]:
    """Instances for vectors, given what is drawn in public; every way to mark candidates, every kind of chance."""
    if kind is Binary:
        coin = Binary(1, 2.0, epsilon, 0.0)
        yield coin, floats([[coin.probability(bit, x) for bit in (0, 1)] for x in (-2.0, -0.3, 0.0, 1.1, 2.0)])
    elif kind is Rejection:
        rejection = Rejection.best(2, 1.0, epsilon, 0.0, 1000)
        ones = [Fraction(rejection.threshold(t), ONE) for t in (-math.inf, -3.0, 0.0, 0.4, 9.0, math.nan)]
        yield rejection, floats([[1 - one, one] for one in ones])
    elif kind is Codebook:
        for candidates, marked in ((4, 2), (8, 1), (8, 3)):
            book = replace(Codebook.best(3, 1.0, epsilon, 0.0, 1000), candidates=candidates, marked=marked)
            inside, outside = book.levels.each_inside, book.levels.each_outside
            marks = combinations(range(candidates), marked)
            yield book, floats([[inside if c in top else outside for c in range(candidates)] for top in marks])


def instances(kind: type[Any], epsilon: float) -> Iterator[Any]:
    yield from kind.miniatures(epsilon)
    if issubclass(kind, FiniteMechanism):
        yield kind.best(9, epsilon)
    if kind is Tables:
        response = RandomizedResponse(3, epsilon)
        yield Tables((3, 3), (1, 1), epsilon, (TableResponse((0,), 1, response), TableResponse((1,), 2, response)))


def listings(kind: type[Any], epsilon: float) -> Iterator[tuple[Mechanism, Floats]]:
    """Small instances with all their probabilities: one row per value."""
    values: list[Any]
    if not issubclass(kind, ChannelMechanism | SetMechanism | Tables | HashedPrefixes):
        yield from of_vectors(kind, epsilon)
        return
    for mechanism in instances(kind, epsilon):
        values = list(mechanism.miniature_inputs())
        reports = list(mechanism.outputs())
        yield mechanism, floats([[mechanism.probability(report, value) for report in reports] for value in values])


def blanket_of(mechanism: Mechanism) -> Blanket:
    blanket = mechanism.blanket()
    assert blanket is not None
    return blanket


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in WITHOUT])
@pytest.mark.parametrize("epsilon", [0.6, 2.0])
def test_the_blanket_covers_every_ordered_pair_of_values(name: str, epsilon: float) -> None:
    for mechanism, channel in listings(MECHANISMS[name], epsilon):
        blanket = blanket_of(mechanism)
        assert blanket_fault(blanket, channel) is None, mechanism
        masses = blanket_masses(blanket, channel)
        assert masses is not None
        assert name in SMALLER or np.array_equal(masses, channel.min(axis=0)), f"{mechanism} has a larger blanket"
        for weight in WEIGHTS:
            slack = -pair_excess(blanket, channel, masses, weight).min()
            assert name in SPREAD or slack < ROUNDING, f"{mechanism} states more than any pair has"


def classes(law: PairLaw) -> dict[tuple[float, float], Floats]:
    """Masses under blanket, one, other and bystander, by the two ratios."""
    found: dict[tuple[float, float], Floats] = {}
    for row in np.stack([law.blanket, law.one, law.other, law.bystander], axis=1):
        key = round(row[1] / row[0], 9), round(row[2] / row[0], 9)
        found[key] = found.get(key, 0) + row
    return found


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in WITHOUT])
def test_stated_laws_are_those_of_values(name: str) -> None:
    """Each is that of two values and a bystander, so that tests made of it are about people who can exist."""
    for mechanism, channel in listings(MECHANISMS[name], 1.0):
        blanket = blanket_of(mechanism)
        g = blanket_masses(blanket, channel)
        for law in blanket.laws:
            stated = classes(law)

            def agrees(
                one: int, other: int, third: int, stated: Any = stated, g: Any = g, channel: Any = channel
            ) -> bool:
                found = classes(PairLaw(g, channel[one], channel[other], channel[third]))
                return found.keys() == stated.keys() and all(np.allclose(found[key], stated[key]) for key in found)

            triples = product(range(len(channel)), repeat=3)
            assert any(agrees(*triple) for triple in triples), mechanism


def test_every_mechanism_has_a_blanket_or_a_reason() -> None:
    typical = {
        name: kind.best(1, 1.0, 1.0, 1e-6 * (name == "gaussian"), 1000)
        if issubclass(kind, VectorMechanism)
        else kind.typical(12, 1.0)
        for name, kind in MECHANISMS.items()
    }
    assert {name for name, instance in typical.items() if instance.blanket() is None} == set(WITHOUT)


@pytest.mark.parametrize("size", [3, 40])
def test_listing_a_channel_agrees_with_its_closed_form(size: int) -> None:
    """The default that mechanisms of other packages have; and the law without pairs, which is exact here."""
    mechanism = RandomizedResponse(size, 3.0)
    closed, default = mechanism.blanket(), ChannelMechanism.blanket(mechanism)
    assert default is not None
    assert default.mass == pytest.approx(closed.mass, rel=1e-13)
    (chances, losses), (exact, values) = default.dominating(1.1), closed.dominating(1.1)
    assert exact @ values**2 <= chances @ losses**2 <= 1.01 * (exact @ values**2)


def test_too_many_pairs_are_covered_without_going_through_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng()
    channel = np.exp(rng.uniform(-1, 1, size=(5, 7)))
    channel /= channel.sum(axis=1, keepdims=True)
    cover = listed.ListedCover.of(channel)
    every = cover.dominating(1.3)
    monkeypatch.setattr(listed, "_MOST_STEPS", 0)
    bound = cover.dominating(1.3)
    at = np.unique(np.concatenate([every[1], bound[1]]))
    pairs = [stop_losses((cover.chances, x - 1.3 * y), at) for x in cover.ratios for y in cover.ratios]
    for law in (every, bound):
        assert law[0] @ law[1] == pytest.approx(-0.3, abs=ROUNDING)
        assert (np.max(pairs, axis=0) <= stop_losses(law, at) + ROUNDING).all()


def test_an_envelope_is_above_laws_that_cross() -> None:
    rng = np.random.default_rng()
    laws = []
    for _ in range(4):
        chances, values = rng.dirichlet(np.ones(6)), rng.normal(size=6)
        laws.append((chances, values - chances @ values))
    above = envelope(laws)
    at = np.linspace(-4, 4, 97)
    for law in laws:
        assert (stop_losses(law, at) <= stop_losses(above, at) + 1e-13).all()
        assert (stop_losses(opposed(law, laws[0]), at) <= stop_losses(opposed(above, above), at) + 1e-13).all()


def test_an_impossible_report_leaves_no_blanket() -> None:
    """Impossible for some value, that is; one that nobody sends is as good as none."""
    assert listed.listed_blanket(np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]), "listed") is None
    assert listed.listed_blanket(np.array([[0.5, 0.5, 0.0], [0.75, 0.25, 0.0]]), "listed") is not None


def test_the_battery_refuses_a_blanket_that_hides_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = RandomizedResponse(5, 1.0)
    check_instance(honest, simulation=False)
    flattering = RandomizedResponse(5, 0.5).blanket()
    monkeypatch.setattr(RandomizedResponse, "blanket", lambda _: flattering)
    with pytest.raises(ConformanceError, match="blanket is wrong: its mass"):
        check_instance(honest, simulation=False)
