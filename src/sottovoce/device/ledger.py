"""The ledger of a device: what it has answered and the epsilon it has spent."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self, final

from sottovoce.core.signing import fingerprint
from sottovoce.core.text import one_line
from sottovoce.core.words import plural
from sottovoce.device.allowance import left, recent, total
from sottovoce.device.store import LogConflict, RecordedAnswer

__all__ = ["Entry", "Ledger", "Renewal"]

STATE_WORDS: Final = {"unsent": "not sent yet", "sent": "sent", "refused": "refused by the collector"}

_UNKNOWN: Final = "unknown"
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
    window: int
    renews: bool
    """Whether the survey asks again in later windows, and charges for each."""
    period: str
    """The period that was answered."""

    @property
    def name(self) -> str:
        """Title and period."""
        return f"{self.title}, {self.period}" if self.period else self.title

    @classmethod
    def of(cls, answer: RecordedAnswer) -> Self:
        """The entry of an answer, without the report and its id."""
        title = one_line(answer.title) or _UNTITLED
        period = one_line(answer.period)
        words = STATE_WORDS[answer.state] + (" to a relay" if answer.relay and answer.state == "sent" else "")
        collector = one_line(answer.collector)
        day = answer.day or _UNKNOWN
        cost = answer.epsilon, answer.delta
        return cls(day, collector, title, *cost, words, answer.question, answer.window, answer.renews, period)


@final
@dataclass(frozen=True)
class Renewal:
    """What a survey that renews has cost so far: in each window, and in all."""

    survey: str
    title: str
    windows: int
    """Windows answered."""
    per_window: float
    spent: float

    def __str__(self) -> str:
        shown = one_line(self.title, _WIDEST)
        answered = plural(self.windows, "window")
        return f"{shown} renews: epsilon {self.per_window:.4g} in each window, and so {self.spent:.4g} in {answered}"


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
    no answers; epsilon 8 of 8 left for life, 8 of 8 in any 91 days
    """

    entries: tuple[Entry, ...]
    budget: float
    delta_budget: float
    max_answers: int
    window_budget: float
    window_days: int
    today: str
    conflicts: tuple[LogConflict, ...] = ()
    """Evidence that collectors have shown this device two logs of their surveys."""

    @property
    def window_spent(self) -> float:
        """Sum of the epsilons of the last `window_days` days; answers of unknown or future days count."""
        return float(total(self._recent()))

    @property
    def window_left(self) -> float:
        """What may be spent today, as far as the last `window_days` days are concerned."""
        return left(self.window_budget, self._recent())

    @property
    def renewals(self) -> tuple[Renewal, ...]:
        """The cost of each survey that renews, in each window and in all."""
        by_survey: dict[str, list[Entry]] = {}
        for entry in self.entries:
            if entry.renews:
                by_survey.setdefault(entry.survey, []).append(entry)
        return tuple(
            Renewal(
                survey,
                answers[0].title,
                len(answers),
                max(answer.epsilon for answer in answers),
                float(total(answer.epsilon for answer in answers)),
            )
            for survey, answers in by_survey.items()
        )

    def _recent(self) -> list[float]:
        return recent(((entry.day, entry.epsilon) for entry in self.entries), self.today, self.window_days)

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
        evidence = [_words(conflict) for conflict in self.conflicts]
        if not self.entries:
            return "\n".join([*evidence, f"no answers; {self._summary()}"])
        rows = [_HEAD, *(_cells(entry) for entry in self.entries)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        renewals = [str(renewal) for renewal in self.renewals]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], "", *renewals, *evidence, self._summary()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        rows = (
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(entry)) + "</tr>"
            for entry in self.entries
        )
        lines = (*map(str, self.renewals), *map(_words, self.conflicts), self._summary())
        below = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{below}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the entries, and what is spent and left."""
        return {
            "entries": [vars(entry) for entry in self.entries],
            "epsilon": {"spent": self.spent, "left": self.left, "budget": self.budget},
            "window": {
                "days": self.window_days,
                "spent": self.window_spent,
                "left": self.window_left,
                "budget": self.window_budget,
            },
            "conflicts": [
                {**vars(conflict), "key": fingerprint(conflict.key), "collector": one_line(conflict.collector)}
                for conflict in self.conflicts
            ],
            "renewals": [vars(renewal) for renewal in self.renewals],
            "delta": {"spent": self.delta_spent, "left": self.delta_left, "budget": self.delta_budget},
            "answers": {"given": len(self), "left": self.answers_left, "limit": self.max_answers},
        }

    def to_json(self) -> str:
        """The ledger as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _summary(self) -> str:
        text = (
            f"epsilon {self.left:.4g} of {self.budget:.4g} left for life, {self.window_left:.4g} of "
            f"{self.window_budget:.4g} in any {plural(self.window_days, 'day')}"
        )
        if self.delta_spent:
            text += f", delta {self.delta_left:.3g} of {self.delta_budget:.3g}"
        return text if self.answers_left else f"{text}, no more answers of at most {self.max_answers:,}"


def _words(conflict: LogConflict) -> str:
    shown = one_line(conflict.collector, _WIDEST)
    return f"{shown} showed two logs of its surveys on {conflict.day or _UNKNOWN}; --json shows both as evidence"


_HEAD: Final = ("date", "collector", "title", "epsilon", "delta", "state")


def _cells(entry: Entry) -> tuple[str, ...]:
    shown = one_line(entry.collector, _WIDEST), one_line(entry.name, _WIDEST)
    return entry.day, *shown, f"{entry.epsilon:.4g}", f"{entry.delta:.3g}", entry.state
