"""The people who answer a session's rounds: simulated here, real devices with a collector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.adaptive.answer import seat_of
from sottovoce.core.errors import SessionError
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.simulation import Seed, check_seed
from sottovoce.surveys.survey import Survey

__all__ = ["Crowd", "SimulatedCrowd"]

_ASSIGNMENT, _REPORTS = 0, 1
"""Spawn keys of a session's seed: the assignment of people to rounds, and the reports of a round."""


class Crowd(Protocol):
    """People who answer one round each."""

    @property
    def people(self) -> int:
        """The number of people."""

    def answer(
        self, asked: Survey, progress: Callable[[int], object] | None = None, labels: Sequence[str] = ()
    ) -> Aggregate:
        """The reports of everybody in this round; a repeated call returns the same reports.

        `labels` are the analyst's names of the choices, for a crowd that stores the history.
        """

    def state(self) -> dict[str, Any]:
        """The state, besides the people themselves, from which the crowd can continue."""


@final
@dataclass(frozen=True, repr=False)
class SimulatedCrowd:
    """Simulated people, each assigned to one round uniformly and independently, by the seed.

    People are sorted by round; those of round j are columns[..][ends[j-1] : ends[j]].
    """

    columns: dict[str, NDArray[np.int64]]
    seed: int
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, panel: Panel, values: Any, seed: Seed, kept: dict[str, Any] | None) -> Self:
        """People with these records; `kept` is the state of an earlier crowd to continue from."""
        columns = panel.domain.columns(values)
        n = len(next(iter(columns.values())))
        if kept is not None:
            if set(kept) != {"people", "seed"} or kept["seed"] < 0:
                raise SessionError("the session's crowd is malformed; the file is damaged")
            if kept["people"] != n:
                raise SessionError(
                    "the session was started with another number of people; give the same values again"
                ).at("values")
            if seed is not None and seed != kept["seed"]:
                raise SessionError(
                    "the session was started with another seed; leave out the seed to continue with its own"
                ).at("seed")
            seed = kept["seed"]
        fixed = check_seed(np.random.SeedSequence().entropy if seed is None else seed)
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(fixed, spawn_key=(_ASSIGNMENT,))))
        # Two bytes per person: a stable sort of such small integers takes linear time.
        rounds = rng.integers(panel.rounds, size=n, dtype=np.uint16)
        sizes = np.bincount(rounds, minlength=panel.rounds)
        order = np.argsort(rounds, kind="stable")
        by_round = {name: column[order] for name, column in columns.items()}
        return cls(by_round, fixed, np.concatenate(([0], np.cumsum(sizes))))

    @property
    def people(self) -> int:
        return int(self.ends[-1])

    def state(self) -> dict[str, Any]:
        """Number of people and seed. With the records, they reproduce the simulation exactly, including the noise."""
        return {"people": self.people, "seed": self.seed}

    def answer(
        self, asked: Survey, progress: Callable[[int], object] | None = None, labels: Sequence[str] = ()
    ) -> Aggregate:
        """Reports of the round's people, drawn from (seed, round), so a repeated call returns the same reports."""
        number = seat_of(asked).round
        chosen = slice(self.ends[number - 1], self.ends[number])
        drawn = np.random.SeedSequence(self.seed, spawn_key=(_REPORTS, number)).generate_state(4)
        seed = int.from_bytes(drawn.tobytes(), "little")
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return asked.simulate_columns(columns, seed, progress)

    def __repr__(self) -> str:
        return f"<{self.people:,} simulated people>"
