"""A page in three formats: the same claims in each, and nothing that a hostile title says is taken for markup."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

import sottovoce as sv
from disclosure.kinds import RELAY, of_every_kind
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.disclosure.page import escaped

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><svg onload=alert(1)>",
    "a|b **bold** _it_ `code` [x](javascript:alert(1)) ![y](http://evil.example/z)",
    "| a | b |",
    "# heading --- \\| \\\\ <http://evil.example> www.evil.example http://evil.example me@evil.example",
    "$x^2$ ~~gone~~ &lt;b&gt; &#60;i&#62; {{ block }} $title ${title}",
    "- item 1. item > quote",
]


class Tags(HTMLParser):
    """Elements with their attributes, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_page(text: str) -> Any:
    survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0, title=text, relay=RELAY)
    return sv.disclose(survey, audit="none", about={"curator": text, "purpose": text, "authors": [text]})


@pytest.mark.parametrize("text", HOSTILE)
def test_titles_are_text_in_html(text: str) -> None:
    calm, page = Tags(hostile_page("Drinks").to_html()), Tags(hostile_page(text).to_html())
    assert page.found == calm.found
    assert page.text.count(text) == calm.text.count("Drinks") > 4


@pytest.mark.parametrize("text", HOSTILE)
def test_titles_are_text_in_markdown(text: str) -> None:
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    calm, page = (Tags(reader.render(hostile_page(one).to_markdown())) for one in ("Drinks", text))
    assert page.found == calm.found
    assert page.text.count(" ".join(text.split())) == calm.text.count("Drinks") > 4


@pytest.mark.parametrize("text", HOSTILE)
def test_addresses_and_mentions_are_broken_up(text: str) -> None:
    shown = escaped(text)
    assert "://" not in shown.replace("\\://", "")
    assert "www." not in shown
    assert "@" not in shown.replace("\\@", "")


def test_html_needs_nothing_else_and_runs_nothing() -> None:
    page = hostile_page("Drinks").to_html()
    tags = Tags(page)
    names = {name for name, _ in tags.found}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "svg"}
    assert not [attribute for _, given in tags.found for attribute in given if attribute.startswith("on")]
    targets = [given["href"] or "" for _, given in tags.found if "href" in given]
    assert targets
    assert all(target.startswith("#") for target in targets)
    assert "url(" not in page
    assert "@import" not in page
    policy = next(given["content"] for name, given in tags.found if name == "meta" and "http-equiv" in given)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_html_has_what_screen_readers_go_by() -> None:
    tags = Tags(hostile_page("Drinks").to_html()).found
    assert ("html", {"lang": "en"}) in tags
    assert [name for name, _ in tags].count("h1") == 1
    ids = [given["id"] for _, given in tags if "id" in given]
    assert len(set(ids)) == len(ids)
    assert [given["aria-labelledby"] for name, given in tags if name == "section"] == ids
    assert {given.get("scope") for name, given in tags if name == "th"} == {"row", "col"}


@pytest.mark.parametrize("name", list(of_every_kind()))
def test_every_claim_is_in_every_format(name: str) -> None:
    page = sv.disclose(of_every_kind()[name], audit="none", about={"people": 1000})
    html = Tags(page.to_html()).text
    markdown = Tags(MarkdownIt("commonmark").enable("table").render(page.to_markdown())).text
    told = json.loads(page.to_json())["chapters"]
    for chapter in page.chapters:
        assert list(told[chapter.name]["claims"]) == [one.name for one in chapter.claims]
        for one in chapter.claims:
            for shown in (html, markdown):
                assert one.label in shown
                assert one.words in shown
                assert one.evidence in shown


def test_an_unknown_format_is_refused() -> None:
    with refuses(SurveyError, "format"):
        hostile_page("Drinks").render("pdf")
