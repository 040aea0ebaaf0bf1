"""The demonstration: its figures agree with each other, and its page stands alone."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

import pytest

from sottovoce.experiments.demo import PEOPLE, crowd_sizes, state_survey, whispers
from sottovoce.experiments.instruments import INSTRUMENTS, QUESTION, STYLES, true_frequencies

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
    import contextlib
    import io
    import json

    from sottovoce.cli import main

    where = tmp_path_factory.mktemp("demo")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(["demo", "--users", "20_000", "--seed", "3", "--out", str(where), "--json"])
    assert status == 0
    return json.loads(out.getvalue()), (where / "report.html").read_text(encoding="utf-8")


def test_figures_agree_with_each_other(told):
    found, _ = told
    assert (found["question"], found["users"], found["epsilon"], found["seed"]) == (QUESTION, 20_000, 1.0, 3)
    assert found["domain_size"] == found["intervals"] == len(INSTRUMENTS) * len(STYLES) == 300
    assert found["l2_projected"] <= found["l2_raw"]
    assert found["coverage"] == found["intervals_that_hold"] / 300
    assert found["exact_epsilon"] <= 1.0
    assert [crowd["users"] for crowd in found["crowds"]] == sorted(crowd["users"] for crowd in found["crowds"])
    assert found["crowds"][-1]["users"] == 20_000
    assert found["crowds"][-1]["l2_raw"] == found["l2_raw"]
    for row in found["top"]:
        assert row["hit"] == (row["low"] <= row["truth"] <= row["high"])


def test_the_same_seed_tells_the_same_story_with_other_whispers(run, told):
    found, _ = told
    again = run("demo", "--users", "20_000", "--seed", "3", "--no-report", "--json").json
    assert again["report"] is None
    assert (again["top"], again["crowds"]) == (found["top"], found["crowds"])


def test_no_whisper_tells_more_than_epsilon():
    survey = state_survey()
    for _ in range(20):
        for whisper in whispers(survey):
            assert len(whisper.report) == len(survey.tag) + survey.mechanism.report_bytes
            # log_prob is correctly rounded, exp and the subtraction are not: a few units in the last place.
            assert 1 / math.e * (1 - 1e-12) <= whisper.ratio <= math.e * (1 + 1e-12)
            assert whisper.largest_ratio <= math.e * (1 + 1e-12)


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
    for elsewhere in ("http://", "https://", "//cdn", "src=", "url(", "@import"):
        assert elsewhere not in text
    assert not [value for name, value in page.attributes if name in ("href", "src", "action")]
    assert "prefers-color-scheme: dark" in text
    assert '<meta name="viewport"' in text
    assert "$" not in text


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
    cards = re.findall(r'<div class="whisper"><span class="muted">(\w+)</span><b>([\w -]+)</b>', text)
    assert cards == [(who, f"{style} {instrument}") for who, (instrument, style), _ in PEOPLE]
    tag = found["survey"][:8]
    shown = re.findall(rf"<span>{tag}</span> ([0-9a-f]+)", text)
    assert [tag + rest for rest in shown] == [whisper["report"] for whisper in found["whispers"]]


def test_the_story_is_told_to_people(run, tmp_path):
    outcome = run("demo", "--users", "2_000", "--out", str(tmp_path / "new" / "place"))
    assert outcome.status == 0
    assert outcome.err == ""
    for words in (QUESTION, "2.72 times likelier", "Papageno", "2,000 whispers", "of 300 intervals", "report.html"):
        assert words in outcome.out
    assert (tmp_path / "new" / "place" / "report.html").exists()


@pytest.mark.parametrize("users", ["1", "30"])
def test_even_a_handful_of_people_make_a_page(run, tmp_path, users):
    assert run("demo", "--users", users, "--out", str(tmp_path), "--json").status == 0
    assert Page((tmp_path / "report.html").read_text(encoding="utf-8")).open == []


def test_crowds_stay_within_the_promised_number_of_people():
    for size, repeats in crowd_sizes(1_000_000):
        assert repeats == 1 or size * repeats <= 1_000_000 / 8


def test_the_picture(run, tmp_path):
    target = tmp_path / "pictures" / "demo.png"
    run("demo", "--users", "2_000", "--no-report", "--picture", str(target), "--json")
    head = target.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")) == (1200, 600)
