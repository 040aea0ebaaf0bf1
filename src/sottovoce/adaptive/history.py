"""A session's answers as a table, as JSON, or as a DataFrame."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final, overload

from sottovoce.adaptive.answer import ChoiceAnswer, RoundAnswer
from sottovoce.core.extras import import_pandas

__all__ = ["History"]

AnyAnswer = RoundAnswer | ChoiceAnswer

_COLUMNS = ("round", "query", "value", "low", "high", "n_reports")


@final
@dataclass(frozen=True, repr=False)
class History(Sequence[AnyAnswer]):
    """Answers in the order of their rounds."""

    answers: tuple[AnyAnswer, ...]

    def __len__(self) -> int:
        return len(self.answers)

    @overload
    def __getitem__(self, index: int) -> AnyAnswer: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> AnyAnswer | History:
        return History(self.answers[index]) if isinstance(index, slice) else self.answers[index]

    def __iter__(self) -> Iterator[AnyAnswer]:
        return iter(self.answers)

    def to_dicts(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One dictionary per answer."""
        return [answer.to_dict(level) for answer in self.answers]

    def to_json(self, level: float = 0.95) -> str:
        """`to_dicts` as JSON."""
        return json.dumps(self.to_dicts(level), ensure_ascii=False)

    def to_pandas(self, level: float = 0.95) -> Any:
        """A DataFrame with one row per round; a round of choices shows its most frequent one. Needs pandas."""
        return import_pandas().DataFrame(self._lines(level), columns=list(_COLUMNS)).set_index("round")

    def _lines(self, level: float = 0.95) -> list[tuple[int, str, float | None, float | None, float | None, int]]:
        lines = []
        for answer in self.to_dicts(level):
            first: dict[str, Any] = answer if "choices" not in answer else next(iter(answer["choices"]), {})
            label = f" ({first['label']} first)" if "label" in first else ""
            ends = (first.get("value"), first.get("low"), first.get("high"))
            lines.append((answer["round"], answer["query"] + label, *ends, answer["n_reports"]))
        return lines

    def __repr__(self) -> str:
        if not self.answers:
            return "<no question asked yet>"
        rows = [("round", "answer", "95 % interval", "reports", "query")] + [
            (str(round_), _shown(value), f"{_shown(low)} to {_shown(high)}", f"{n:,}", query)
            for round_, query, value, low, high, n in self._lines()
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join(
            "  ".join([*(cell.rjust(width) for cell, width in zip(row[:4], widths, strict=True)), row[4]])
            for row in rows
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("round", "query", "answer", "95 % interval", "reports"))
        body = "".join(
            f"<tr><td>{round_}</td><td><code>{html.escape(query)}</code></td><td>{_shown(value)}</td>"
            f"<td>{_shown(low)} to {_shown(high)}</td><td>{n:,}</td></tr>"
            for round_, query, value, low, high, n in self._lines()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:.4f}"
