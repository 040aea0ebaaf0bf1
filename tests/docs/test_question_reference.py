"""The tables on the page of questions are what the script makes of their declarations."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import make_question_reference
from sottovoce.questions.parameter import Parameter
from sottovoce.questions.registry import QUESTIONS
from sottovoce.questions.shares import Shares
from sottovoce.surveys.panel import Panel


def test_the_page_is_what_the_script_makes() -> None:
    page = make_question_reference.PAGE.read_text(encoding="utf-8")
    assert page == make_question_reference.page(), "run tools/make_question_reference.py"


def test_every_question_and_parameter_has_a_row() -> None:
    page = make_question_reference.PAGE.read_text(encoding="utf-8")
    for kind, declared in [*((one.kind, one.parameters) for one in QUESTIONS.values()), (Panel.kind, Panel.parameters)]:
        assert f"\n| `{kind}` | " in page
        for one in declared:
            assert f"\n| `{one.name}` | " in page
            assert one.help in page


def test_a_new_parameter_and_a_changed_default_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = Parameter("weeks", "integer", "how many weeks", "4", default=1, low=1, high=52)
    monkeypatch.setattr(Shares, "parameters", (*Shares.parameters, fresh))
    row = "| `weeks` | `shares` | how many weeks | an integer from 1 to 52 | 1 | `--weeks 4` |\n"
    assert row in make_question_reference.page()
    monkeypatch.setattr(Shares, "parameters", (dataclasses.replace(fresh, default=None),))
    assert row.replace("| 1 |", "| required |") in make_question_reference.page()


def test_a_table_that_went_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_question_reference, "PAGE", tmp_path / "questions.md")
    (tmp_path / "questions.md").write_text("# Questions\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no table that begins with"):
        make_question_reference.page()
