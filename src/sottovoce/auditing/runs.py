"""Runs of a device at its own size: every value, every outcome of every draw, edges and random ones, as time allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.subject import Subject, failure
from sottovoce.domain.trials import edge_values
from sottovoce.mechanisms.reference import ChannelReference, Draws
from sottovoce.randomness import ONE, Source
from sottovoce.randomness.scripts import ScriptedSource, unpredictable

__all__ = ["LEAST_RUNS", "MOST_SWEPT", "Runs", "WrongRun", "run_device"]

LEAST_RUNS: Final = 20_000
"""Random runs that are made however few values there are."""

PASSES: Final = 8
"""How often every value is run, if a third of the time suffices for it."""

MOST_SWEPT: Final = 2**22
"""Values or outcomes up to which all are run; of more, half as many are drawn at random."""

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


def run_device(subject: Subject, reference: ChannelReference, budget: Budget) -> Runs:
    """Run the device until everything was run, something went wrong, or the time is over."""
    runs, rng = Runs(), unpredictable()
    device = _Device(subject, reference, budget, runs, rng)
    stages: list[Callable[[], Iterator[bool]]] = [device.edges, device.every_value, device.every_outcome]
    stages += [device.every_value_again, device.more]
    if subject.survey is not None:
        stages = [device.edges, device.some_held, device.every_value, device.every_held, device.every_outcome]
        stages += [device.every_held_again, device.more_held]
    for stage in stages:
        for right in stage():
            if not right or not budget.left:
                break
        if runs.wrong is not None:
            break
    return runs


@dataclass
class _Device:
    """One audited device; every stage yields, after each batch of runs, whether all went right."""

    subject: Subject
    reference: ChannelReference
    budget: Budget
    runs: Runs
    rng: np.random.Generator
    _held: tuple[Values, Values] | None = None
    """Numbers of people's values in the order of the last pass, and how their coins fell."""

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
        """Random runs until there are `LEAST_RUNS`."""
        while self.runs.independent < LEAST_RUNS:
            values = self.rng.integers(0, self.reference.values, size=self._chunk)
            right = self._run(values, self._drawn(values, self.rng.integers(0, 2, size=len(values)), "random"))
            self.runs.independent += len(values)
            yield right

    def some_held(self) -> Iterator[bool]:
        """People's values at which faults are likely, and some at random, through all that a survey runs."""
        size = self.subject.size or 0
        numbers = np.array(edge_values(size))
        drawn = self.rng.integers(0, size, size=2 * self._chunk)
        for part in self._parts(np.concatenate([numbers, drawn])):
            yield self._run_held(part, self.rng.integers(0, 2, size=len(part)))

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
            right = self._run_held(part, sides)
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
        """Random runs through the survey until there are `LEAST_RUNS`."""
        while self.runs.independent < LEAST_RUNS:
            numbers = self.rng.integers(0, self.subject.size or 0, size=self._chunk)
            right = self._run_held(numbers, self.rng.integers(0, 2, size=len(numbers)))
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

    def _run_held(self, numbers: Values, sides: Values) -> bool:
        held, inputs = [], []
        for number in numbers.tolist():
            try:
                held.append(self.subject.value(number))
                inputs.append(int(self.subject.input(held[-1])))
            except Exception as error:
                self.runs.wrong = WrongRun(None, f"value number {number} is refused: {type(error).__name__}: {error}")
                return False
        values = np.array(inputs, dtype=np.int64)
        outside = np.flatnonzero((values < 0) | (values >= self.reference.values))
        if len(outside):
            self.runs.wrong = WrongRun(None, f"value number {numbers[outside[0]]} becomes an input outside the domain")
            return False
        draws = self._drawn(values, sides, "random")
        return self._compare(self.subject.send, held, values, draws)

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
