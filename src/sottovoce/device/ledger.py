"""The ledger of a device: what it has answered and the epsilon it has spent."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self, final

from sottovoce.core.words import plural
from sottovoce.device.store import RecordedAnswer
from sottovoce.device.text import one_line

__all__ = ["Entry", "Ledger", "exact", "left", "total"]

STATE_WORDS: Final = {"unsent": "not sent yet", "sent": "sent", "refused": "refused by the collector"}

_UNTITLED: Final = "(no title)"
_WIDEST: Final = 48


@final
@dataclass(frozen=True)
class Entry:
    """One answer; title and address are untrusted text, without control characters."""

    day: str
    collector: str
    title: str
    epsilon: float
    delta: float
    state: str
    survey: str

    @classmethod
    def of(cls, answer: RecordedAnswer) -> Self:
        """The entry of an answer, without the report and its id."""
        title = one_line(answer.title) or _UNTITLED
        words = STATE_WORDS[answer.state]
        collector = one_line(answer.collector)
        return cls(answer.day or "unknown", collector, title, answer.epsilon, answer.delta, words, answer.question)


@final
@dataclass(frozen=True, repr=False)
class Ledger:
    """All answers of a device, oldest first, and the budget left. Every drawn report counts, whether it arrived or not.

    Epsilons and deltas add up (basic composition), which also holds for adaptively chosen surveys: Rogers,
    Roth, Ullman and Vadhan, Privacy Odometers and Filters (2016), Sec. 3.

    Examples
    --------
    >>> from sottovoce.device import Device, MemoryStore
    >>> print(Device(MemoryStore()).ledger)
    no answers; epsilon 8 of 8 left
    """

    entries: tuple[Entry, ...]
    budget: float
    delta_budget: float
    max_answers: int

    @property
    def answers_left(self) -> int:
        """How many more surveys may be answered."""
        return max(0, self.max_answers - len(self))

    @property
    def spent(self) -> float:
        """Sum of all epsilons."""
        return float(total(entry.epsilon for entry in self.entries))

    @property
    def left(self) -> float:
        """The budget that is left."""
        return left(self.budget, (entry.epsilon for entry in self.entries))

    @property
    def delta_spent(self) -> float:
        """Sum of all deltas."""
        return float(total(entry.delta for entry in self.entries))

    @property
    def delta_left(self) -> float:
        """The budget that is left."""
        return left(self.delta_budget, (entry.delta for entry in self.entries))

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __repr__(self) -> str:
        return f"<ledger of {plural(len(self), 'answer')}: {self._summary()}>"

    def __str__(self) -> str:
        if not self.entries:
            return f"no answers; {self._summary()}"
        rows = [_HEAD, *(_cells(entry) for entry in self.entries)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], "", self._summary()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        rows = (
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(entry)) + "</tr>"
            for entry in self.entries
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table><p>{self._summary()}</p>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the entries, and what is spent and left."""
        return {
            "entries": [vars(entry) for entry in self.entries],
            "epsilon": {"spent": self.spent, "left": self.left, "budget": self.budget},
            "delta": {"spent": self.delta_spent, "left": self.delta_left, "budget": self.delta_budget},
            "answers": {"given": len(self), "left": self.answers_left, "limit": self.max_answers},
        }

    def to_json(self) -> str:
        """The ledger as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _summary(self) -> str:
        text = f"epsilon {self.left:.4g} of {self.budget:.4g} left"
        if self.delta_spent:
            text += f", delta {self.delta_left:.3g} of {self.delta_budget:.3g}"
        return text if self.answers_left else f"{text}, no more answers of at most {self.max_answers:,}"


_HEAD: Final = ("date", "collector", "title", "epsilon", "delta", "state")


def _cells(entry: Entry) -> tuple[str, ...]:
    shown = one_line(entry.collector, _WIDEST), one_line(entry.title, _WIDEST)
    return entry.day, *shown, f"{entry.epsilon:.4g}", f"{entry.delta:.3g}", entry.state


def total(amounts: Iterable[float]) -> Fraction:
    """The exact sum of decimal numbers: three times 0.1 is 0.3.

    Examples
    --------
    >>> total([0.1] * 3) == exact(0.3), 0.1 + 0.1 + 0.1 == 0.3
    (True, False)
    """
    return sum((exact(amount) for amount in amounts), Fraction(0))


def exact(amount: float) -> Fraction:
    """The shortest decimal of a number, as it is in a survey's JSON."""
    return Fraction(repr(float(amount)))


def left(budget: float, amounts: Iterable[float]) -> float:
    """The part of a budget that is left after these amounts."""
    return max(0.0, float(exact(budget) - total(amounts)))
