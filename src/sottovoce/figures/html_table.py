"""The most frequent answers of an estimate as a table, which notebooks show."""

from __future__ import annotations

import html
from collections.abc import Sequence

__all__ = ["answers_html"]


def answers_html(
    answers: Sequence[tuple[str, float, float, float, float]], caption: str, total: int, unit: str = ""
) -> str:
    """A row per answer: label, projected value, raw value and the two ends of its interval; `total` is of all answers.

    Examples
    --------
    >>> answers_html([("tea & milk", 0.6, 0.61, 0.5, 0.7)], "an estimate", total=3).split("<tbody>")[0]
    '<table><caption>an estimate; 2 more values</caption><thead>...</thead>'
    """
    rows = "".join(
        f"<tr><td>{html.escape(label)}</td><td>{value:.4f}</td><td>{low:.4f} to {high:.4f}</td><td>{raw:.4f}</td></tr>"
        for label, value, raw, low, high in answers
    )
    more = total - len(answers)
    caption = html.escape(caption) + (f"; {more:,} more values" if more > 0 else "")
    measure = f" ({html.escape(unit)})" if unit else ""
    head = f"<tr><th>answer</th><th>estimate{measure}</th><th>95 % interval</th><th>raw</th></tr>"
    return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"
