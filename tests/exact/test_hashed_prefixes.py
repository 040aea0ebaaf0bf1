"""Hashed prefixes: the exact channel, the hash, the simulation against the device's law, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from refusing import refuses
from sottovoce.auditing.channel import wrong_miniature
from sottovoce.core.errors import ReportError, SottovoceError, ValueOutsideDomainError
from sottovoce.mechanisms.hashed_prefixes import MAX_ROWS, HashedPrefixes
from sottovoce.randomness import within_epsilon
from sottovoce.randomness.scripts import row_of

SMALL = HashedPrefixes.miniatures(1.0)
LONG = HashedPrefixes(37, 1.0, (9, 16, 37), (3, 1, 2), 4, 3, (5, 6))
FALSE_ALARM = 1e-10


@pytest.mark.parametrize("epsilon", [2.0**-10, 1.0, 8.0])
def test_the_device_has_the_stated_channel(epsilon: float) -> None:
    assert wrong_miniature(HashedPrefixes.miniatures(epsilon)[0]) is None


@pytest.mark.parametrize("m", SMALL, ids=lambda m: f"{m.bits}-{m.rows}")
def test_the_worst_ratio_of_encoded_reports_is_the_stated_one(m: HashedPrefixes) -> None:
    """With the hashes of some key: under one key, few codes may share all their buckets."""
    found = Fraction(0)
    for key in range(8):
        keyed = m.for_key((key, 0))
        rows = [row_of(lambda source, c=c, m=keyed: m.encode(m.randomize(c, source))) for c in m.miniature_inputs()]  # type: ignore[misc]
        assert all(sum(row.values()) == 1 for row in rows)
        for report in map(m.encode, m.outputs()):
            column = [row[report] for row in rows]
            found = max(found, max(column) / min(column))
    assert found == m.privacy_ratio()
    assert within_epsilon(found, m.epsilon)


def test_rows_read_their_prefix_and_no_more() -> None:
    rng = np.random.default_rng()
    for row, end in enumerate(LONG.row_ends.tolist()):
        bits = rng.integers(0, 2, size=40, dtype=np.uint8)
        bits[37:] = 0
        before = LONG.bucket(np.packbits(bits), row)
        bits[end:37] ^= 1
        assert LONG.bucket(np.packbits(bits), row) == before
    changed = np.zeros((37, 40), dtype=np.uint8)
    changed[np.arange(37), np.arange(37)] = 1
    codes = np.packbits(changed, axis=1)
    for row, end in enumerate(LONG.row_ends.tolist()):
        words = LONG.tables[row][np.arange(37) // 8, codes[np.arange(37), np.arange(37) // 8]]
        assert np.count_nonzero(words) == end == np.count_nonzero(words[:end])


def test_different_prefixes_share_a_bucket_as_often_as_at_random() -> None:
    """Chance 1/K over the hashes, for codes that differ in one bit and in many."""
    one, other, third = np.zeros(5, np.uint8), np.zeros(5, np.uint8), np.full(5, 0b10101000, np.uint8)
    other[0] = 1
    for left, right in ((one, other), (one, third), (other, third)):
        keyed = [LONG.for_key((key, 9)) for key in range(100)]
        shared = sum(m.bucket(left, row) == m.bucket(right, row) for m in keyed for row in range(6))
        mean = 600 / LONG.buckets
        assert abs(shared - mean) < 7 * mean**0.5, (left, right)


def test_the_tables_of_a_collector_hash_as_a_device_does() -> None:
    from sottovoce.kernels.words import buckets

    rng = np.random.default_rng()
    codes = rng.integers(0, 256, size=(200, 5), dtype=np.uint8) & np.array([255, 255, 255, 255, 248], dtype=np.uint8)
    rows = rng.integers(0, 6, size=200)
    expected = [LONG.bucket(code, int(row)) for code, row in zip(codes, rows, strict=True)]
    assert buckets(LONG.tables, codes, rows, LONG.buckets).tolist() == expected


@pytest.mark.parametrize("m", [*SMALL, replace(LONG, rows=(2, 1, 1), dimension=2)], ids=lambda m: f"{m.bits}-{m.rows}")
def test_simulated_reports_follow_the_devices_law(m: HashedPrefixes) -> None:
    """Pearson's test against the exact probabilities; it rejects a right simulation with probability 1e-10."""
    n, rng = 40_000, np.random.default_rng()
    code = np.full((m.bits + 7) // 8, 0b10110111, dtype=np.uint8)
    code[-1] &= 256 - (1 << -m.bits % 8)
    seen = np.bincount(m.randomize_many(np.tile(code, (n, 1)), rng), minlength=m.cells)
    expected = n * np.array([float(m.probability(report, code)) for report in m.outputs()])
    assert expected.min() > 20
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(FALSE_ALARM, m.cells - 1)


def test_supports_are_counted_by_row() -> None:
    """Every report supports the buckets whose points are orthogonal to its own, in its own row alone."""
    m = SMALL[1]
    for report in m.outputs():
        counts = m.empty()
        m.count_into(counts, np.array([report]))
        assert isinstance(report, int)
        row, point = divmod(report, m.buckets)
        expected = np.zeros((sum(m.rows), m.buckets), dtype=np.int32)
        most = max(m.inner.probability(point, bucket) for bucket in range(m.buckets))
        expected[row] = [m.inner.probability(point, bucket) == most for bucket in range(m.buckets)]
        assert np.array_equal(m.supporting(counts), expected)


def test_bytes_that_no_device_sends_are_refused() -> None:
    m = replace(LONG, rows=(3, 1, 1))
    reports = [m.encode(report) for report in m.outputs()]
    assert [m.decode(report) for report in reports] == list(m.outputs())
    assert {len(report) for report in reports} == {m.report_bytes}
    for bad in (b"", reports[0] + b"\0", reports[0][:-1], m.cells.to_bytes(m.report_bytes, "little"), b"\xff\xff"):
        with pytest.raises(ReportError):
            m.decode(bad)


class Untouched:
    def below(self, n: int) -> int:
        raise AssertionError("a draw before the value was checked")

    def bernoulli(self, threshold: int) -> bool:
        raise AssertionError("a draw before the value was checked")


@pytest.mark.parametrize(
    "code",
    [b"secret", "secret", None, np.zeros(4, np.uint8), np.zeros(5, np.int64), np.full(5, 255, np.uint8), [0.5] * 5],
    ids=repr,
)
def test_what_is_no_code_is_refused_and_not_named(code: Any) -> None:
    with pytest.raises(ValueOutsideDomainError) as caught:
        LONG.randomize(code, Untouched())
    assert str(caught.value) == "the value is not a code of 37 bits"


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("bits", {"bits": 0}),
        ("bits", {"bits": 1537, "ends": (1537,), "rows": (1,)}),
        ("ends", {"ends": (9, 9, 37)}),
        ("ends", {"ends": (9, 16, 36)}),
        ("ends", {"ends": ()}),
        ("ends", {"ends": "abc"}),
        ("ends[0]", {"ends": (9.5, 16, 37)}),
        ("rows", {"rows": (1, 1)}),
        ("rows[1]", {"rows": (1, 0, 1)}),
        ("rows", {"rows": (1, 1, MAX_ROWS)}),
        ("rows", {"rows": 3}),
        ("order", {"order": 6}),
        ("order", {"order": 1}),
        ("dimension", {"dimension": 1}),
        ("order", {"order": 65537, "dimension": 5}),
        ("epsilon", {"epsilon": -1.0}),
    ],
)
def test_parameters_out_of_range_are_refused(field: str, changes: dict[str, Any]) -> None:
    with refuses(SottovoceError, field):
        replace(LONG, **changes)


def test_parameters_restore_the_mechanism() -> None:
    for m in (*SMALL, LONG):
        assert HashedPrefixes.restore(m.parameters(), m.bits, m.epsilon).for_key(m.key) == m
        assert m.exact_epsilon > 0.99 * m.epsilon
