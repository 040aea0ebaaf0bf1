"""The tables on the page of questions are what the script makes of their declarations."""

from __future__ import annotations

import make_question_reference
from sottovoce.questions.registry import QUESTIONS
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
