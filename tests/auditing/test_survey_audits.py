"""`sv.audit(survey)` and `sottovoce audit --survey`: the verdict on the very survey, and what was done to reach it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.auditing.fresh import LEAST_SECONDS
from sottovoce.auditing.result import FRESH_PROCESS, REMEMBERED, UNIFORM_BYTES, fault_size
from sottovoce.cli import main
from sottovoce.domain.trials import edge_values
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.workloads import Prefix

PERSON = {"age": range(4), "city": ["Oslo", "Rome"]}
PANEL = sv.Panel(PERSON, rounds=3, epsilon=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "survey",
    [
        sv.Survey(sv.shares(["a", "b", "c"]), epsilon=1.0),
        sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="haar"),
        sv.adaptive.round_of(PANEL, 1, "age", 4),
        sv.adaptive.round_of(PANEL, 2, "2 * (city == 'Rome') - 1"),
    ],
    ids=lambda survey: survey.mechanism.name,
)
def test_small_surveys_are_proved(survey: sv.Survey) -> None:
    """As long as it takes to be compared with a fresh process; what proves it comes before any random run."""
    found = sv.audit(survey, samples=100, seconds=LEAST_SECONDS)
    assert (found.verdict, found.survey, found.fault_size) == ("proved", survey.id, 0.0)
    assert found.assumptions == (UNIFORM_BYTES, FRESH_PROCESS)
    assert "every" in found.method


def test_a_short_audit_starts_no_process() -> None:
    survey = sv.Survey(sv.shares(["a", "b", "c"]), epsilon=1.0)
    assert sv.audit(survey, samples=100, seconds=0.2).assumptions == (UNIFORM_BYTES, REMEMBERED)


def test_a_survey_too_large_to_enumerate_says_what_was_run_instead() -> None:
    found = sv.audit(sv.Survey(sv.shares(3000), epsilon=1.0, mechanism="hadamard"), samples=100)
    assert found.verdict == "sampled"
    assert found.method.startswith(
        "too many outcomes to run all: every value 2 times, with every outcome of every draw"
    )
    assert "every value 8 times through the survey" in found.method
    assert found.fault_size == pytest.approx(fault_size(24_000))
    assert "1 in 868 of the survey's reports would have been seen" in found.method
    assert len(found.assumptions) == 4


def test_a_domain_that_cannot_be_run_through_is_sampled() -> None:
    found = sv.audit(sv.Survey(sv.shares(2**36), epsilon=1.0, mechanism="hadamard"), samples=100, seconds=0.5)
    assert found.verdict == "sampled"
    assert "of 68,719,476,736 values, with first, last and random outcomes of every draw" in found.method
    assert "values that were not run do as those that were" in found.assumptions


@pytest.mark.slow
def test_records_of_a_panel_without_end() -> None:
    """2^62 records, of which a query makes ten values."""
    panel = sv.Panel({"first": range(2**31), "second": range(2**31)}, rounds=3, epsilon=1.0)
    found = sv.audit(sv.adaptive.round_of(panel, 1, "first // 300000000", 10), samples=100, seconds=0.5)
    assert found.verdict == "sampled"
    assert f"of {2**62:,} values through the survey" in found.method
    assert "values that were not run do as those that were" in found.assumptions


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["gaussian", "rejection", "codebook"])
def test_vector_surveys_are_sampled(mechanism: str) -> None:
    delta = 1e-6 if mechanism == "gaussian" else 0.0
    mean = sv.Survey(sv.vector(3, 2.0), epsilon=1.0, delta=delta, mechanism=mechanism, people=2000)
    queries = sv.Survey(
        sv.queries(Prefix(6)), epsilon=1.0, delta=delta, mechanism=mechanism, strategy="direct", people=2000
    )
    for survey in (mean, queries):
        found = sv.audit(survey, samples=100, seconds=2.0 if mechanism == "codebook" else 0.75)
        assert (found.verdict, found.survey) == ("sampled", survey.id)
        assert 0 < found.fault_size < 1


def test_values_at_which_faults_are_likely() -> None:
    edges = edge_values(2**33)
    assert {0, 1, 2**16 - 1, 2**16, 2**17, 2**31 - 1, 2**32, 2**32 + 1, 2**33 - 1} <= set(edges)
    assert edges == sorted(set(edges))
    assert edge_values(2) == [0, 1]
    assert {6, 7, 993, 994} <= set(edge_values(1000, 7))


def test_progress_is_told_in_runs() -> None:
    told: list[int] = []
    sv.audit(sv.Survey(sv.shares(50), epsilon=1.0, mechanism="hadamard"), samples=100, progress=told.append)
    assert sum(told) > 20_000


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def survey_file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.json"
    path.write_text(
        sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, mechanism="randomized_response").to_json()
    )
    return path


def test_a_survey_is_audited_by_its_file(survey_file: Path, tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "page.html"
    assert main(["audit", "--survey", str(survey_file), "--samples", "200", "--json", "--html", str(page)]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["verdict"], result["sound"], result["domain_size"]) == ("proved", True, 3)
    assert result["survey"] == sv.Survey.from_json(survey_file.read_text()).id
    assert '<span class="yes">proved</span>' in page.read_text()
    assert main(["audit", "--survey", str(survey_file), "--samples", "200"]) == 0
    assert "proved" in capsys.readouterr().out


def test_a_broken_survey_has_exit_status_one(survey_file: Path, capsys: Any, monkeypatch: Any) -> None:
    def truthful(self: Any, value: int, source: Any) -> int:
        source.bernoulli(self._levels.threshold)
        source.below(self.domain_size - 1)
        return value

    monkeypatch.setattr(RandomizedResponse, "_randomize", truthful)
    assert main(["audit", "--survey", str(survey_file), "--samples", "200", "--json"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["verdict"], result["exact_epsilon"]) == ("broken", None)
    assert "has probability 1 under the first and 0 under the second" in result["witness"]


def test_an_attachment_goes_with_its_survey(tmp_path: Path, capsys: Any) -> None:
    survey = sv.Survey(sv.queries(Prefix(4)), epsilon=1.0, strategy="optimized")
    path, attached = tmp_path / "survey.json", tmp_path / "attachment"
    path.write_text(survey.to_json())
    attached.write_bytes(next(iter(survey.attachments.values())))
    words = ["audit", "--survey", str(path), "--samples", "200", "--seconds", "1", "--json"]
    assert main([*words, "--attachment", str(attached)]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["mechanism"], result["survey"]) == ("matrix_channel", survey.id)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--survey", "FILE", "hadamard"], "leave MECHANISM out"),
        (["--survey", "FILE", "--epsilon", "1"], "--epsilon"),
        (["--survey", "FILE", "--all"], "--all"),
        (["--survey", "PANEL"], "is a panel"),
        (["--survey", "nowhere.json"], "cannot be read"),
        (["--survey", "FILE", "--seconds", "0"], "seconds is 0: it must be a number above 0"),
        (["hadamard", "--seconds", "-1"], "seconds is -1"),
        (["--attachment", "FILE"], "--attachment belongs to a survey"),
    ],
)
def test_mistakes(words: list[str], message: str, survey_file: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "panel.json").write_text(PANEL.to_json())
    places = {"FILE": str(survey_file), "PANEL": str(tmp_path / "panel.json")}
    assert main(["audit", *(places.get(word, word) for word in words)]) == 2
    assert message in capsys.readouterr().err


def test_vectors_that_are_not_numbers_are_run_through_a_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that refuses what is not a number tells that it was not one."""
    private_input = sv.Survey.private_input

    def refusing(self: sv.Survey, value: Any) -> Any:
        if np.isnan(np.asarray(value)).any():
            raise ValueError("not a number")
        return private_input(self, value)

    monkeypatch.setattr(sv.Survey, "private_input", refusing)
    found = sv.audit(
        sv.Survey(sv.vector(2, 1.0), epsilon=1.0, mechanism="codebook", people=1000), samples=100, seconds=2
    )
    assert (found.verdict, "ValueError" in found.witness) == ("broken", True)
