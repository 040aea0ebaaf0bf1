"""`sottovoce aggregate` and `sottovoce estimate --aggregate`, as people type them."""

from __future__ import annotations

from pathlib import Path

import pytest

import sottovoce as sv
from commands import Run, run_here
from engines.battery import Rows, expected, new_ids, reports_of, survey_of, write_parquet, write_segment


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """In a folder with exported reports, some of them twice."""
    monkeypatch.chdir(tmp_path)
    for name in ("SOTTOVOCE_URL", "SOTTOVOCE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    survey = survey_of("hadamard")
    stated = {
        "sottovoce.format": "1",
        "sottovoce.survey": survey.id,
        "sottovoce.statement": survey.to_json(),
    }
    Path("survey.json").write_text(survey.to_json())
    Path("lake").mkdir()
    write_parquet(Path("lake/a.parquet"), rows()[:300], stated=stated)
    write_parquet(Path("lake/b.parquet"), rows()[200:], stated=stated)
    return run_here(capsys)


def rows() -> Rows:
    return list(zip(new_ids(500, 1), reports_of("hadamard", 2000), strict=False))


def test_counting_says_what_became_of_everything(run: Run, tmp_path: Path) -> None:
    done = run("aggregate", "--reports", "lake")
    assert (done.status, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "files read 2 rows 600" in told
    assert "reports counted 500 duplicates 100 each id counts once" in told
    assert "sottovoce estimate --aggregate aggregate.bin" in told
    assert Path("aggregate.bin").read_bytes() == expected(survey_of("hadamard"), rows(), 2).file(tmp_path)
    assert not Path("aggregate.bin.work").exists()


def test_counting_for_machines(run: Run) -> None:
    found = run("aggregate", "survey.json", "--reports", "lake/a.parquet", "lake/*", "--out", "x.bin", "--json").json
    assert (found["survey"], found["engine"]) == (survey_of("hadamard").id, "local")
    assert [found[name] for name in ("files", "rows", "counted", "duplicates", "bad_files")] == [2, 600, 500, 100, []]
    assert found["aggregate_bytes"] == Path("x.bin").stat().st_size


def test_unique_ids_are_declared(run: Run) -> None:
    done = run("aggregate", "--reports", "lake", "--ids-unique")
    assert done.status == 2
    assert "ids were declared unique, but 100 rows have the id of another row" in " ".join(done.err.split())
    assert not Path("aggregate.bin").exists()
    done = run("aggregate", "--reports", "lake/a.parquet", "--ids-unique")
    assert "duplicates 0 ids declared unique; a sample was checked" in " ".join(done.out.split())
    for words, ids in ((("--ids-unique",), "declared"), (("--no-ids-unique",), "removed"), ((), "removed")):
        assert run("aggregate", "--reports", "lake/b.parquet", "--json", *words).json["ids"] == ids


def test_faults_refuse_or_are_left_out(run: Run) -> None:
    Path("lake/c.parquet").write_text("hello")
    done = run("aggregate", "survey.json", "--reports", "lake")
    assert done.status == 2
    assert "1 file cannot be used: lake/c.parquet" in done.err
    assert not Path("aggregate.bin").exists()
    done = run("aggregate", "survey.json", "--reports", "lake", "--skip-faults")
    assert done.status == 0
    assert "skipped: lake/c.parquet (truncated, damaged or not a Parquet file)" in done.out


def test_files_are_estimated_from_together(run: Run) -> None:
    survey = survey_of("hadamard")
    for name, part in (("monday", rows()[:250]), ("tuesday", rows()[250:])):
        write_segment(Path(f"{name}.svr"), survey, part)
        assert run("aggregate", "survey.json", "--reports", f"{name}.svr", "--out", f"{name}.bin").status == 0
    found = run("estimate", "--aggregate", "monday.bin", "tuesday.bin", "--json").json
    estimate = survey.estimate([report for _, report in rows()])
    assert found["n_reports"] == 500
    assert "waiting" not in found
    assert [one["raw"] for one in found["answers"]] == [answer.raw for answer in estimate.top(20)]
    table = run("estimate", survey.id[:8], "--aggregate", "monday.bin", "tuesday.bin", "--top", "3").out
    assert "500 reports; epsilon 1, hadamard" in table


def test_the_likeliest_distribution_beside_the_estimate(run: Run) -> None:
    survey = survey_of("hadamard")
    write_segment(Path("all.svr"), survey, rows())
    assert run("aggregate", "survey.json", "--reports", "all.svr", "--out", "all.bin").status == 0
    plain = run("estimate", "--aggregate", "all.bin", "--json").json
    told = run("estimate", "--aggregate", "all.bin", "--likeliest", "--json").json
    found = survey.estimate([report for _, report in rows()]).likeliest()
    assert told["likeliest"] == found.summary()
    for one, other in zip(told["answers"], plain["answers"], strict=True):
        assert one.pop("likeliest") == found.values[int(one["label"])]
        assert one == other
    spoken = " ".join(run("estimate", "--aggregate", "all.bin", "--likeliest").out.split())
    assert f"likeliest: within {found.gap:.2g} of the largest log-likelihood" in spoken


def test_no_likeliest_distribution_from_supports(run: Run) -> None:
    survey = sv.Survey(sv.shares(6), epsilon=1.0, mechanism="subset_selection")
    Path("supports.json").write_text(survey.to_json())
    reports = survey.simulate([1, 2, 3] * 20, seed=1)
    write_segment(Path("supports.svr"), survey, [(bytes([i] * 16), one) for i, one in enumerate(reports)])
    assert run("aggregate", "supports.json", "--reports", "supports.svr", "--out", "supports.bin").status == 0
    refused = run("estimate", "--aggregate", "supports.bin", "--likeliest")
    assert refused.status == 2
    assert "holds how many reports support each value" in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("aggregate", "--reports", "nowhere"), "nothing matches 'nowhere'"),
        (("aggregate", "missing.json", "--reports", "lake"), "'missing.json' cannot be read"),
        (("aggregate", "Colours", "--reports", "lake"), "no collector is given"),
        (("aggregate", "--reports", "lake", "--out", "no/x.bin"), "there is no directory 'no'"),
        (("aggregate", "--reports", "lake", "--memory", "much"), "'much' is not an amount of memory"),
        (("aggregate", "--reports", "lake", "--memory", "1KiB"), "memory_bytes is 1024"),
        (("aggregate", "--reports", "lake", "--master", "spark://x"), "add --engine spark"),
        (("aggregate", "--reports", "lake", "--engine", "spark", "--restart"), "is for --engine local"),
        (("estimate",), "no survey is given"),
        (("estimate", "--aggregate", "survey.json"), "survey.json is not an aggregate file"),
        (("estimate", "--aggregate", "missing.bin"), "missing.bin cannot be read"),
        (("estimate", "--aggregate", "survey.json", "./survey.json"), "given twice"),
        (("estimate", "--aggregate", "survey.json", "--watch"), "--watch needs a collector"),
    ],
)
def test_mistakes_are_told(run: Run, words: tuple[str, ...], told: str) -> None:
    done = run(*words)
    assert done.status == 2
    assert told in done.err


def test_another_surveys_file_is_refused(run: Run) -> None:
    other = survey_of("randomized_response")
    Path("other.json").write_text(other.to_json())
    write_segment(Path("other.svr"), other, [(bytes(16), reports_of("randomized_response", 2000)[0])])
    assert run("aggregate", "other.json", "--reports", "other.svr", "--out", "other.bin").status == 0
    assert run("aggregate", "--reports", "lake").status == 0
    done = run("estimate", "--aggregate", "aggregate.bin", "other.bin")
    assert (done.status, "only those of one survey can be added" in done.err) == (2, True)
    done = run("estimate", other.id[:8], "--aggregate", "aggregate.bin")
    assert (done.status, "not of the given one" in done.err) == (2, True)
    content = bytearray(Path("other.bin").read_bytes())
    content[3] = 9
    Path("later.bin").write_bytes(content)
    assert "has format 9" in run("estimate", "--aggregate", "later.bin").err
