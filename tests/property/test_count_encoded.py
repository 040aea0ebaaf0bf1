"""Counting encoded reports as they stand gives the integers, and the refusals, of decoding and counting them."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.core.errors import ReportError
from sottovoce.kernels import counting
from sottovoce.mechanisms import ChannelMechanism, FiniteMechanism, Mechanism, VectorMechanism, create, serving
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes

EVERY = [
    *(f"{name}-{size}" for name in serving(FiniteMechanism) for size in (5, 300)),
    *serving(VectorMechanism),
    *serving(ChannelMechanism),
    HashedPrefixes.name,
]


@cache
def mechanism(name: str) -> Mechanism:
    if name in serving(ChannelMechanism):
        return serving(ChannelMechanism)[name].typical(12, 1.0)
    if name == HashedPrefixes.name:
        return HashedPrefixes.typical(12, 1.0)
    if name == "binary":
        return Binary(1, 1.0, 1.0, 0.0)
    if name in serving(VectorMechanism):
        return serving(VectorMechanism)[name].best(6, 1.0, 1.0, 1e-6 if name == "gaussian" else 0.0, 10_000)
    kind, size = name.split("-")
    return create(kind, int(size), 2.0)


@cache
def sent(name: str) -> np.ndarray:
    """A few hundred honest reports, encoded."""
    m, rng = mechanism(name), np.random.default_rng(4)
    if isinstance(m, VectorMechanism):
        values = rng.uniform(-0.3, 0.3, size=(500, m.dimension))
    elif isinstance(m, HashedPrefixes):
        values = rng.integers(0, 256, size=(500, 2), dtype=np.uint8) & np.array([255, 240], dtype=np.uint8)
    else:
        values = rng.integers(0, m.domain_size, size=500)
    return m.codec.encode_many(m.randomize_many(values, rng))


@pytest.fixture(params=["few", "many"], autouse=True)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of counting, and in the second several pieces of work, whatever the number of rows."""
    if request.param == "many":
        monkeypatch.setattr(counting, "_FEW", 0)
        monkeypatch.setattr(counting, "_BYTES_AT_ONCE", 64)


@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_counts_what_decoding_gives(name: str) -> None:
    m, rows = mechanism(name), sent(name)
    expected, found = m.empty(), m.empty()
    for payloads in (rows, rows[::-3], rows[:1], rows[:0]):
        m.count_into(expected, m.codec.decode_many(np.ascontiguousarray(payloads)))
        m.count_encoded(found, payloads)
        assert np.array_equal(found, expected)
    assert expected.any()


def refused(m: Mechanism, rows: np.ndarray) -> str | None:
    """What decoding says of rows it does not take."""
    try:
        m.codec.decode_many(rows)
    except ReportError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_refuses_what_decoding_refuses(name: str) -> None:
    m, rng = mechanism(name), np.random.default_rng(5)
    good = sent(name)
    for _ in range(20):
        rows = good.copy()
        rows[rng.integers(0, 500, size=2)] = rng.integers(0, 256, size=(2, m.report_bytes))
        counts = np.arange(m.cells)
        refusal = refused(m, rows)
        if refusal is None:
            m.count_encoded(counts, rows)
            expected = np.arange(m.cells)
            m.count_into(expected, m.codec.decode_many(rows))
            assert np.array_equal(counts, expected)
        else:
            with pytest.raises(ReportError, match=re.escape(refusal) + "$"):
                m.count_encoded(counts, rows)
            assert np.array_equal(counts, np.arange(m.cells))
    for rows in (good[:, :0], np.hstack([good, good]), good.astype(np.int64), good[0]):
        with pytest.raises(ReportError, match="rows of"):
            m.count_encoded(m.empty(), rows)


@st.composite
def encoded(draw: st.DrawFn) -> tuple[np.ndarray, int, int]:
    """Numbers, all below some number of outputs, and the width of their rows."""
    width = draw(st.integers(1, 8))
    outputs = draw(st.integers(2, min(256**width, 9000)))
    n, favourite = draw(st.integers(0, 1500)), draw(st.integers(0, outputs - 1))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    numbers = rng.integers(0, outputs, size=n)
    return np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.9])), favourite, numbers), outputs, width


def rows_of(numbers: np.ndarray, width: int) -> np.ndarray:
    return np.ascontiguousarray(numbers.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width])


@settings(deadline=None, max_examples=150)
@given(encoded(), st.data())
def test_rows_of_any_width_are_counted_or_refused(case: tuple[np.ndarray, int, int], data: st.DataObject) -> None:
    numbers, outputs, width = case
    start = np.arange(outputs)
    counts = start.copy()
    assert counting.count_encoded(counts, rows_of(numbers, width), outputs)
    assert np.array_equal(counts - start, np.bincount(numbers, minlength=outputs))
    if outputs % 2 == 0:
        signed = np.zeros(outputs // 2, dtype=np.int64)
        assert counting.count_encoded(signed, rows_of(numbers, width), outputs, signed=True)
        assert np.array_equal(signed, (counts - start)[0::2] - (counts - start)[1::2])
    if len(numbers) and outputs < 256**width:
        wrong = numbers.astype(np.uint64)
        wrong[data.draw(st.integers(0, len(numbers) - 1))] = data.draw(st.integers(outputs, 256**width - 1))
        assert not counting.count_encoded(start, rows_of(wrong, width), outputs)
        assert np.array_equal(start, np.arange(outputs))


def test_rows_that_begin_anywhere_in_memory() -> None:
    numbers = np.random.default_rng(6).integers(0, 3000, size=1000)
    for width in (2, 3, 7):
        for offset in range(8):
            memory = bytes(offset) + rows_of(numbers, width).tobytes()
            rows = np.frombuffer(memory, dtype=np.uint8, offset=offset).reshape(-1, width)
            counts = np.zeros(3000, dtype=np.int64)
            assert counting.count_encoded(counts, rows, 3000)
            assert np.array_equal(counts, np.bincount(numbers, minlength=3000))


def test_counters_that_do_not_fit_are_refused() -> None:
    rows = np.zeros((5, 1), dtype=np.uint8)
    for size, signed in ((9, False), (11, False), (10, True), (4, True)):
        with pytest.raises(ValueError, match="do not fit"):
            counting.count_encoded(np.zeros(size, dtype=np.int64), rows, 10, signed=signed)
