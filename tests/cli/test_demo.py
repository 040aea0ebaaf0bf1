"""The demonstration: its figures agree with each other, its page stands alone, and it leaves nothing behind."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import urllib3

from sottovoce.cli import main
from sottovoce.figures.style import STYLE
from sottovoce.lab.demo.adaptive import COUNTRIES, ROUNDS, true_records
from sottovoce.lab.demo.demo import PEOPLE, crowd_sizes, sample_reports, state_survey
from sottovoce.lab.demo.forms import people_for_forms
from sottovoce.lab.demo.habit import MONTHS, true_habit
from sottovoce.lab.demo.instruments import INSTRUMENTS, QUESTION, STYLES, true_frequencies
from sottovoce.lab.demo.pictures import answers_figure
from sottovoce.lab.demo.report import _picture

pytestmark = pytest.mark.slow

FEW = 5_000
"""Of the one demonstration whose figures are compared."""

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Checks that tags match; keeps words, attributes and how often each class is used."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """One small demonstration: its JSON and its page."""
    where = tmp_path_factory.mktemp("demo")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(["demo", "--people", str(FEW), "--seed", "3", "--out", str(where), "--json"])
    assert status == 0
    return json.loads(out.getvalue()), (where / "report.html").read_text(encoding="utf-8")


def test_figures_agree_with_each_other(told):
    found, _ = told
    assert (found["question"], found["people"], found["epsilon"], found["seed"]) == (QUESTION, FEW, 1.0, 3)
    assert found["domain_size"] == found["intervals"] == len(INSTRUMENTS) * len(STYLES) == 300
    assert found["l2_projected"] <= found["l2_raw"]
    assert found["coverage"] == found["intervals_that_hold"] / 300
    assert found["exact_epsilon"] <= 1.0
    assert [crowd["people"] for crowd in found["crowds"]] == sorted(crowd["people"] for crowd in found["crowds"])
    assert found["crowds"][-1]["people"] == FEW
    assert found["crowds"][-1]["l2_raw"] == found["l2_raw"]
    for row in found["top"]:
        assert row["hit"] == (row["low"] <= row["truth"] <= row["high"])


def test_everybody_was_counted_once_although_some_reports_came_twice(told):
    found, _ = told
    metrics = found["metrics"]
    fleets = found["fleet"].values()
    refused = sum(sum(sent["refused"].values()) for sent in fleets)
    assert metrics["counted"] == 3 * FEW + 3 * people_for_forms(FEW) - refused
    assert metrics["duplicates"] == found["fleet"]["shares"]["resent"] == 1000
    assert metrics["accepted"] == metrics["counted"] + metrics["duplicates"]
    assert metrics["waiting"] == 0
    assert all(sent["singles"] >= 50 and sent["ended"] == "done" for sent in fleets)
    assert found["ages"]["people"] == FEW


def test_a_number_choices_and_a_form_were_answered(told):
    found, _ = told
    forms = found["forms"]
    assert [one["unit"] for one in forms] == ["minutes", "%", "%", "%"]
    assert {one["reports"] for one in forms} == {people_for_forms(FEW)}
    assert forms[0]["truth"] == pytest.approx(600 * 2 / 7)
    for one in forms:
        assert one["hit"] == (one["low"] <= one["truth"] <= one["high"])


def test_questions_were_asked_in_turn(told):
    found, _ = told
    asked = found["panel"]
    assert [one["round"] for one in asked] == list(range(1, ROUNDS + 1))
    assert found["fleet"]["panel"]["rounds"] == list(range(1, ROUNDS + 1))
    assert sum(one["reports"] for one in asked) == FEW - sum(found["fleet"]["panel"]["refused"].values())
    for one in asked:
        assert one["hit"] == (one["low"] <= one["truth"] <= one["high"])
    # The third question is the same whatever was answered before it; its truth is added up here by hand.
    records = true_records().reshape(-1, len(COUNTRIES), 4)
    assert asked[2]["query"] == "plays != 'never'"
    assert asked[2]["truth"] == pytest.approx(records[:, :, :3].sum())


def test_a_device_has_kept_account_of_all_three(told):
    found, _ = told
    ledger = found["ledger"]
    assert ledger["owner"] == "Papageno"
    assert [entry["state"] for entry in ledger["entries"]] == ["sent"] * 3
    assert ledger["epsilon"] == {"spent": 3.0, "left": 5.0, "budget": 8.0}
    assert ledger["entries"][0]["title"] == QUESTION


def test_a_habit_was_followed_over_twelve_months(told):
    found, text = told
    habit = found["habit"]
    assert habit["promise"] == "epsilon 1 for all 12 months together"
    assert sum(month["reports"] for month in habit["months"]) == FEW
    assert [month["truth"] for month in habit["months"]] == pytest.approx(
        [true_habit(month) for month in range(1, MONTHS + 1)], abs=6 * 0.5 / math.sqrt(FEW)
    )
    # A fixed seed: what this run found, the jump included.
    assert all(month["hit"] for month in habit["months"])
    change = habit["change"]
    # Three half widths are about six standard errors: one interval in twenty misses, and no seed is chosen by that.
    assert abs(change["value"] - change["truth"]) < 1.5 * (change["high"] - change["low"])
    labels = [month["label"] for month in habit["months"]]
    assert set(habit["drawn"]) == {who for who, *_ in PEOPLE}
    assert set(habit["drawn"].values()) <= set(labels)
    assert f"{100 * habit['change']['value']:+.1f} points since the month before" in text


def test_a_shuffler_lets_the_same_people_say_more_under_the_same_central_guarantee(told):
    found, text = told
    shuffled = found["shuffled"]
    without, with_one, central = shuffled["direct"], shuffled["shuffled"], shuffled["central"]
    assert (shuffled["people"], without["epsilon"], central["n"]) == (50_000, 1.0, 50_000)
    assert central["epsilon"] <= without["epsilon"] < central["local_epsilon"] == with_one["epsilon"]
    # Ten times is far less than what both designs' variances promise.
    assert 10 * with_one["l2_raw"] < without["l2_raw"]
    assert [row["answer"] for row in without["top"]] == [row["answer"] for row in with_one["top"]]
    words = " ".join(" ".join(Page(text).words).split())
    assert without["promise"] in words
    assert with_one["promise"] in words
    assert "no more than central epsilon 1, as long as" in words


def test_liars_are_bounded_and_the_bound_is_shown(told):
    found, text = told
    influence = found["influence"]
    assert influence["hostile"] == FEW // 100
    assert f"{100 * influence['largest']:.2f} percentage points" in " ".join(" ".join(Page(text).words).split())


def test_no_report_reveals_more_than_epsilon():
    survey = state_survey()
    for _ in range(20):
        for sample in sample_reports(survey):
            assert len(sample.report) == len(survey.tag) + survey.mechanism.report_bytes
            # log_prob is correctly rounded, exp and the subtraction are not: a few units in the last place.
            assert 1 / math.e * (1 - 1e-12) <= sample.ratio <= math.e * (1 + 1e-12)
            assert sample.largest_ratio <= math.e * (1 + 1e-12)


def test_the_truth_is_a_skewed_distribution():
    truth = true_frequencies()
    assert truth.sum() == pytest.approx(1)
    assert truth.min() > 0
    assert 0.03 < truth.max() < 0.07


def test_the_page_stands_alone(told):
    _, text = told
    page = Page(text)
    assert page.open == []
    assert "script" not in page.tags
    assert "link" not in page.tags
    for elsewhere in ("http://", "https://", "//cdn", "src=", "@import"):
        assert elsewhere not in text
    assert re.findall(r"url\((?!#)|xlink:href=\"(?!#)", text) == [], "pictures refer to their own parts alone"
    assert not [value for name, value in page.attributes if name in ("href", "src", "action")]
    assert "prefers-color-scheme: dark" in text
    assert '<meta name="viewport"' in text
    assert "$" not in text


def test_the_page_has_every_picture_in_its_own_colours(told):
    _, text = told
    pictures = re.findall(
        r'<svg class="drawn" viewBox="[^"]+" role="img" aria-label="([^"]+)">(.*?)</svg>', text, re.DOTALL
    )
    assert len(pictures) == len({name for name, _ in pictures}) == 6
    for _, picture in pictures:
        assert "var(--ink)" in picture
        assert STYLE["ink"] not in picture


def test_without_matplotlib_the_page_says_what_a_picture_needs(monkeypatch):
    monkeypatch.setattr("sottovoce.figures.style.find_spec", lambda name: None)
    told = _picture(lambda: answers_figure([], 8, 7), "answers")
    assert "pip install" in told
    assert "<svg" not in told


def test_the_page_shows_the_figures_of_this_run(told):
    found, text = told
    words = " ".join(Page(text).words)
    assert f"{found['l2_projected']:.4f}" in words
    assert f"{found['l2_raw']:.4f}" in words
    assert f"{found['intervals_that_hold']} of the 300 intervals" in words
    for row in found["top"]:
        assert row["answer"] in words
        assert f"{100 * row['low']:.2f} to {100 * row['high']:.2f}" in words


def test_the_page_shows_nobody_but_people_from_operas(told):
    found, text = told
    cards = re.findall(r'<div class="card"><span class="muted">(\w+)</span><b>([\w -]+)</b>', text)
    assert cards == [(who, f"{style} {instrument}") for who, (instrument, style), _ in PEOPLE]
    tag = found["survey"][:8]
    shown = re.findall(rf"<span>{tag}</span> ([0-9a-f]+)", text)
    assert [tag + rest for rest in shown] == [sample["report"] for sample in found["sample_reports"]]


@pytest.fixture
def temporary(tmp_path_factory):
    """Where the demonstration puts its temporary folders, and nobody else."""
    return tmp_path_factory.mktemp("temporary")


def started(temporary: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sottovoce", "demo", "--people", "1_000", *words]
    # Given, and not inherited: readline sets COLUMNS behind Python's back.
    variables = os.environ | {"COLUMNS": "110", "TMPDIR": str(temporary)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)


def test_kept_running_it_tells_the_story_and_ends_when_told(tmp_path, temporary):
    picture, page = tmp_path / "pictures" / "demo.png", tmp_path / "new" / "place"
    with started(temporary, "--keep", "--out", str(page), "--picture", str(picture)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "sottovoce estimate" in line:
                break
        url, token = re.search(r"SOTTOVOCE_URL=(\S+) SOTTOVOCE_TOKEN=(\S+)", "".join(lines)).groups()
        made = list(temporary.glob("sottovoce-demo-*"))
        asked = urllib3.request("GET", f"{url}/v1/tokens", headers={"Authorization": f"Bearer {token}"}, retries=False)
        dashboard = urllib3.request("GET", re.search(r"Its dashboard: (\S+)", "".join(lines))[1], retries=False)
        process.send_signal(signal.SIGTERM)
        err = process.stderr.read()
        assert (process.wait(), err, asked.status, dashboard.status) == (0, "", 200, 200)
    shown = " ".join("".join(lines).split())
    words = (QUESTION, "2.72 times likelier", "Papageno", "from 1,000 reports", "of 300 intervals", "report.html")
    for expected in (
        *words,
        "Its dashboard",
        "1 % of the devices were malicious",
        "epsilon 5 of 8 left",
        "counted again",
        "The analyst asks",
        "A habit over twelve months",
        "without and with a shuffler",
        "Papageno's device answers in",
    ):
        assert expected.lower() in shown.lower()
    assert made
    assert not any(folder.exists() for folder in made)
    with pytest.raises(urllib3.exceptions.HTTPError):
        urllib3.request("GET", f"{url}/healthz", retries=False)
    assert Page((page / "report.html").read_text(encoding="utf-8")).open == []
    assert picture.with_name("demo-shuffled.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")) == (1200, 600)


def test_interrupted_it_leaves_nothing_behind(tmp_path, temporary):
    with started(temporary, "--out", str(tmp_path)) as process:
        assert process.stdout is not None
        pid = 0
        for line in process.stdout:
            found = re.search(r"\(pid (\d+)\)", line)
            if found:
                pid = int(found[1])
                break
        made = list(temporary.glob("sottovoce-demo-*"))
        while process.poll() is None:
            # A library that catches everything while it is imported may lose one Ctrl-C; a person presses it again.
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=20)
        assert process.returncode == 130
    assert made
    assert not any(folder.exists() for folder in made)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list(tmp_path.iterdir()) == []


def test_what_stands_in_the_way_is_told_before_the_work(run, tmp_path, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = run("demo", "--no-report", "--port", str(taken.getsockname()[1]), "--json").json["error"]
    assert answer["type"] == "SettingsError"
    assert "--port" in answer["message"]
    (tmp_path / "something").touch()
    answer = run("demo", "--no-report", "--data", str(tmp_path), "--json").json["error"]
    assert answer["type"] == "SimulationError"
    assert "empty folder" in answer["message"]
    assert "at least 1,000" in run("demo", "--people", "999", "--json").json["error"]["message"]
    # The service's process finds its server missing, as where the extra was not installed.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['granian'] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    answer = run("demo", "--no-report", "--json").json["error"]
    assert answer["type"] == "MissingExtraError"
    assert "pip install 'sottovoce[collector]'" in answer["message"]


def test_crowds_stay_within_the_promised_number_of_people():
    for size, repeats in crowd_sizes(1_000_000):
        assert repeats == 1 or size * repeats <= 1_000_000 / 8
