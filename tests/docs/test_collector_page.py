"""The commands of the tutorial, one after the other as a shell would read them, against a real service."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sottovoce as sv
from collector.service import Service, running, until
from sottovoce.cli import main
from terminal import words_of

PAGE = Path(__file__).parents[2] / "docs" / "collector.md"
ADDRESS = "http://127.0.0.1:8470"


def commands() -> list[str]:
    """The page's own commands, without their prompts."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if "$ sottovoce" in line]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    first = commands()[0].split()
    assert first[:2] == ["sottovoce", "serve"]
    with running(tmp_path / "sottovoce-data", *first[2:]) as started:
        yield started


def test_the_commands_do_what_the_page_says(
    service: Service,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_URL", service.url)
    monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
    collector = sv.connect(service.url, service.token)

    def run(command: str) -> str:
        status = main(words_of(command.replace(ADDRESS, service.url))[1:])
        out, err = capsys.readouterr()
        assert status == 0, (command, err)
        return out

    told: dict[str, list[str]] = {}
    with contextlib.ExitStack() as beside:
        for command in commands()[1:]:
            if command.startswith("sottovoce estimate"):
                until(lambda: collector.survey("Drinks").status().waiting == 0, "everything is counted")
            if command.startswith("sottovoce simulate fleet") and "People" in command:
                typed = [sys.executable, "-m", *words_of(command.replace(ADDRESS, service.url))]
                people = beside.enter_context(subprocess.Popen(typed, stdout=subprocess.DEVNULL))
                beside.callback(people.terminate)
            else:
                told.setdefault(command, []).append(run(command))
    few, many = told["sottovoce estimate Drinks"]
    assert "Drinks: 3 reports" in few, "Anna's second answer is not counted"
    assert "Drinks: 10,003 reports" in many
    (ledger,), (shown,) = told["sottovoce ledger --store anna.db"], told["sottovoce survey show Drinks"]
    assert "epsilon 7 of 8 left" in ledger
    assert "sealed" in shown
    assert "1 of 2 rounds asked" in told["sottovoce ask People 'age<40' --reports 100"][0]
