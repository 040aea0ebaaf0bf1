"""Exact sums of epsilons and deltas, and which of them are recent."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from fractions import Fraction

__all__ = ["exact", "left", "recent", "total"]


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


def recent(spent: Iterable[tuple[str, float]], today: str, days: int) -> list[float]:
    """The amounts that count for the `days` days that end today, of (day, amount) in the order of spending.

    A clock may have been wrong. A day in the future or unknown counts, and a day before that of an earlier amount is
    taken as that: a clock that fell back does not make an amount older than it is. Only a clock that runs ahead now, or
    was behind from the first answer on, frees amounts early.

    Examples
    --------
    >>> recent([("2027-01-03", 1.0), ("2027-01-04", 2.0), ("1970-01-01", 3.0), ("", 4.0)], "2027-01-10", 7)
    [2.0, 3.0, 4.0]
    """
    found: list[float] = []
    latest = date.min
    for day, amount in spent:
        try:
            now, then = date.fromisoformat(today), date.fromisoformat(day)
        except ValueError:
            found.append(amount)
            continue
        if then <= now:
            latest = max(latest, then)
        if then > now or (now - latest).days < days:
            found.append(amount)
    return found
