"""`sottovoce audit` as people use it: its page, its mistakes, and what an interruption leaves."""

from __future__ import annotations

import json
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audit", "hadamard", "--html", "nowhere/at/all.html"], "no directory 'nowhere/at'"),
        (["audit", "--all", "--html", "."], "'.' is a directory; name a file in it for the page"),
        (["audit", "--all", "--epsilon", "1"], "--all has its own epsilons"),
        (["audit", "--all", "--delta", "2"], "delta is 2"),
        (["audit", "--all", "hadamard", "hadamar"], "'hadamar' cannot be audited"),
    ],
)
def test_mistakes_are_one_line_and_come_before_the_work(run, words, message, monkeypatch):
    monkeypatch.setattr(import_module("sottovoce.auditing.finite"), "audit_finite", None)
    done = run(*words)
    assert done.status == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_page_of_soundness_is_written(run, tmp_path):
    page = tmp_path / "sound.html"
    done = run("audit", "randomized_response", "--samples", "1000", "--html", str(page))
    assert done.status == 0
    assert "The one mechanism here is sound" in page.read_text()


def test_a_page_goes_with_json_too(run, tmp_path):
    page = tmp_path / "sound.html"
    done = run("audit", "randomized_response", "--samples", "1000", "--html", str(page), "--json")
    told = json.loads(done.out)
    assert (done.status, told["sound"], told["page"]) == (0, True, str(page))
    assert page.exists()


def test_too_large_a_domain_for_an_audit_names_its_option(run, monkeypatch):
    def exhaust(*given, **settings):
        raise MemoryError

    monkeypatch.setattr(import_module("sottovoce.auditing"), "audit", exhaust)
    done = run("audit", "hadamard", "--values", "1e12")
    assert done.status == 2
    assert "not enough memory; give a smaller --values" in done.err


def test_an_interruption_leaves_nothing(run, tmp_path, monkeypatch):
    def interrupt(*given, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("sottovoce.auditing.finite"), "audit_finite", interrupt)
    done = run("audit", "hadamard", "--html", str(tmp_path / "result.html"))
    assert done.status == 130
    assert (done.out, done.err) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_verdict_states_the_size(run):
    done = run("audit", "randomized_response", "--samples", "100")
    assert "for 256" in " ".join(done.out.split())
    done = run("audit", "one_option", "--values", "9", "--samples", "100", "--seconds", "0.1", "--json")
    assert json.loads(done.out)["results"][0]["size"] == "for 9 options"


@pytest.mark.parametrize("seconds", [(), ("--seconds", "100")])
def test_nothing_is_run_after_what_is_broken(run, seconds, monkeypatch):
    """Of several the first that is broken ends the command; where each takes long, all are looked at before."""
    from sottovoce.mechanisms.randomized_response import RandomizedResponse

    audited = []
    real = import_module("sottovoce.auditing").audit

    def noted(name, **settings):
        audited.append((name, settings.get("seconds")))
        return real(name, **settings)

    def truthful(self, value, source):
        source.bernoulli(self._levels.threshold)
        source.below(self.domain_size - 1)
        return value

    monkeypatch.setattr(import_module("sottovoce.auditing"), "audit", noted)
    monkeypatch.setattr(RandomizedResponse, "_randomize", truthful)
    done = run("audit", "hadamard", "randomized_response", "haar", "--samples", "100", "--json", *seconds)
    told = json.loads(done.out)
    short = 1.0 if seconds else None
    assert done.status == 1
    assert audited == [("hadamard", short), ("randomized_response", short)]
    assert [result["verdict"] for result in told["results"]] == ["sampled", "broken"]
    assert told["results"][1]["check"] == "edges"
