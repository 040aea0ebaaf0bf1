"""Runs of a device at its own size: every value, every outcome of every draw, edges and random ones, as time allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.subject import Subject, failure
from sottovoce.domain.trials import Trial, edge_values
from sottovoce.mechanisms.reference import MOST_SWEPT, ChannelReference, Draws
from sottovoce.randomness import ONE, Source
from sottovoce.randomness.scripts import ScriptedSource, random_below, unpredictable

__all__ = ["LEAST_RUNS", "TURNS", "DeviceRuns", "Runs", "WrongRun", "run_device"]

LEAST_RUNS: Final = 20_000
"""Random runs that are made however few values there are, where nobody says for how long."""

PASSES: Final = 8
"""How often every value is run, if a third of the time suffices for it."""

_REPEATED: Final = 32
"""Pairs of values that are run in turn."""

TURNS: Final = ((0, 0), (0, 1), (1, 1), (0, 1), (1, 0), (1, 0), (0, 0))
"""Runs of two values with two lists of draws: each of them again at once, after the other, and with its draws."""

_CHUNK_NUMBERS: Final = 2**17
_CHUNK_RUNS: Final = 2**12

Values = NDArray[np.int64]


@dataclass(frozen=True)
class WrongRun:
    """A run that went otherwise than stated: the mechanism's input, if there was one, and what happened."""

    value: int | None
    words: str


@dataclass
class Runs:
    """What was run, and the first run that went wrong."""

    independent: int = 0
    """Runs with draws at random: what the size of a fault that would be seen follows from.

    For a survey, those through all of it alone.
    """
    values: int = 0
    """The mechanism's inputs that were run."""
    passes: int = 0
    """How often every input was run, the coin up and down in turn."""
    outcomes: bool = False
    """Whether every outcome of every integer drawn was taken."""
    held: int = 0
    """People's values that were run through all of the survey."""
    held_passes: int = 0
    """How often every such value was, the coin up and down in turn."""
    wrong: WrongRun | None = None
    check: str = ""
    """The last stage that was begun."""


def run_device(subject: Subject, reference: ChannelReference, budget: Budget) -> Runs:
    """Run the device until everything was run, something went wrong, or the time is over."""
    device = DeviceRuns(subject, reference, budget)
    device.first()
    device.rest()
    return device.runs


class DeviceRuns:
    """Runs of one device, in stages; every stage yields, after each batch of runs, whether all went right."""

    def __init__(self, subject: Subject, reference: ChannelReference, budget: Budget) -> None:
        self.subject, self.reference, self.budget = subject, reference, budget
        self.runs, self.rng = Runs(), unpredictable()
        self._held: tuple[Values, Values] | None = None
        """Numbers of people's values in the order of the last pass, and how their coins fell."""

    def first(self) -> Runs:
        """The runs that take little time and reach everything once."""
        held = {} if self.subject.survey is None else {"edges through the survey": self.some_held}
        return self._run_stages({"edges": self.edges, **held, "repeats": self.repeats})

    def rest(self) -> Runs:
        """All other runs, for as long as there is time, which begins now."""
        self.budget = self.budget.part()
        if self.subject.survey is None:
            again, more = self.every_value_again, self.more
            return self._run_stages(
                {
                    "every value": self.every_value,
                    "every outcome": self.every_outcome,
                    "every value again": again,
                    "random runs": more,
                }
            )
        return self._run_stages(
            {
                "every value": self.every_value,
                "every value through the survey": self.every_held,
                "every outcome": self.every_outcome,
                "every value again": self.every_held_again,
                "random runs": self.more_held,
            }
        )

    def _run_stages(self, stages: Mapping[str, Callable[[], Iterator[bool]]]) -> Runs:
        for name, stage in stages.items():
            if self.runs.wrong is not None:
                break
            for right in stage():
                if not right or not self.budget.left:
                    break
            self.runs.check = name
        return self.runs

    @property
    def _chunk(self) -> int:
        return max(1, min(_CHUNK_RUNS, _CHUNK_NUMBERS // len(self.reference.requests(0))))

    def edges(self) -> Iterator[bool]:
        """The first and the last outcome of every draw, and random ones, at values where faults are likely."""
        values = np.array(edge_values(self.reference.values, self.reference.block))
        for part in self._parts(values):
            for side in (0, 1):
                for outcome in ("first", "last", "random"):
                    yield self._run(part, self._drawn(part, np.full(len(part), side), outcome))

    def repeats(self) -> Iterator[bool]:
        """Two values in turn, each also twice at once, with two lists of draws in turn: what a device may remember."""
        size = self.subject.size or 0
        for _ in range(_REPEATED):
            values = self.rng.integers(0, self.reference.values, size=2)
            draws = self._drawn(values, np.array([0, 1]), "random")
            at, drawn = np.array(TURNS).T
            yield self._run(values[at], draws[drawn])
            if self.subject.survey is not None:
                pair = [self.subject.trials.numbered(random_below(size, self.rng)) for _ in range(2)]
                held = [pair[index] for index in at]
                inputs = self._inputs(held)
                yield inputs is not None and self._send(held, inputs, draws[drawn])

    def every_value(self) -> Iterator[bool]:
        """Every value, in random order, once with the coin as it falls and then with the coin turned.

        For a survey, half of the time is left for runs through all of it.
        """
        size, alone = self.reference.values, self.subject.survey is None
        few = size <= MOST_SWEPT
        order = self.rng.permutation(size) if few else self.rng.integers(0, size, size=MOST_SWEPT // 2)
        falls = self.rng.integers(0, 2, size=len(order))
        for sides in (falls, 1 - falls):
            for part, side in zip(self._parts(order), self._parts(sides), strict=True):
                right = self._run(part, self._drawn(part, side, "random"))
                self.runs.independent += len(part) if alone else 0
                self.runs.values = min(len(order), self.runs.values + len(part))
                yield right
                if not alone and self.budget.used > 1 / 2:
                    return
            self.runs.passes += few

    def every_value_again(self) -> Iterator[bool]:
        """Run every value again, until each was run `PASSES` times or a third of the time is over."""
        while 0 < self.runs.passes < PASSES:
            for right in self.every_value():
                yield right
                if self.budget.used > 1 / 3:
                    return

    def every_outcome(self) -> Iterator[bool]:
        """Every outcome of every integer drawn, with the coin down and up, for random values."""
        if self.reference.cells > MOST_SWEPT:
            return
        for numbers in self._parts(self.rng.permutation(self.reference.cells)):
            values, draws = self.reference.sweep(numbers, self.rng)
            for side in (0, 1):
                yield self._run(values, self._with_coins(draws, values, np.full(len(values), side)))
        self.runs.outcomes = True

    def more(self) -> Iterator[bool]:
        """Random runs for as long as they are paid for."""
        while self.budget.wants(self.runs.independent):
            values = self.rng.integers(0, self.reference.values, size=self._chunk)
            right = self._run(values, self._drawn(values, self.rng.integers(0, 2, size=len(values)), "random"))
            self.runs.independent += len(values)
            yield right

    def some_held(self) -> Iterator[bool]:
        """People's values at which faults are likely, and some at random, through all that a survey runs."""
        edges = list(self.subject.trials.edges())
        for at in range(0, len(edges), self._chunk):
            for side in (0, 1):
                yield self._run_held(edges[at : at + self._chunk], side)
        drawn = self.rng.integers(0, self.subject.size or 0, size=2 * self._chunk)
        for part in self._parts(drawn):
            yield self._run_numbers(part, self.rng.integers(0, 2, size=len(part)))

    def every_held(self) -> Iterator[bool]:
        """Every value that a person may have, or many at random, through all that a survey runs.

        Every other pass is that before it with the coins turned.
        """
        size = self.subject.size or 0
        few = size <= MOST_SWEPT
        if self._held is None:
            order = self.rng.permutation(size) if few else self.rng.integers(0, size, size=MOST_SWEPT // 8)
            falls = self.rng.integers(0, 2, size=len(order))
            self._held = order, 1 - falls
        else:
            (order, falls), self._held = self._held, None
        for part, sides in zip(self._parts(order), self._parts(falls), strict=True):
            right = self._run_numbers(part, sides)
            self.runs.independent += len(part)
            self.runs.held = min(size, self.runs.held + len(part))
            yield right
        self.runs.held_passes += few

    def every_held_again(self) -> Iterator[bool]:
        """Run every value through the survey, until each was run `PASSES` times or a third of the time is over."""
        while 0 < self.runs.held_passes < PASSES:
            for right in self.every_held():
                yield right
                if self.budget.used > 1 / 3:
                    return

    def more_held(self) -> Iterator[bool]:
        """Random runs through the survey for as long as they are paid for."""
        while self.budget.wants(self.runs.independent):
            numbers = self.rng.integers(0, self.subject.size or 0, size=self._chunk)
            right = self._run_numbers(numbers, self.rng.integers(0, 2, size=len(numbers)))
            self.runs.independent += len(numbers)
            yield right

    def _parts(self, numbers: Values) -> Iterator[Values]:
        return (numbers[at : at + self._chunk] for at in range(0, len(numbers), self._chunk))

    def _drawn(self, values: Values, sides: Values, outcome: str) -> Draws:
        bounds = np.maximum(1, [request if request > 0 else 1 for request in self.reference.requests(0)])
        shape = len(values), len(bounds)
        if outcome == "random":
            draws = self.rng.integers(0, bounds, size=shape)
        else:
            draws = np.broadcast_to(bounds - 1 if outcome == "last" else 0 * bounds, shape).copy()
        return self._with_coins(draws, values, sides, by_law=outcome == "random")

    def _with_coins(self, draws: Draws, values: Values, sides: Values, *, by_law: bool = False) -> Draws:
        """The coin as `sides` say; many coins fall by their law for side 0, and the other way for side 1."""
        coins = np.array([request <= 0 for request in self.reference.requests(0)])
        if by_law and np.count_nonzero(coins) > 1:
            chances = np.array([self.reference.requests(value) for value in values.tolist()], dtype=np.float64) / -ONE
            draws[:, coins] = (self.rng.random(draws.shape) < chances)[:, coins] ^ sides.astype(np.bool_)[:, None]
        else:
            draws[:, coins] = sides[:, None]
        return draws

    def _run(self, values: Values, draws: Draws) -> bool:
        return self._compare(self.subject.randomize, values.tolist(), values, draws)

    def _run_numbers(self, numbers: Values, sides: Values) -> bool:
        return self._run_held([self.subject.trials.numbered(number) for number in numbers.tolist()], sides)

    def _run_held(self, trials: Sequence[Trial], sides: Values | int) -> bool:
        """People's values through the survey, with random draws whose coins fall to these sides."""
        values = self._inputs(trials)
        return values is not None and self._send(
            trials, values, self._drawn(values, np.broadcast_to(sides, len(values)), "random")
        )

    def _send(self, trials: Sequence[Trial], values: Values, draws: Draws) -> bool:
        return self._compare(self.subject.send, [trial.value for trial in trials], values, draws)

    def _inputs(self, trials: Sequence[Trial]) -> Values | None:
        """The mechanism's inputs for these values; None if one of them has none, which is a fault."""
        inputs: list[int] = []
        for trial in trials:
            try:
                inputs.append(int(self.subject.input(trial.value)))
            except Exception as error:
                self.runs.wrong = WrongRun(None, f"{trial.name} is refused: {type(error).__name__}: {error}")
                return None
            if not 0 <= inputs[-1] < self.reference.values:
                self.runs.wrong = WrongRun(None, f"{trial.name} becomes an input outside the domain")
                return None
        return np.array(inputs, dtype=np.int64)

    def _compare(self, run: Callable[[Any, Source], bytes], held: Sequence[Any], values: Values, draws: Draws) -> bool:
        asked, sent, played = [], [], draws.tolist()
        for value, outcomes in zip(held, played, strict=True):
            source = ScriptedSource(outcomes)
            try:
                sent.append(run(value, source))
            except Exception as error:
                value = int(values[len(sent)])
                words = f"value {value}: with the draws {_shown(outcomes)} {failure(error)}"
                self.runs.wrong = WrongRun(value, words)
                return False
            asked.append(source.asked)
        self.budget.spend(len(sent))
        wrong = self.reference.first_wrong(values, draws, asked, sent)
        if wrong is None:
            return True
        index, words = wrong
        value = int(values[index])
        self.runs.wrong = WrongRun(value, f"value {value}: with the draws {_shown(played[index])} the device {words}")
        return False


def _shown(outcomes: list[int]) -> str:
    more = ", .." if len(outcomes) > 8 else ""
    return f"[{', '.join(map(str, outcomes[:8]))}{more}]"
