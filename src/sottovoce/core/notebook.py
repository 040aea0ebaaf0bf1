"""Small tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping

__all__ = ["facts_html"]


def facts_html(caption: str, facts: Mapping[str, object]) -> str:
    """A table with a row per fact, its name first; facts that are None or empty are left out.

    Examples
    --------
    >>> facts_html("a survey", {"title": "Tea & milk", "epsilon": 1, "relay": None})
    '<table><caption>a survey</caption><tbody><tr><th>title</th><td>Tea &amp; milk</td></tr><tr><th>epsilon</th>...'
    """
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(fact))}</td></tr>"
        for name, fact in facts.items()
        if fact not in (None, "")
    )
    return f"<table><caption>{html.escape(caption)}</caption><tbody>{rows}</tbody></table>"
