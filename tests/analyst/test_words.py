"""Words through the commands and the analyst's client, against a real collector."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from analyst.conftest import check_error, counted, send
from collector.service import until
from sottovoce.analyst.parquet import read_export
from sottovoce.core.errors import ServiceError
from sottovoce.lab import fleet

SYMPTOMS = sv.Survey(sv.words(4, "abcdef"), epsilon=3.0, people=400, title="Symptoms")
HELD = ["Face "] * 200 + ["bad"] * 120 + ["too long"] * 80


@pytest.fixture(scope="module")
def answered(service: Any) -> Any:
    """A survey of words with 400 counted reports."""
    live = sv.connect(service.url, service.token).publish(SYMPTOMS)
    send(service.url, SYMPTOMS, SYMPTOMS.simulate(HELD, seed=1))
    counted(live)
    return live


def test_the_estimate_is_that_of_the_counts(answered: Any) -> None:
    estimate = answered.estimate()
    assert estimate.labels() == SYMPTOMS.estimate(answered.aggregate()).labels()
    assert estimate.labels()[:2] == ["face", "bad"]
    told = answered.shares_of(["FACE", "deaf"], level=0.9)
    assert [one.row() for one in told] == [one.row() for one in estimate.of_many(["face", "deaf"], 0.9)]
    assert {one.level for one in told} == {0.9}
    with pytest.raises(ServiceError, match="number 1 of the given words") as caught:
        answered.shares_of(["gazpacho"])
    assert caught.value.code == "invalid_word"
    assert "gazpacho" not in str(caught.value)


def test_estimate_lists_words_and_tells_named_ones(run: Any, answered: Any, tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text("DEAF\n\nbad\n")
    asked = ("estimate", "Symptoms", "--word", "Face", "--words", str(tmp_path / "known.txt"))
    told = run(*asked, "--json").json
    estimate = answered.estimate()
    assert [one["label"] for one in told["answers"]] == estimate.labels()
    assert [one["certain"] for one in told["answers"]] == estimate.certain.tolist()
    assert [one["label"] for one in told["named"]] == ["face", "deaf", "bad"]
    assert told["words"] == json.loads(estimate.to_json())["words"]
    shown = " ".join(run(*asked).out.split())
    assert "deaf" in shown
    assert "are expected by chance" in shown
    assert told["words"]["hostile_devices"]["statement"] in shown
    assert shown.count(told["words"]["hostile_devices"]["statement"]) == 1
    assert told["influence"]["statement"] in shown
    assert "at most 5 %; about 1 of the others are expected by chance" in shown
    listed, named = shown.split("named by you")
    assert "deaf" in named
    assert "deaf" not in listed
    assert "quote the interval of the list" in named


def test_how_to_search_is_an_option(run: Any, answered: Any) -> None:
    told = run("estimate", "Symptoms", "--false-discovery", "0.001", "--most-prefixes", "64", "--json").json
    assert told["words"]["false_discovery"] == 0.001


@pytest.mark.parametrize(
    ("options", "helpful"),
    [
        (("--word", "gazpacho"), "number 1 of the named words is not a word of this survey; allowed: words of 1 to 4"),
        (("--word", "bad", "--word", ""), "number 2"),
        (("--words", "nowhere.txt"), "nowhere.txt"),
        (("--false-discovery", "2"), "false_discovery"),
        (("--most-prefixes", "0"), "most_prefixes"),
        (("--sum", "bad"), "--sum"),
        (("--likeliest",), "--likeliest"),
        (("--answer", "bad"), "--answer"),
    ],
)
def test_mistakes_are_named(run: Any, answered: Any, options: tuple[str, ...], helpful: str) -> None:
    outcome = run("estimate", "Symptoms", *options, "--json")
    assert outcome.status == 2
    assert helpful in outcome.err
    assert "gazpacho" not in outcome.err


def test_options_of_words_are_for_words(run: Any, service: Any, collector: Any) -> None:
    collector.publish(sv.Survey(sv.shares(["a", "b"]), epsilon=1.0, title="listed"))
    check_error(run("estimate", "listed", "--word", "a", "--json"), "UsageError", "--word is for surveys of words")


def test_files_of_counts_give_the_same_list(run: Any, answered: Any, tmp_path: Path) -> None:
    folder, counts = tmp_path / "reports", tmp_path / "counts.bin"
    assert run("export", "Symptoms", "--parquet", str(folder), "--json").status == 0
    assert read_export(SYMPTOMS, folder).n_reports == 400
    assert run("aggregate", "--reports", str(folder), "--out", str(counts), "--json").status == 0
    told = run("estimate", "--aggregate", str(counts), "--word", "bad", "--json").json
    live = run("estimate", "Symptoms", "--word", "bad", "--json").json
    assert told == {name: value for name, value in live.items() if name != "waiting"}


def test_a_picture_of_words(run: Any, answered: Any, tmp_path: Path) -> None:
    path = tmp_path / "words.svg"
    assert run("estimate", "Symptoms", "--picture", str(path), "--json").status == 0
    assert "face" in path.read_text()


def test_created_and_answered_on_the_command_line(
    service: Any, run: Any, collector: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--below", "1000", "--epsilon", "1", "--people", "500", "--title", "Which number?")
    told = run("survey", "create", "words", *options, "--json").json
    assert told["id"] == sv.Survey(sv.words(below=1000), epsilon=1.0, people=500, title="Which number?").id
    for place, value in enumerate(("789", "no number", "-")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"0xff\n")))
        words = ("answer", service.url, "Which number?", value, "--store", str(tmp_path / f"{place}.db"), "--json")
        assert run(*words).json["state"] == "sent"
    live = collector.survey("Which number?")
    until(lambda: live.status().n_reports == 3, "three reports are counted")


def test_simulated_devices_have_words(service: Any, collector: Any) -> None:
    survey = sv.Survey(sv.words(4, "abcdef"), epsilon=2.0, people=600, title="Fleet")
    live = collector.publish(survey)
    sent = fleet.run(service.url, survey.id, 600, singles=4, batch=200, seed=5)
    assert (sent.accepted, sent.singles, sent.refused) == (600, 4, {})
    words = [label for label, _ in sent.truth]
    assert words == survey.question.invented_people().labels
    counted(live)
    told = live.shares_of(words[:20])
    inside = sum(one.low <= share <= one.high for one, (_, share) in zip(told, sent.truth, strict=False))
    assert inside >= 10, "11 misses of 20 intervals at 95 % have a probability below 1e-9"


@pytest.mark.parametrize(
    ("options", "helpful"),
    [
        (("--alphabet", "abca"), "more than once"),
        (("--alphabet", "A"), "2 to 1,024"),
        (("--alphabet", "AB"), "normalised"),
        (("--longest", "0"), "from 1 to 64"),
        (("--longest", "1e6"), "from 1 to 64"),
        (("--below", "1"), "from 2 to"),
        (("--case", "upper"), "--case"),
    ],
)
def test_what_is_no_survey_of_words_is_refused(run: Any, service: Any, options: tuple[str, ...], helpful: str) -> None:
    outcome = run("survey", "create", "words", *options, "--epsilon", "1", "--json")
    assert outcome.status == 2
    assert helpful in outcome.err
