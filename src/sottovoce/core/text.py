"""Text for people and programs: untrusted text made safe to show, JSON without infinities, and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["csv_text", "json_text", "one_line"]


def one_line(text: str, longest: int = 200) -> str:
    """The text without control, formatting and other unprintable characters, shortened if it is too long.

    Examples
    --------
    >>> one_line("Colours\\x1b[2J of\\n the \\u202eyear")
    'Colours[2J of the year'
    """
    shown = "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text[: 4 * longest])
    line = " ".join(shown.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def json_text(result: Mapping[str, Any], indent: int | None = 2) -> str:
    """One JSON object and a line's end. JSON has no infinity: it becomes null.

    Examples
    --------
    >>> json_text({"epsilon": float("inf"), "n": (1, 2)}, indent=None)
    '{"epsilon": null, "n": [1, 2]}\\n'
    """
    return json.dumps(_finite(result), allow_nan=False, indent=indent) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of equal keys, with a heading.

    Examples
    --------
    >>> csv_text([{"a": 1, "b": "x"}])
    'a,b\\r\\n1,x\\r\\n'
    """
    into = io.StringIO(newline="")
    writer = csv.DictWriter(into, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return into.getvalue()
