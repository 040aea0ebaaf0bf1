"""Counted ids that memory has no room for: the same exact set, whatever the ids look like and the disk does."""

from __future__ import annotations

import os
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from collector.test_seen import IDS, counting_up, expected, one_beginning, spread, steps
from sottovoce.collector.counting.seen import DiskRun, IdHash, SeenIds, merged_pieces
from sottovoce.core.errors import StoreError, StoreFullError
from sottovoce.formats import id_blocks
from sottovoce.formats.report_ids import id_rows, ordered_ids

Make = Callable[[int, np.random.Generator], NDArray[np.uint8]]


def distinct(ids: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return ids[SeenIds().new(ids)]


def ends_alike(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Ids that differ in the upper bits of both halves alone, where a product leaves them."""
    ids = np.zeros((n, 16), dtype=np.uint8)
    ids[:, [0, 1, 8, 9]] = rng.integers(256, size=(n, 4), dtype=np.uint8)
    return ids


def few_bytes(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Ids that are equal but for the last two bytes."""
    ids = np.full((n, 16), 255, dtype=np.uint8)
    ids[:, 14:] = rng.integers(256, size=(n, 2), dtype=np.uint8)
    return ids


MAKERS = [spread, one_beginning, counting_up, ends_alike, few_bytes]


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file of this process may grow longer: to whoever writes, a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few dozen ids are many blocks and pieces."""
    monkeypatch.setattr(id_blocks, "_BLOCK", 3)
    monkeypatch.setattr(id_blocks, "_BLOCKS_AT_ONCE", 4)
    monkeypatch.setattr(id_blocks, "_PIECE_BLOCKS", 2)


@given(
    batches=st.lists(st.tuples(st.lists(IDS, max_size=30), st.sampled_from([None, None, 0, 200, 700])), max_size=15),
    longest=st.sampled_from([20, 1 << 20]),
)
@pytest.mark.usefixtures("tiny_blocks")
def test_it_is_an_exact_set_on_disk_and_when_the_disk_is_full_now_and_then(
    batches: list[tuple[list[bytes], int | None]], longest: int
) -> None:
    """What was added is in the set also when there was no room for it, and goes to disk when there is some."""
    seen, model = SeenIds(in_memory=10, fan_in=2, longest=longest), set[bytes]()
    for batch, room in batches:
        rows = id_rows(b"".join(batch))
        fresh = expected(model, batch)
        assert seen.new(rows).tolist() == fresh
        if room is None:
            seen.add_new(rows[np.array(fresh, dtype=bool)])
        else:
            with files_up_to(room), suppress(StoreFullError):
                seen.add(rows)
        model |= set(batch)
        assert len(seen) == len(model)
        assert not seen.new(rows).any()
    seen.add(id_rows(b""))
    assert len(seen._recent) < 10
    assert seen.new(id_rows(b"".join(model))).tolist() == [False] * len(model)


@pytest.mark.parametrize("make", MAKERS)
def test_many_batches_of_all_sizes(make: Make) -> None:
    rng = np.random.default_rng(5)
    seen, model = SeenIds(in_memory=2000, fan_in=3), set[bytes]()
    for size in rng.integers(1, 3000, size=40).tolist():
        rows = make(size, rng)
        rows = np.concatenate([rows, rows[rng.integers(size, size=size // 3)]])
        listed = [row.tobytes() for row in rows]
        assert seen.new(rows).tolist() == expected(model, listed)
        seen.add(rows)
        model |= set(listed)
    assert len(seen) == len(model)
    assert seen.files
    assert not seen.new(id_rows(b"".join(model))).any()


@pytest.mark.parametrize("make", MAKERS)
def test_most_new_ids_need_no_disk(make: Make) -> None:
    """About one new id in 200 is looked for in vain: here at most one in 100, which 20,000 ids exceed by no chance."""
    rng = np.random.default_rng(4)
    ordered = ordered_ids(distinct(make(60_000, rng)))[1]
    known, unknown = (ordered.part(slice(start, None, 2)) for start in range(2))
    hashed = IdHash()
    run = DiskRun(None, len(known.high), hashed, [known])
    assert run.doubtful(hashed.marks(known)).all()
    assert run.doubtful(hashed.marks(unknown)).mean() < 0.01
    assert run.holds(known).all()
    assert not run.holds(unknown).any()


@pytest.mark.parametrize("make", MAKERS)
def test_no_id_costs_a_step_of_its_own(make: Make) -> None:
    """New ids cost the interpreter a few steps for every run; one that was counted before, a few for its block."""
    rng = np.random.default_rng(1)
    seen = SeenIds(in_memory=10_000, fan_in=4)
    rows = distinct(make(60_000, rng))
    rng.shuffle(rows)
    half = len(rows) // 2
    for start in range(0, half, 5_000):
        seen.add(rows[start : min(start + 5_000, half)])
    assert seen.files
    assert steps(lambda: (seen.new(rows[half:]), seen.add_new(rows[half:]))) < half / 4
    assert steps(lambda: seen.new(rows[:half])) < half


def test_an_id_takes_two_bytes_of_memory_and_merges_take_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    n, hashed = 1 << 14, IdHash()
    monkeypatch.setattr(id_blocks, "_PIECE_BLOCKS", 2)
    runs = [DiskRun(None, n, hashed, [ordered_ids(spread(n, rng))[1]]) for _ in range(8)]
    assert sum(run.nbytes for run in runs) <= 8 * n * (2 + 16 / 256) + 8 * 24
    tracemalloc.start()
    try:
        whole = DiskRun(None, 8 * n, hashed, merged_pieces(runs))
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < whole.nbytes + 2**16
    # Eight pieces as they were read, put together, in order, and their marks: below twelve times sixteen bytes an id.
    assert peak < whole.nbytes + 12 * 16 * 8 * 512


def test_runs_and_files_stay_few(tmp_path: Path) -> None:
    """They have no names, and are closed with the set."""
    rng, before = np.random.default_rng(2), open_files()
    seen = SeenIds(tmp_path, in_memory=10, fan_in=4, longest=1000)
    for _ in range(400):
        seen.add(spread(10, rng))
    assert len(seen) == 4000
    # Below the longest, at most three runs of each of four sizes: 10, 40, 160, 640.
    assert seen.files == len(seen._runs) <= 4000 / 640 + 3 * 4
    assert open_files() == before + seen.files
    assert list(tmp_path.iterdir()) == []
    del seen
    assert open_files() == before


def test_a_full_disk_is_told_once_memory_is_short_and_costs_nothing(tmp_path: Path) -> None:
    rng, before = np.random.default_rng(3), open_files()
    seen, rows = SeenIds(tmp_path, in_memory=100), spread(400, rng)
    with files_up_to(1000):
        seen.add(rows[:399])
        with pytest.raises(StoreFullError, match=r"takes no temporary file for 400 ids.*16 bytes per report") as caught:
            seen.add(rows[399:])
        assert str(tmp_path) in str(caught.value)
        assert open_files() == before
        with pytest.raises(StoreFullError):
            seen.add(spread(1, rng))
    assert len(seen) == 401
    assert not seen.new(rows).any()
    seen.add(rows)
    assert (len(seen), seen.files, len(seen._recent)) == (401, 1, 0)


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    seen = SeenIds(tmp_path / "gone", in_memory=1)
    with pytest.raises(StoreError, match="No such file or directory"):
        seen.add(spread(4, np.random.default_rng(3)))
    assert len(seen) == 4


def test_runs_that_cannot_be_merged_stay_as_they_are() -> None:
    rng = np.random.default_rng(6)
    seen, rows = SeenIds(in_memory=100, fan_in=2), spread(400, rng)
    with files_up_to(2000):
        for start in range(0, 400, 100):
            seen.add(rows[start : start + 100])
    assert [len(run) for run in seen._runs] == [100] * 4
    assert not seen.new(rows).any()
    seen.add(spread(100, rng))
    assert [len(run) for run in seen._runs] == [500]


def test_ids_that_cannot_be_read_back_are_told() -> None:
    rng = np.random.default_rng(7)
    seen, rows = SeenIds(in_memory=100, fan_in=2), spread(100, rng)
    seen.add(rows)
    os.ftruncate(seen._runs[0].ids._file.fileno(), 800)
    with pytest.raises(StoreError, match="ids of counted reports cannot be read back: their file is shorter"):
        seen.new(rows)
    seen.add_new(spread(100, rng))
    assert [len(run) for run in seen._runs] == [100, 100]  # nothing was made of a run that ends too soon
