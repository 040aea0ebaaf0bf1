"""`sottovoce disclose`: from a file or a collector, with exit statuses that tell pages apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.service import Service, running
from commands import Run, run_here
from disclosure.kinds import of_every_kind
from sottovoce.core.signing import fingerprint
from sottovoce.mechanisms.randomized_response import RandomizedResponse


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return run_here(capsys)


@pytest.fixture
def survey_file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.json"
    path.write_text(of_every_kind()["shares"].to_json())
    return path


def test_a_page_is_written_from_a_file(run: Run, survey_file: Path, tmp_path: Path) -> None:
    page, about = tmp_path / "page.html", tmp_path / "about.json"
    about.write_text('{"curator": "City of Utrecht"}')
    done = run("disclose", str(survey_file), "--about", str(about), "--output", str(page))
    assert (done.status, done.err) == (0, "")
    assert "Local epsilon 1. The audit's verdict: proved." in done.out
    assert "City of Utrecht" in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("options", "begins"),
    [
        ([], "<!DOCTYPE html>"),
        (["--format", "markdown"], "# Disclosure: Drinks"),
        (["--format", "json"], "{"),
        (["--json"], "{"),
    ],
)
def test_a_page_goes_to_standard_output(run: Run, survey_file: Path, options: list[str], begins: str) -> None:
    done = run("disclose", str(survey_file), "--audit", "none", *options)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(begins)


def test_json_tells_where_the_page_is(run: Run, survey_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    words = ("--audit", "none", "--format", "markdown", "--output", str(page), "--json")
    done = run("disclose", str(survey_file), *words)
    told = {"page": str(page), "survey": of_every_kind()["shares"].id, "standing": "complete", "cannot_be_stated": []}
    assert json.loads(done.out) == told
    assert page.read_text(encoding="utf-8").startswith("# Disclosure: Drinks")


def test_a_survey_with_an_attachment(run: Run, tmp_path: Path) -> None:
    survey = of_every_kind()["attached"]
    path, attached = tmp_path / "survey.json", tmp_path / "attachment"
    path.write_text(survey.to_json())
    ((digest, content),) = survey.attachments.items()
    attached.write_bytes(content)
    done = run("disclose", str(path), "--attachment", str(attached), "--audit", "none", "--json")
    assert done.status == 0
    assert json.loads(done.out)["chapters"]["versions"]["claims"]["attachment_1"]["value"] == digest
    assert run("disclose", str(path), "--audit", "none").status == 2


def test_parts_that_cannot_be_stated(run: Run, tmp_path: Path) -> None:
    path, page = tmp_path / "panel.json", tmp_path / "page.html"
    path.write_text(of_every_kind()["round"].seat.panel.to_json())
    done = run("disclose", str(path), "--output", str(page))
    assert done.status == 2
    assert "guarantee.exact_epsilon" in done.err
    assert "--partial" in done.err
    assert not page.exists()
    done = run("disclose", str(path), "--output", str(page), "--partial", "--json")
    assert done.status == 3
    assert "mechanism.name" in json.loads(done.out)["cannot_be_stated"]
    assert "INCOMPLETE" in page.read_text(encoding="utf-8")


def test_a_broken_device(run: Run, survey_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def truthful(self: Any, value: int, source: Any) -> int:
        source.bernoulli(self._levels.threshold)
        source.below(self.domain_size - 1)
        return value

    monkeypatch.setattr(RandomizedResponse, "_randomize", truthful)
    page = tmp_path / "page.html"
    done = run("disclose", str(survey_file), "--output", str(page))
    assert done.status == 1
    assert "the audit found it broken" in done.err
    assert not page.exists()
    done = run("disclose", str(survey_file), "--output", str(page), "--partial")
    assert done.status == 1
    assert "BROKEN. Do not deploy" in done.out
    assert "BROKEN. Do not deploy" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no_such.json"], "'no_such.json' cannot be read"),
        (["A title"], "the file 'A title' does not exist, and no collector is given"),
        (["A title", "--attachment", "x"], "--attachment belongs to a survey in a file"),
        (["FILE", "--about", "no_such.json"], "'no_such.json' cannot be read"),
        (["FILE", "--about", "ABOUT"], "unknown field 'curater'"),
        (["FILE", "--about", "FOLDER"], "cannot be read"),
        (["FILE", "--output", "no/such/page.html"], "there is no directory 'no/such' for the page"),
        (["FILE", "--format", "pdf"], "invalid choice: 'pdf'"),
        (["FILE", "--audit", "some"], "invalid choice: 'some'"),
        (["ABOUT"], "a survey must be a JSON object with a format"),
    ],
)
def test_mistakes_are_named(
    run: Run, survey_file: Path, tmp_path: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOTTOVOCE_URL", raising=False)
    about = tmp_path / "about.json"
    about.write_text('{"curater": "x"}')
    given = {"FILE": str(survey_file), "ABOUT": str(about), "FOLDER": str(tmp_path)}
    done = run("disclose", *(given.get(word, word) for word in words))
    assert done.status == 2
    assert message in done.err
    assert done.out == ""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("disclosed")) as service:
        yield service


def test_a_survey_on_a_collector_is_disclosed_with_its_key(run: Run, service: Service) -> None:
    collector = sv.connect(service.url, service.token)
    live = collector.publish(of_every_kind()["shares"])
    # A reviewer has no token, and needs none.
    words = ("--url", service.url, "--audit", "none", "--json")
    for name in ("Drinks", live.id, live.id[:8]):
        done = run("disclose", name, *words)
        assert done.status == 0
        page = json.loads(done.out)
        found = page["chapters"]["versions"]["claims"]
        assert (found["id"]["value"], found["key"]["value"]) == (live.id, fingerprint(collector.key))
        position, head = collector.place_in_log(live.id) or (-1, None)
        assert head is not None
        assert page["log"] == {"index": position, "tree_size": head.size, "root": head.root.hex()}
