"""This machine's engine passes the battery, whatever its memory; and its result does not depend on how rows lie."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from engines.battery import (
    CHECKS,
    DEPLOYABLE,
    SURVEYS,
    Rows,
    expected,
    new_ids,
    reports_of,
    survey_of,
    write_parquet,
    write_segment,
)
from refusing import refuses
from sottovoce import engines
from sottovoce.core.errors import CapacityError, ReportError, SurveyError
from sottovoce.kernels.repeats import repeated_words

LITTLE = 2**16
"""Memory in which hardly anything fits."""


def test_every_mechanism_has_a_survey() -> None:
    assert set(SURVEYS) == DEPLOYABLE


@pytest.mark.parametrize("name", CHECKS)
def test_battery(name: str, tmp_path: Path) -> None:
    CHECKS[name](engines.local(), tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "mechanism codebook",
        "mechanism gaussian",
        "one id",
        "skewed rotations",
        "refusals",
        "bad files",
        "damaged pages",
        "ids unique",
    ],
)
def test_battery_in_little_memory(name: str, tmp_path: Path) -> None:
    CHECKS[name](engines.local(memory_bytes=LITTLE, cores=3), tmp_path)


@given(
    picks=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 3)), max_size=60),
    group=st.integers(1, 9),
    little=st.booleans(),
)
def test_any_split_order_and_duplication_gives_the_same_file(
    picks: list[tuple[int, int, int]], group: int, little: bool
) -> None:
    """Twelve ids with twelve possible reports, in any files; what is expected knows the set of rows only."""
    survey, reports, ids = survey_of("codebook"), reports_of("codebook", 2000), new_ids(12, 1)
    rows: Rows = [(ids[i], reports[j]) for i, j, _ in picks]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for place in range(4):
            part = [row for row, (*_, at) in zip(rows, picks, strict=True) if at == place]
            if place < 3:
                write_parquet(folder / f"{place}.parquet", part, group=group)
            else:
                write_segment(folder / f"{place}.svr", survey, part)
        wanted = expected(survey, sorted(set(rows)), 4)
        engine = engines.local(memory_bytes=LITTLE if little else None, cores=2)
        with engine.count(survey, folder) as counted:
            assert counted.save(folder / "counted.bin").path.read_bytes() == wanted.file(folder)
            assert (counted.tally.rows, counted.tally.counted) == (len(rows), len({row[0] for row in rows}))


@pytest.mark.parametrize("each", [8, 16])
def test_more_rows_and_repeats_than_memory_holds(each: int, tmp_path: Path) -> None:
    """Everything twice, with other reports, and ids that agree in their first half, or not."""
    survey, reports = survey_of("randomized_response"), reports_of("randomized_response", 2000)
    ids = [report_id[:each].rjust(16, b"\0") for report_id in new_ids(9000, 2)]
    rows: Rows = [(report_id, reports[i % 1999]) for i, report_id in enumerate(ids)]
    rows += [(report_id, reports[i % 1997]) for i, report_id in enumerate(ids)]
    for i in range(4):
        write_parquet(tmp_path / f"{i}.parquet", rows[i::4], group=1000)
    with engines.local(memory_bytes=LITTLE).count(survey, tmp_path) as counted:
        wanted = expected(survey, rows, 4)
        assert wanted.tally.duplicates == 9000
        assert counted.tally == wanted.tally
        assert counted.aggregate() == wanted.aggregate


def test_more_cells_than_any_process_holds(tmp_path: Path) -> None:
    """2^33 of them: some reports anywhere, many in one shard, some sent twice."""
    survey = sv.Survey(sv.vector(1000, 1.0), epsilon=1.0, mechanism="codebook", people=10**10, max_counters=2**33)
    cells, rng = survey.mechanism.cells, np.random.default_rng(3)
    assert cells == 2**33
    numbers = np.concatenate([rng.integers(0, 2 * cells, 12), 2 * 5 * 2**20 + rng.integers(0, 2**21, 9000)])
    reports = [survey.tag + row.tobytes() for row in survey.mechanism.codec.encode_many(numbers)]
    rows: Rows = list(zip(new_ids(len(reports), 4), reports, strict=True))
    write_parquet(tmp_path / "once.parquet", rows)
    write_segment(tmp_path / "again.svr", survey, rows[5:30])
    wanted: Counter[int] = Counter()
    for number in numbers.tolist():
        wanted[number // 2] += 1 - 2 * (number % 2)
    with engines.local(memory_bytes=LITTLE).count(survey, tmp_path) as counted:
        found = {
            number * 2**20 + int(place): int(counts[place])
            for number, counts in counted.shards()
            for place in np.flatnonzero(counts)
        }
        assert found == {cell: n for cell, n in wanted.items() if n}
        assert (counted.tally.counted, counted.tally.duplicates) == (len(rows), 25)


def test_counters_that_do_not_fit_and_cannot_be_cut_are_refused(tmp_path: Path) -> None:
    survey = sv.Survey(sv.shares(20_000), epsilon=1.0, mechanism="unary_optimized", max_report_bytes=2**20)
    write_parquet(tmp_path / "a.parquet", [])
    with pytest.raises(CapacityError, match=r"20,000 counters, 1 MiB.*--memory 1MiB"):
        engines.local(memory_bytes=LITTLE).count(survey, tmp_path)


def test_options_are_checked() -> None:
    with refuses(SurveyError, "memory_bytes"):
        engines.local(memory_bytes=1)
    with refuses(SurveyError, "cores"):
        engines.local(cores=0)


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    survey = survey_of("hadamard")
    rows: Rows = list(zip(new_ids(100, 5), reports_of("hadamard", 2000), strict=False))
    place = write_parquet(tmp_path / "a.parquet", rows)
    with pytest.raises(ReportError, match=r"a\.parquet changed while it was counted"):
        engines.local().count(survey, place, progress=lambda *step: write_parquet(place, rows[:50]))


def test_progress_reaches_its_end(tmp_path: Path) -> None:
    survey, told = survey_of("hadamard"), []
    rows: Rows = list(zip(new_ids(100, 5), reports_of("hadamard", 2000), strict=False))
    write_parquet(tmp_path / "a.parquet", rows)
    write_parquet(tmp_path / "b.parquet", rows[:10])
    engines.local().aggregate(survey, tmp_path, progress=lambda *step: told.append(step))
    assert told[1] == (110, 110, "reading and counting")
    assert told[2] == (110, 110, "looking for repeated ids")
    assert told[-1] == (220, 220, "reading repeated ids again")  # there are repeats: everything is read again


def test_repeated_words_are_found_whatever_they_are() -> None:
    rng = np.random.default_rng(6)
    for values in (2**63, 100_000, 50):
        words = rng.integers(0, values, 60_000, dtype=np.uint64)
        words[:20_000:7] = words[17]
        words[-9:] = 0
        distinct, times = np.unique(words, return_counts=True)
        found = repeated_words(np.array_split(words.copy(), 5))
        assert np.array_equal(found, distinct[times > 1])
