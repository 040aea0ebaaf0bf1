"""What a notebook and `print` show of surveys, plans, audits and disclosures."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser

import pytest

import sottovoce as sv

HOSTILE = "<script>alert('tea')</script>"


class Cells(HTMLParser):
    """The tags and texts of a table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


@cache
def shown() -> dict[str, object]:
    survey = sv.Survey(["tea", "coffee"], epsilon=1.0, title=HOSTILE)
    return {
        "survey": survey,
        "tracking": sv.Tracking(
            ["tea", "coffee"], epsilon=1.0, every="week", starts="2027-01-04", periods=4, title=HOSTILE
        ),
        "panel": sv.Panel({"age": range(10)}, rounds=3, epsilon=1.0, title=HOSTILE),
        "plan": sv.plan(sv.shares(4), epsilon=1.0, people=1000),
        "tracking plan": sv.plan(sv.shares(4), epsilon=1.0, people=1000, periods=4),
        "panel plan": sv.plan_panel(rounds=3, epsilon=1.0, people=1000),
        "audit": sv.audit(survey, samples=100, seconds=0.1),
        "disclosure": sv.disclose(survey, audit="none", partial=True),
    }


NAMES = ("survey", "tracking", "panel", "plan", "tracking plan", "panel plan", "audit", "disclosure")


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_a_table_without_foreign_tags(name: str) -> None:
    cells = Cells(shown()[name]._repr_html_())  # type: ignore[attr-defined]
    assert cells.tags == {"table", "caption", "tbody", "tr", "th", "td"}
    assert "psilon" in cells.text
    assert (HOSTILE in cells.text) == (name in ("survey", "tracking", "panel", "disclosure"))


@pytest.mark.parametrize("name", ["plan", "tracking plan", "panel plan"])
def test_a_printed_plan_is_its_sentence(name: str) -> None:
    found = shown()[name]
    sentence = str(found)
    assert "1,000 people" in sentence
    assert "epsilon 1" in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(repr(found)) < 120
    assert repr(found).startswith("<plan of ")
