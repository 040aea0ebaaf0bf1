"""The demo's third part: adaptive questions, each chosen after the earlier answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.adaptive.answer import RoundInterval, seat_of
from sottovoce.adaptive.session import Session
from sottovoce.adaptive.state import FinishedRound
from sottovoce.estimates.intervals import Interval
from sottovoce.lab.fleet.people import true_answers
from sottovoce.surveys.panel import Panel

__all__ = ["ROUNDS", "AskedQuestion", "ask_in_turn", "reports_to_close", "state_adaptive", "true_records"]

Floats = NDArray[np.float64]

ROUNDS: Final = 4
EPSILON: Final = 1.0
AGES: Final = range(16, 96)
PLAYS: Final = ("daily", "weekly", "sometimes", "never")
COUNTRIES: Final = ("Austria", "France", "Italy", "Poland", "Spain", "Sweden")

_LIVING: Final = (0.08, 0.2, 0.31, 0.17, 0.15, 0.09)
_PLAYING: Final = (
    (0.12, 0.18, 0.2, 0.5),
    (0.08, 0.15, 0.22, 0.55),
    (0.15, 0.22, 0.23, 0.4),
    (0.06, 0.12, 0.22, 0.6),
    (0.1, 0.17, 0.23, 0.5),
    (0.11, 0.2, 0.24, 0.45),
)
"""How often people play, by country; the young somewhat more."""


@dataclass(frozen=True)
class AskedQuestion:
    """One adaptive question and its answer; the interval holds simultaneously with all others."""

    round: int
    words: str
    query: str
    reports: int
    truth: float
    value: float
    low: float
    high: float

    @property
    def hit(self) -> bool:
        """Whether the interval contains the truth."""
        return self.low <= self.truth <= self.high

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "hit": self.hit}


def state_adaptive() -> Panel:
    """Up to four questions about records of age, country and playing."""
    domain = {"age": AGES, "country": list(COUNTRIES), "plays": list(PLAYS)}
    return Panel(domain, rounds=ROUNDS, epsilon=EPSILON, title="Music, one question after another")


def true_records() -> Floats:
    """An invented population: shares of all records, in the domain's order."""
    age = np.arange(len(AGES)) / len(AGES)
    ages = np.exp(-(((age - 0.35) / 0.4) ** 2))
    table = (ages / ages.sum())[:, None, None] * np.array(_LIVING)[:, None] * np.array(_PLAYING)
    tilted = table * (1 + 0.6 * np.outer(0.5 - age, (1, 0.5, 0, -0.6))[:, None, :])
    return np.asarray(tilted / tilted.sum()).ravel()


def reports_to_close(people: int) -> int:
    """Reports after which a round is closed: six standard deviations below the expected number.

    Examples
    --------
    >>> reports_to_close(200_000)
    48838
    """
    share = 1 / ROUNDS
    return int(people * share - 6 * math.sqrt(people * share * (1 - share)))


def ask_in_turn(session: Session, progress: Callable[[int], object] | None = None) -> tuple[AskedQuestion, ...]:
    """Four questions: country, music in the largest country and everywhere, then one that depends on these."""
    where = f"find(country, ({', '.join(repr(name) for name in COUNTRIES)}))"
    lives = session.choose(where, COUNTRIES, progress=progress)
    top = lives.top(1)[0].label
    country = COUNTRIES.index(top)
    share = float(lives.require_estimate().values[country])
    here, anywhere = f"country == '{top}' and plays != 'never'", "plays != 'never'"
    playing = session.ask(here, progress=progress).value
    everybody = session.ask(anywhere, progress=progress).value
    more = playing > everybody * share
    last = f"country == '{top}' and plays == 'daily'" if more else "age < 30 and plays != 'never'"
    further = session.ask(last, progress=progress).value
    described = (
        (f"Where do you live? Most live in {top}.", country, share),
        (f"Do you live in {top} and make music?", 0, playing),
        ("And wherever you live: do you make music?", 0, everybody),
        (
            f"More in {top}, so: do you live there and play daily?" if more else "Are you under 30, and make music?",
            0,
            further,
        ),
    )
    rounds = zip(described, session.state.past, session.intervals(), strict=True)
    return tuple(_read(words, past, index, value, ends) for (words, index, value), past, ends in rounds)


def _read(
    words: str, past: FinishedRound, index: int, value: float, ends: RoundInterval | Interval | None
) -> AskedQuestion:
    """One round's question, answer and truth."""
    low, high = (0.0, 1.0) if ends is None else (float(np.ravel(end)[index]) for end in ends)
    seat, truth = seat_of(past.asked), true_answers(past.asked, true_records())
    return AskedQuestion(
        seat.round, words, seat.query.text, past.aggregate.n_reports, float(truth[index]), value, low, high
    )
