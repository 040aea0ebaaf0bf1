"""The set of counted ids against Python's own, on random and on hostile ids; those on disk have tests of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sottovoce.collector.counting.seen import SeenIds
from sottovoce.core.errors import ReportError
from sottovoce.formats.report_ids import id_order, id_rows, ordered_ids

# Few distinct halves: ids that share the first or the last eight bytes, zeros and extremes among them.
HALVES = st.sampled_from(
    [bytes(8), b"\0" * 7 + b"\1", b"\1" + b"\0" * 7, b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7), b"\xff" * 8]
)
IDS = st.one_of(st.builds(bytes.__add__, HALVES, HALVES), st.binary(min_size=16, max_size=16))


def expected(seen: set[bytes], ids: list[bytes]) -> list[bool]:
    """What `new` must say."""
    met = set(seen)
    found = []
    for each in ids:
        found.append(each not in met)
        met.add(each)
    return found


@given(st.lists(st.lists(IDS, max_size=30), max_size=12))
def test_it_is_an_exact_set(batches: list[list[bytes]]) -> None:
    seen, model = SeenIds(), set[bytes]()
    for batch in batches:
        rows = id_rows(b"".join(batch))
        assert seen.new(rows).tolist() == expected(model, batch)
        seen.add(rows)
        model |= set(batch)
        assert len(seen) == len(model)
        assert 16 * len(model) <= seen.nbytes <= 64 + 20 * len(model)
        assert not seen.new(rows).any()


@given(st.lists(IDS, max_size=50))
def test_the_order_is_that_of_the_bytes_and_stable(ids: list[bytes]) -> None:
    assert id_order(id_rows(b"".join(ids))).tolist() == sorted(range(len(ids)), key=lambda i: ids[i])


def spread(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    return rng.integers(256, size=(n, 16), dtype=np.uint8)


def one_beginning(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Ids that all begin with the same eight bytes."""
    ids = spread(n, rng)
    ids[:, :8] = 7
    return ids


def counting_up(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Numbers one after the other, from somewhere, in the last bytes."""
    start = int(rng.integers(100_000))
    return np.stack([np.zeros(n, dtype=">u8"), np.arange(start, start + n, dtype=">u8")], axis=1).view(np.uint8)


@pytest.mark.parametrize("make", [spread, one_beginning, counting_up])
def test_many_batches_of_all_sizes(make: Callable[[int, np.random.Generator], NDArray[np.uint8]]) -> None:
    rng = np.random.default_rng(5)
    seen, model = SeenIds(), set[bytes]()
    for size in rng.integers(1, 3000, size=60).tolist():
        rows = make(size, rng)
        again = rng.integers(size, size=size // 3)
        rows = np.concatenate([rows, rows[again]])
        listed = [row.tobytes() for row in rows]
        assert seen.new(rows).tolist() == expected(model, listed)
        seen.add(rows)
        model |= set(listed)
    assert len(seen) == len(model)


def steps(work: Callable[[], object]) -> int:
    """How many lines of Python ran: the interpreter's part of the work, whatever the machine."""
    n = 0

    def count(frame: object, event: str, arg: object) -> object:
        nonlocal n
        n += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)  # type: ignore[arg-type]
    try:
        work()
    finally:
        sys.settrace(before)
    return n


@pytest.mark.parametrize("make", [spread, one_beginning, counting_up])
def test_no_id_costs_a_step_of_its_own(make: Callable[[int, np.random.Generator], NDArray[np.uint8]]) -> None:
    """The interpreter takes some steps for every run, and some to bisect a stretch: together far fewer than ids."""
    rng = np.random.default_rng(1)
    seen = SeenIds()
    for _ in range(6):
        seen.add(make(40_000, rng))
    rows = make(40_000, rng)
    assert steps(lambda: (seen.new(rows), seen.add(rows))) < 40_000 / 8


def test_runs_stay_few() -> None:
    """Eight runs in a row span a factor of eight: there are at most 8 log8(n) of them, and seven more."""
    rng = np.random.default_rng(2)
    seen = SeenIds()
    for _ in range(2000):
        seen.add(spread(int(rng.integers(1, 50)), rng))
    assert len(seen) > 2**15
    assert len(seen._recent._runs) <= 8 * 16 / 3 + 7


def test_most_new_ids_are_known_at_a_glance() -> None:
    """One in sixteen at most is looked for in vain: a binomial of 20,000, and 6.5 of its standard deviations more."""
    rng = np.random.default_rng(4)
    for make in (spread, one_beginning):
        seen = SeenIds()
        seen.add(make(30_000, rng))
        doubtful = int(seen._recent.doubtful(ordered_ids(make(20_000, rng))[1]).sum())
        assert 0 < doubtful < 20_000 / 16 + 6.5 * (20_000 / 16) ** 0.5


def test_a_run_is_never_changed_in_place() -> None:
    """The caller's rows may be reused."""
    rows = spread(100, np.random.default_rng(3))
    seen = SeenIds()
    seen.add(rows)
    kept = rows.copy()
    rows[:] = 0
    assert not seen.new(kept).any()


@pytest.mark.parametrize("shape", [(3, 15), (3, 17), (48,)])
def test_other_widths_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ReportError, match="rows of 16 bytes"):
        SeenIds().new(np.zeros(shape, dtype=np.uint8))


def test_nothing_is_nothing() -> None:
    seen = SeenIds()
    seen.add(id_rows(b""))
    seen.add_new(id_rows(b""))
    assert len(seen) == 0
    assert seen.new(id_rows(b"")).tolist() == []
