"""A disclosure as one page of HTML that needs nothing else, or as CommonMark with tables; every text is escaped."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from sottovoce.disclosure.claim import Chapter, Claim, Shown

__all__ = ["escaped", "html_page", "markdown_page"]


_CLASSES = {"stated": "", "not claimed": ' class="open"', "cannot be stated": ' class="fault"'}


def html_page(page: Shown) -> str:
    """The page as text.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0, title="<script>alert(1)</script>")
    >>> shown = html_page(sv.disclose(survey, audit="none"))
    >>> "<script" in shown, "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    (False, True)
    """
    template = Template(files("sottovoce.disclosure").joinpath("page.html.template").read_text(encoding="utf-8"))
    title = page.title or "A survey without a title"
    return template.substitute(
        title=escape(title),
        standing=page.standing,
        headline=escape(page.headline),
        contents="".join(
            f'<li><a href="#{chapter.name}">{escape(chapter.title)}</a></li>' for chapter in page.chapters
        ),
        chapters="\n".join(_chapter(chapter) for chapter in page.chapters),
        survey=escape(page.survey),
        made=f"{page.made:%Y-%m-%d %H:%M} UTC",
    )


def _chapter(chapter: Chapter) -> str:
    note = f"<p>{escape(chapter.note)}</p>\n" if chapter.note else ""
    head = '<thead><tr><th scope="col">about</th><th scope="col">statement</th><th scope="col">see</th></tr></thead>'
    rows = "\n".join(_row(claim) for claim in chapter.claims)
    return (
        f'<section aria-labelledby="{chapter.name}">\n<h2 id="{chapter.name}">{escape(chapter.title)}</h2>\n{note}'
        f"<table>{head}<tbody>\n{rows}\n</tbody></table>\n</section>"
    )


def _row(claim: Claim) -> str:
    state = "" if claim.state == "stated" else f"<b>{escape(claim.state)}</b>"
    text = escape(claim.text)
    said = f"{state}: {text}" if state and text else state or text
    evidence = f"<code>{escape(claim.evidence)}</code>" if claim.evidence else ""
    return (
        f'<tr{_CLASSES[claim.state]}><th scope="row">{escape(claim.label)}</th><td>{said}</td>'
        f'<td class="see">{evidence}</td></tr>'
    )


_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!$@^]")
_ADDRESS: Final = re.compile(r"://|(?i:www)\.")


def escaped(text: str) -> str:
    """Text as Markdown that shows it as it is: no markup, no links, no cells, no formulas.

    Examples
    --------
    >>> escaped("**a|b** <i> http://c")
    '\\\\*\\\\*a\\\\|b\\\\*\\\\* \\\\<i\\\\> http\\\\://c'
    """
    shown = _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))
    return _ADDRESS.sub(lambda match: match[0].replace(".", r"\.").replace(":", r"\:"), shown)


def markdown_page(page: Shown) -> str:
    """The page as text."""
    strong = "" if page.standing == "complete" else "**"
    lines = [
        f"# Disclosure: {escaped(page.title or 'a survey without a title')}",
        f"{strong}{escaped(page.headline)}{strong}",
        f"Survey {page.survey}, {page.made:%Y-%m-%d %H:%M} UTC",
        *(_markdown_chapter(chapter) for chapter in page.chapters),
    ]
    return "\n\n".join(lines) + "\n"


def _markdown_chapter(chapter: Chapter) -> str:
    note = f"{escaped(chapter.note)}\n\n" if chapter.note else ""
    rows = "\n".join(_markdown_row(claim) for claim in chapter.claims)
    return f"## {escaped(chapter.title)}\n\n{note}| about | statement | see |\n|---|---|---|\n{rows}"


def _markdown_row(claim: Claim) -> str:
    state = "" if claim.state == "stated" else f"**{claim.state}**"
    text = escaped(claim.text)
    said = f"{state}: {text}" if state and text else state or text
    return f"| {escaped(claim.label)} | {said} | {escaped(claim.evidence)} |"
