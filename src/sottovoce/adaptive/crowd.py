"""Who answers a session's rounds: here simulated people; against a collector, real devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.adaptive.rounds import seat_of
from sottovoce.errors import SessionError
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.simulation import Seed, check_seed
from sottovoce.surveys.survey import Survey

__all__ = ["Crowd", "SimulatedCrowd"]

_ASSIGNMENT, _REPORTS = 0, 1
"""What a session's seed is spawned for: who is in which round, and what a round's people draw."""


class Crowd(Protocol):
    """People who answer rounds, each of them one."""

    @property
    def users(self) -> int:
        """How many people there are."""

    def answer(
        self, asked: Survey, progress: Callable[[int], object] | None = None, labels: Sequence[str] = ()
    ) -> Aggregate:
        """The reports of everybody whose round this is; the same again if asked the same again.

        `labels` are what the analyst calls the choices, for a crowd that keeps the history.
        """

    def state(self) -> dict[str, Any]:
        """What must be kept, besides the people themselves, for the crowd to go on answering as it would have."""


@final
@dataclass(frozen=True, repr=False)
class SimulatedCrowd:
    """Simulated people: everybody in one round, drawn uniformly and independently, once, from the seed.

    People stand in the order of their rounds; those of round j are columns[..][ends[j-1] : ends[j]].
    """

    columns: dict[str, NDArray[np.int64]]
    seed: int
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, panel: Panel, values: Any, seed: Seed, kept: dict[str, Any] | None) -> Self:
        """People with these records; `kept` is an earlier crowd's state, from which this one goes on."""
        columns = panel.domain.columns(values)
        n = len(next(iter(columns.values())))
        if kept is not None:
            if set(kept) != {"users", "seed"} or kept["seed"] < 0:
                raise SessionError("the session's people are not described as they must be; the file is damaged")
            if kept["users"] != n:
                raise SessionError("the session was begun with another number of people; give the same values again")
            if seed is not None and seed != kept["seed"]:
                raise SessionError("the session was begun with another seed; leave the seed out to go on with its own")
            seed = kept["seed"]
        fixed = check_seed(np.random.SeedSequence().entropy if seed is None else seed)
        rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(fixed, spawn_key=(_ASSIGNMENT,))))
        # Two bytes a person: a stable sort of so small integers takes time linear in their number.
        rounds = rng.integers(panel.rounds, size=n, dtype=np.uint16)
        sizes = np.bincount(rounds, minlength=panel.rounds)
        order = np.argsort(rounds, kind="stable")
        by_round = {name: column[order] for name, column in columns.items()}
        return cls(by_round, fixed, np.concatenate(([0], np.cumsum(sizes))))

    @property
    def users(self) -> int:
        """How many people there are."""
        return int(self.ends[-1])

    def state(self) -> dict[str, Any]:
        """Number and seed. Who has it and the people's records can repeat the simulation, noise and all."""
        return {"users": self.users, "seed": self.seed}

    def answer(
        self, asked: Survey, progress: Callable[[int], object] | None = None, labels: Sequence[str] = ()
    ) -> Aggregate:
        """Reports of the round's people. They draw from (seed, round), so asking the same again changes nothing."""
        number = seat_of(asked).round
        chosen = slice(self.ends[number - 1], self.ends[number])
        drawn = np.random.SeedSequence(self.seed, spawn_key=(_REPORTS, number)).generate_state(4)
        seed = int.from_bytes(drawn.tobytes(), "little")
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return asked.simulate_columns(columns, seed, progress)

    def __repr__(self) -> str:
        return f"<{self.users:,} simulated people>"
