"""Whole histories are audited exactly: seats keep epsilon per window, memoised responses do not."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import pytest

from evidence.published.memoised import memoised_device, rappor_device
from refusing import refuses
from sottovoce.auditing.history import all_histories, audit_histories, seat_device
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms import create
from sottovoce.randomness import ONE, within_epsilon
from sottovoce.randomness.scripts import row_of

EPSILON = 1.0
COIN = create("randomized_response", 2, EPSILON)


@pytest.mark.parametrize("seats", [1, 2, 3, 4, 5])
def test_one_seat_costs_one_report_whatever_the_history(seats: int) -> None:
    loss = audit_histories(seat_device(COIN, seats), all_histories(2, seats))
    assert loss.histories == 2**seats
    assert loss.ratio == COIN.privacy_ratio()
    assert within_epsilon(loss.ratio, EPSILON)


@pytest.mark.parametrize("name", ["hadamard", "subset_selection", "unary_symmetric"])
def test_so_it_is_for_other_mechanisms(name: str) -> None:
    mechanism = create(name, 3, EPSILON)
    loss = audit_histories(seat_device(mechanism, 3), all_histories(3, 3))
    assert (loss.histories, loss.ratio) == (27, mechanism.privacy_ratio())


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_two_windows_cost_two_reports_and_no_more(seats: int) -> None:
    loss = audit_histories(seat_device(COIN, seats), all_histories(2, 2 * seats))
    assert loss.histories == 4**seats
    assert loss.ratio == COIN.privacy_ratio() ** 2
    assert loss.epsilon == pytest.approx(2 * EPSILON)


def test_a_memoised_response_has_no_epsilon_at_all() -> None:
    """It shows that a value changed: two different reports are impossible for a value that did not."""
    once = audit_histories(memoised_device(COIN), all_histories(2, 1))
    assert once.ratio == COIN.privacy_ratio()
    twice = audit_histories(memoised_device(COIN), all_histories(2, 2))
    assert twice.ratio is None
    assert twice.epsilon == math.inf
    assert len(set(twice.likely)) == 2
    assert len(set(twice.unlikely)) == 1


def test_a_second_response_does_not_stop_the_loss_from_growing() -> None:
    device = rappor_device(COIN, COIN)
    losses = [audit_histories(device, all_histories(2, periods)).epsilon for periods in (1, 2, 3, 4, 5)]
    assert losses[0] < EPSILON, "of a single report, less than the permanent response allows"
    assert sorted(set(losses)) == losses, "grows with every period"
    assert losses[-1] > 2 * EPSILON, "twice what is promised for a value that does not change"


def test_a_permanent_response_that_is_no_value_is_refused() -> None:
    sets = create("subset_selection", 6, EPSILON)
    with refuses(MechanismError, "mechanism"):
        audit_histories(rappor_device(sets, sets), [(0, 0)])


def test_a_seat_that_depends_on_the_values_is_caught() -> None:
    """The planted fault: who holds a 1 answers in the first period that has it."""

    def device(history: tuple[int, ...], source: object) -> bytes:
        seat = history.index(1) if 1 in history else source.below(len(history))  # type: ignore[attr-defined]
        return bytes([seat]) + COIN.encode(COIN.randomize(history[seat], source))  # type: ignore[arg-type]

    assert audit_histories(device, all_histories(2, 3)).ratio is None


@pytest.mark.parametrize(("seats", "windows"), [(2, 1), (3, 1), (4, 1), (2, 2)])
def test_a_delta_is_that_of_the_windows_whatever_the_history(seats: int, windows: int) -> None:
    """Reports that give the value away with probability 1/64: the history's delta is one report's, in each window.

    Exact over all pairs of histories: how much likelier any event can be than e^epsilon, per window, allows.
    """
    delta = Fraction(1, 64)

    def device(history: tuple[int, ...], source: object) -> bytes:
        sent = bytearray()
        for first in range(0, len(history), seats):
            seat = source.below(seats)  # type: ignore[attr-defined]
            value = history[first + seat]
            plain = source.bernoulli(ONE // 64)  # type: ignore[attr-defined]
            sent += bytes([seat, 2 + value]) if plain else bytes([seat, COIN.randomize(value, source)])  # type: ignore[arg-type, list-item]
        return bytes(sent)

    rows = [row_of(lambda source, h=h: device(h, source)) for h in all_histories(2, seats * windows)]  # type: ignore[misc]
    ratio = COIN.privacy_ratio() ** windows
    excess = max(
        sum(max(Fraction(0), chance - ratio * other.get(sent, Fraction(0))) for sent, chance in row.items())
        for row, other in permutations(rows, 2)
    )
    assert delta <= excess <= windows * delta
    assert (excess == delta) == (windows == 1)
