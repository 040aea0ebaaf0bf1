"""A disclosure as CommonMark with tables; text is escaped so that none of it is read as markup."""

from __future__ import annotations

import re
from typing import Final

from sottovoce.disclosure.claim import Chapter, Claim, Shown

__all__ = ["escaped", "markdown_page"]

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
    return _ADDRESS.sub(lambda found: found[0].replace(".", r"\.").replace(":", r"\:"), shown)


def markdown_page(page: Shown) -> str:
    """The page as text."""
    strong = "" if page.standing == "complete" else "**"
    lines = [
        f"# Disclosure: {escaped(page.title or 'a survey without a title')}",
        f"{strong}{escaped(page.headline)}{strong}",
        f"Survey {page.survey}, {page.made:%Y-%m-%d %H:%M} UTC",
        *(_chapter(chapter) for chapter in page.chapters),
    ]
    return "\n\n".join(lines) + "\n"


def _chapter(chapter: Chapter) -> str:
    note = f"{escaped(chapter.note)}\n\n" if chapter.note else ""
    rows = "\n".join(_row(claim) for claim in chapter.claims)
    return f"## {escaped(chapter.title)}\n\n{note}| about | statement | see |\n|---|---|---|\n{rows}"


def _row(claim: Claim) -> str:
    state = "" if claim.state == "stated" else f"**{claim.state}**"
    text = escaped(claim.text)
    said = f"{state}: {text}" if state and text else state or text
    return f"| {escaped(claim.label)} | {said} | {escaped(claim.evidence)} |"
