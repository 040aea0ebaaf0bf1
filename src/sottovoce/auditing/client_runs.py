"""What a client is run on: values and tapes, with the reports that the Python device makes of them.

At the deployed size, in an order that ends whenever time is up: values at the edges of machine integers with extreme
draws, every outcome of every draw, what a mechanism's arithmetic depends on, and then all values in random order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from secrets import SystemRandom
from typing import Any, Final, final

import numpy as np

from sottovoce.auditing.numbered_words import EDGE_WORDS, word_value
from sottovoce.auditing.runs import edge_values
from sottovoce.auditing.subject import AuditedSurvey, Subject
from sottovoce.auditing.tape import Coin, Recorder, Replay
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.rounded_channel import RoundedChannel
from sottovoce.mechanisms.sampled import LevelResponse

__all__ = ["RunBatch", "RunPlan"]

_COINS: Final[tuple[Coin, Coin]] = ("up", "down")
_FIRST: Final = 0
_LAST: Final = 1 << 64
"""An outcome beyond every range, taken for its last."""

_LISTED: Final = 2**21
"""Domains up to this size are gone through in a random order of all values."""
_OUTCOMES: Final = 2**16
"""Outcomes of draws that are run one by one, for all draws together."""
_ROUNDS: Final = 4
_SOME: Final = 2**12
"""Random outcomes of a draw that has too many."""
_PRODUCTS: Final = 2**17
"""Products in a field of order q are run one by one if 2 q^2 is not above this."""
_DEPLOYED: Final = 2**11
"""Runs of a client without a source, at most."""
_LARGEST_BATCH: Final = 2**14
_BATCH_SECONDS: Final = 0.4


@final
@dataclass(frozen=True)
class RunBatch:
    """Some runs: the values, by number and as a person has them, tapes used in turn, and Python's reports."""

    numbers: list[int]
    values: list[Any]
    tapes: list[str]
    reports: list[str]
    deployed: bool = False
    """Whether the client is called as an application calls it: without a source, the platform's being the tapes."""


@final
class RunPlan:
    """The runs for a survey. Iterate over `batches`; then `values` and `draws` say how far they went.

    Parameters
    ----------
    seconds
        Processor time after which it ends, unless every value was run before.
    """

    def __init__(self, survey: AuditedSurvey, seconds: float) -> None:
        self._survey, self._mechanism, self._rng = survey, survey.mechanism, SystemRandom()
        subject = Subject(survey.mechanism, survey)
        self.size = subject.size
        self._value: Callable[[int], Any] = subject.value
        if self.size is None:
            code = getattr(survey.question, "code", None)
            self._value = self._vector if code is None else partial(word_value, code)
        self._seconds, self._ends = seconds, time.process_time() + seconds
        self.values: set[int] = set()
        """Numbers of the values that were run with each coin up and down."""
        self._drawn: dict[int, set[int]] = {}
        """For every draw, by its place, which outcomes were run with coins up and down."""

    @property
    def draws(self) -> list[tuple[int, int]]:
        """For every integer draw, how many of its outcomes were run one by one, and out of how many."""
        return [(len(self._drawn.get(place, ())), n) for place, n in enumerate(self._asked()) if n > 1]

    def batches(self) -> Iterator[RunBatch]:
        """All runs, until time is up."""
        yield self._deployed()
        yield from self._single(self._edges())
        self._ends -= self._seconds / 2
        yield from self._single(self._arithmetic())
        yield from self._single(self._outcomes())
        self._ends += self._seconds / 2
        yield from self._everybody()

    # --- runs with a tape each --------------------------------------------------------------

    def _single(self, cases: Iterable[tuple[int, Coin, dict[int, int]]]) -> Iterator[RunBatch]:
        """Runs of a value's number, how coins fall, and outcomes that are wished for."""
        waiting, size = iter(cases), 16
        while self._in_time() and (batch := list(islice(waiting, size))):
            started = time.process_time()
            runs = RunBatch([], [], [], [])
            for case in batch:
                self._add(runs, *case)
            yield runs
            size = _next_size(size, time.process_time() - started)

    def _add(self, runs: RunBatch, number: int, coin: Coin, wished: dict[int, int]) -> None:
        value, source = self._value(number), Recorder(self._rng, coin, wished)
        runs.numbers.append(number)
        runs.values.append(value)
        runs.reports.append(self._report(self._survey.private_input(value), source))
        runs.tapes.append(source.tape)

    def _deployed(self) -> RunBatch:
        """Runs without a source: of few values each with coins up and down, of others those at edges and random ones.

        In one batch, since the platform's bytes are read in blocks, which what comes later cannot change.
        """
        runs, few = RunBatch([], [], [], [], deployed=True), self.size is not None and self.size <= _DEPLOYED // 2
        numbers = list(range(self.size or 0)) if few else self._edge_numbers()
        self._rng.shuffle(numbers)
        numbers += [self._any_number() for _ in range(_DEPLOYED // 2 - len(numbers))]
        ends = time.process_time() + self._seconds / 8
        for number in numbers:
            for coin in _COINS:
                self._add(runs, number, coin, {})
            if time.process_time() > ends:
                break
        return runs

    def _edges(self) -> Iterator[tuple[int, Coin, dict[int, int]]]:
        places = range(len(self._asked()))
        for number in self._edge_numbers():
            for coin in _COINS:
                yield number, coin, dict.fromkeys(places, _FIRST)
                yield number, coin, dict.fromkeys(places, _LAST)
                yield number, coin, {}
            self.values.add(number)

    def _outcomes(self) -> Iterator[tuple[int, Coin, dict[int, int]]]:
        """Every outcome of every draw, as many as there is room for, with coins up and down, several times over.

        Once is not enough: a report may be the right one by chance.
        """
        asked = [(n, place) for place, n in enumerate(self._asked()) if n > 1]
        chosen: dict[int, Sequence[int]] = {}
        room = _OUTCOMES
        for left, (n, place) in zip(range(len(asked), 0, -1), sorted(asked), strict=True):
            most = room // left
            some = (self._rng.randrange(n) for _ in range(min(most, _SOME)))
            chosen[place] = range(n) if n <= most else [*edge_values(n), *some]
            room -= len(chosen[place])
        cases = [(place, outcome) for place, outcomes in chosen.items() for outcome in outcomes]
        for _ in range(_ROUNDS):
            self._rng.shuffle(cases)
            for place, outcome in cases:
                for coin in _COINS:
                    yield self._any_number(), coin, {place: outcome}
                self._drawn.setdefault(place, set()).add(outcome)

    def _arithmetic(self) -> Iterator[tuple[int, Coin, dict[int, int]]]:
        """What reaches every entry of a matrix, every column of every level, and every product of a small field."""
        mechanism = self._mechanism
        if isinstance(mechanism, MatrixChannel):
            for number in range(mechanism.domain_size):
                for reached in np.cumsum(mechanism.matrix.integers[:, self._input(number)], dtype=np.uint64).tolist():
                    yield number, "any", {0: reached - 1}
                    yield number, "any", {0: reached}
        elif isinstance(mechanism, RoundedChannel):
            # To every grid point from positions that are just rounded down to it, and just up.
            steps, last = mechanism.steps, mechanism.domain_size - 1
            for point, column in enumerate(np.cumsum(mechanism.matrix.integers.T, axis=1, dtype=np.uint64).tolist()):
                for reached in column[:-1]:
                    rounding = self._rng.randrange(steps)
                    yield min(steps * point + rounding, last), "any", {0: rounding, 1: reached - 1}
                    yield max(steps * (point - 1) + rounding + 1, 0), "any", {0: rounding, 1: reached}
        elif isinstance(mechanism, LevelResponse) and sum(mechanism.columns) <= _OUTCOMES:
            # The first draw is of a level, by its weight; the last one of a column.
            for first, size in zip(accumulate(mechanism.weights, initial=0), mechanism.columns, strict=False):
                for column in range(size):
                    for coin in _COINS:
                        yield self._any_number(), coin, {0: first, 2: column}
        elif isinstance(mechanism, ProjectiveGeometry) and 2 * mechanism.order**2 <= _PRODUCTS:
            # The last draw, of a point off the hyperplane, has all coordinates but one as its digits in base q.
            q, t, off = mechanism.order, mechanism.dimension, len(self._asked()) - 1
            for a in range(q):
                for b in range(q):
                    # Number 1 + a is the point (0, .., 1, a): a times the last coordinate, b.
                    yield (
                        min(1 + a, mechanism.domain_size - 1),
                        "down",
                        {off: q * self._rng.randrange(q ** (t - 2)) + b},
                    )
                    # Number 0 is (0, .., 0, 1): the first coordinate is a, by which the second, b, is divided.
                    yield 0, "down", {off: a * q ** (t - 2) + b * q ** max(t - 3, 0)}

    # --- all values, many on one tape -------------------------------------------------------

    def _everybody(self) -> Iterator[RunBatch]:
        """All values in random order; of a larger domain, or of vectors, random ones until time is up."""
        numbers, size = self._any_numbers(), 16
        if self.size is not None and self.size <= _LISTED:
            numbers = iter(np.random.default_rng(self._rng.getrandbits(64)).permutation(self.size).tolist())
        while batch := list(islice(numbers, size)):
            if not self._in_time():
                return
            started = time.process_time()
            values = [self._value(number) for number in batch]
            inputs = [self._survey.private_input(value) for value in values]
            for coin in _COINS:
                yield RunBatch(batch, values, *self._together(inputs, coin))
            self.values.update(batch)
            size = _next_size(size, time.process_time() - started)

    def _together(self, inputs: list[Any], coin: Coin) -> tuple[list[str], list[str]]:
        """A tape, and the reports that it gives."""
        recorder = Recorder(self._rng, coin)
        reports = [self._report(inputs[0], recorder)]
        source = Replay(recorder)
        for private in inputs[1:]:
            source.rewind()
            reports.append(self._report(private, source))
            if not source.is_same:
                raise MechanismError(f"the draws of {self._mechanism.name} depend on the value")
        return [recorder.tape], reports

    # --- the Python device ------------------------------------------------------------------

    def _report(self, private: Any, source: Recorder | Replay) -> str:
        mechanism: Any = self._mechanism
        payload: bytes = mechanism.encode(mechanism.randomize(private, source))
        return (self._survey.tag + payload).hex()

    def _asked(self) -> list[int]:
        source = Recorder(self._rng)
        self._report(self._input(0), source)
        return source.asked

    def _input(self, number: int) -> Any:
        return self._survey.private_input(self._value(number))

    def _in_time(self) -> bool:
        return time.process_time() < self._ends

    # --- values -----------------------------------------------------------------------------

    def _any_number(self) -> int:
        return self._rng.randrange(_LISTED if self.size is None else self.size)

    def _any_numbers(self) -> Iterator[int]:
        while True:
            yield self._any_number()

    def _edge_numbers(self) -> list[int]:
        if self.size is None:
            return list(range(_EDGE_VECTORS))
        return edge_values(self.size, int(getattr(self._mechanism, "block_size", 2)) - 1)

    def _vector(self, number: int) -> Any:
        """Vectors on axes, tiny, huge and not finite ones first; all others are random, inside and outside the ball."""
        question: Any = self._survey.question
        dimension, radius = question.dimension, question.radius
        if number < _EDGE_VECTORS:
            vector = np.zeros(dimension)
            vector[number * 7 % dimension] = (0.0, radius, -radius, 5e-324, 1e308, np.nan, -np.inf, -0.0)[number % 8]
            return vector
        rng = np.random.default_rng(number)
        vector = rng.standard_normal(dimension)
        return vector * (radius * rng.uniform(0.0, 1.2) / float(np.linalg.norm(vector)))


_EDGE_VECTORS: Final = EDGE_WORDS


def _next_size(size: int, seconds: float) -> int:
    return min(2 * size, _LARGEST_BATCH) if seconds < _BATCH_SECONDS else max(1, size // 2)
