"""Ids that should be unique, on this machine: samples of them, in little memory and in runs that go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.battery import Rows, expected, new_ids, reports_of, survey_of, write_parquet
from refusing import refuses
from sottovoce import engines
from sottovoce.core.errors import ReportError
from sottovoce.engines.machine import engine as local_run

LITTLE = 2**16
"""Memory of which 4,096 rows are a group: more go to files."""


def lake(folder: Path, ids: list[bytes]) -> Rows:
    reports = reports_of("hadamard", 2000)
    rows: Rows = [(report_id, reports[i % 2000]) for i, report_id in enumerate(ids)]
    folder.mkdir()
    for i in range(4):
        write_parquet(folder / f"{i}.parquet", rows[i::4], group=1000)
    return rows


@pytest.fixture
def sixteenth(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were very many rows."""
    monkeypatch.setattr(local_run, "sample_bits", lambda rows: 4)


@pytest.mark.parametrize("memory", [LITTLE, None])
@pytest.mark.usefixtures("sixteenth")
def test_a_sample_finds_that_many_are_repeated(memory: int | None, tmp_path: Path) -> None:
    """One row in six: the sample misses all 2,000 repeats with a probability of (15/16)^2000."""
    survey, ids = survey_of("hadamard"), new_ids(10_000, 1)
    lake(tmp_path / "lake", [*ids, *ids[:2000]])
    engine = engines.local(work=tmp_path / "work", memory_bytes=memory, cores=2)
    with pytest.raises(ReportError, match=r"declared unique, but \d\d+ rows have the id of another row, in a sample"):
        engine.count(survey, tmp_path / "lake", ids_unique=True)
    # What was kept would not do to remove duplicates: the remedy works in the same folder.
    with engine.count(survey, tmp_path / "lake", ids_unique=False) as counted:
        assert (counted.n_reports, counted.tally.duplicates) == (10_000, 2000)


@pytest.mark.parametrize("memory", [LITTLE, None])
@pytest.mark.usefixtures("sixteenth")
def test_a_sample_of_unique_ids_changes_nothing(memory: int | None, tmp_path: Path) -> None:
    survey = survey_of("hadamard")
    rows = lake(tmp_path / "lake", [i.to_bytes(8, "little") + bytes(8) for i in range(9000)])
    with engines.local(memory_bytes=memory).count(survey, tmp_path / "lake", ids_unique=True) as counted:
        assert counted.tally == expected(survey, rows, 4).tally
        assert counted.aggregate() == expected(survey, rows, 4).aggregate


@pytest.mark.parametrize("memory", [LITTLE, None])
def test_one_id_in_every_row_is_refused(memory: int | None, tmp_path: Path) -> None:
    lake(tmp_path / "lake", [b"\7" * 16] * 9000)
    with pytest.raises(ReportError, match="but 8,999 rows have the id"):
        engines.local(memory_bytes=memory).count(survey_of("hadamard"), tmp_path / "lake", ids_unique=True)


def test_nothing_is_read_twice_where_ids_are_unique(tmp_path: Path) -> None:
    rows, told = lake(tmp_path / "lake", new_ids(9000, 2)), []
    engine = engines.local(memory_bytes=LITTLE)
    engine.count(
        survey_of("hadamard"), tmp_path / "lake", ids_unique=True, progress=lambda *told_: told.append(told_[:2])
    ).close()
    assert told[-1] == (len(rows), len(rows))


@pytest.mark.parametrize("before", [True, False])
def test_a_run_goes_on_only_as_it_was_begun(before: bool, tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, *_: object) -> None:
        if done > 5000:
            raise StopError

    survey, rows = survey_of("hadamard"), lake(tmp_path / "lake", new_ids(9000, 3))
    engine = engines.local(work=tmp_path / "work", memory_bytes=LITTLE, cores=1)
    with pytest.raises(StopError):
        engine.count(survey, tmp_path / "lake", ids_unique=before, progress=stop)
    begun = "over ids that should be unique" if before else "that removes duplicates"
    with pytest.raises(ReportError, match=f"an interrupted run {begun}: give ids_unique .* as it was, or to start ag"):
        engine.count(survey, tmp_path / "lake", ids_unique=not before)
    told: list[int] = []
    with engine.count(
        survey, tmp_path / "lake", ids_unique=before, progress=lambda done, *_: told.append(done)
    ) as counted:
        assert counted.aggregate() == expected(survey, rows, 4).aggregate
    assert told[0] >= 4096, "the first group was not read again"


@pytest.mark.parametrize("given", [1, "yes", "declared"])
def test_anything_else_is_refused(given: object, tmp_path: Path) -> None:
    with refuses(ReportError, "ids_unique"):
        engines.local().count(survey_of("hadamard"), tmp_path, ids_unique=given)  # type: ignore[arg-type]
