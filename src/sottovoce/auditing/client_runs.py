"""What a client is run on: values and tapes, with the reports that the Python device makes of them.

At the deployed size, in an order that ends whenever time is up: values at the edges of machine integers with extreme
draws, every outcome of every draw, what a mechanism's arithmetic depends on, and then all values in random order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from secrets import SystemRandom
from typing import Any, Final, final

import numpy as np

from sottovoce.auditing.subject import AuditedSurvey, Subject
from sottovoce.core.errors import MechanismError
from sottovoce.domain.trials import edge_values
from sottovoce.mechanisms.reference import ChannelReference, Coin, CriticalRun
from sottovoce.randomness import ONE

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
_INPUTS: Final = 2**12
"""Values up to which the mechanism's input of each is looked up."""
_DEPLOYED: Final = 2**11
"""Runs of a client without a source, at least if time allows."""
_DEPLOYED_BYTES: Final = 2**18
"""Random bytes of these: so many that a client takes dozens of blocks of the platform's."""
_LARGEST_BATCH: Final = 2**14
_BATCH_SECONDS: Final = 0.4

_COIN: Final = 0
"""What a coin is recorded as; an integer draw as its n."""
_NOTHING: Final = (-1, 0)
_COIN_BYTES: Final = 8
_MOST_REJECTED: Final = 2


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
        self._trials = subject.trials
        self._value: Callable[[int], Any] = subject.value
        self._seconds, self._ends = seconds, time.process_time() + seconds
        self.values: set[int] = set()
        """Numbers of the values that were run with each coin up and down."""
        self._drawn: dict[int, set[int]] = {}
        """The outcomes that were run with coins up and down, for every draw by its position."""

    @property
    def draws(self) -> list[tuple[int, int]]:
        """The number of outcomes that were run one by one, and of all outcomes, for every integer draw."""
        return [(len(self._drawn.get(position, ())), n) for position, n in enumerate(self._asked()) if n > 1]

    def batches(self) -> Iterator[RunBatch]:
        """All runs, until time is up."""
        yield self._deployed()
        yield from self._single(self._edges())
        self._ends -= self._seconds / 2
        yield from self._single(self._critical())
        yield from self._single(self._outcomes())
        self._ends += self._seconds / 2
        yield from self._everybody()

    # --- runs with a tape each --------------------------------------------------------------

    def _single(self, cases: Iterable[CriticalRun]) -> Iterator[RunBatch]:
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
        ends, read = time.process_time() + self._seconds / 8, 0
        for number in chain(numbers, self._any_numbers()):
            for coin in _COINS:
                self._add(runs, number, coin, {})
                read += len(runs.tapes[-1]) // 2
            if time.process_time() > ends or (len(runs.numbers) >= _DEPLOYED and read >= _DEPLOYED_BYTES):
                break
        return runs

    def _edges(self) -> Iterator[CriticalRun]:
        places = range(len(self._asked()))
        for number in self._edge_numbers():
            for coin in _COINS:
                yield CriticalRun(number, coin, dict.fromkeys(places, _FIRST))
                yield CriticalRun(number, coin, dict.fromkeys(places, _LAST))
                yield CriticalRun(number, coin, {})
            if self.size is None or number < self.size:
                self.values.add(number)

    def _outcomes(self) -> Iterator[CriticalRun]:
        """Every outcome of every draw, as many as there is room for, with coins up and down, several times over.

        Once is not enough: a report may be the right one by chance.
        """
        asked = [(n, position) for position, n in enumerate(self._asked()) if n > 1]
        chosen: dict[int, Sequence[int]] = {}
        room = _OUTCOMES
        for left, (n, position) in zip(range(len(asked), 0, -1), sorted(asked), strict=True):
            most = room // left
            some = (self._rng.randrange(n) for _ in range(min(most, _SOME)))
            chosen[position] = range(n) if n <= most else [*edge_values(n), *some]
            room -= len(chosen[position])
        cases = [(position, outcome) for position, outcomes in chosen.items() for outcome in outcomes]
        for _ in range(_ROUNDS):
            self._rng.shuffle(cases)
            for position, outcome in cases:
                for coin in _COINS:
                    yield CriticalRun(self._any_number(), coin, {position: outcome})
                self._drawn.setdefault(position, set()).add(outcome)

    def _critical(self) -> Iterator[CriticalRun]:
        """What the mechanism's arithmetic depends on, by its reference: inputs there, numbers of values here."""
        reference = self._mechanism.audit_reference()
        if self.size is None or not isinstance(reference, ChannelReference):
            return
        numbers = {int(self._input(number)): number for number in range(min(self.size, _INPUTS))}
        for value, coin, outcomes in reference.critical_runs(np.random.default_rng(self._rng.getrandbits(64))):
            yield CriticalRun(numbers.get(value, value % self.size), coin, outcomes)

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
        return self._rng.randrange(*(self._first_random, _LISTED) if self.size is None else (self.size,))

    def _any_numbers(self) -> Iterator[int]:
        while True:
            yield self._any_number()

    def _edge_numbers(self) -> list[int]:
        """Numbers of values at which faults are likely, of those that other languages have."""
        special = self._trials.special_numbers
        portable = [number for number in special if self._trials.numbered(number).portable]
        edges = edge_values(self.size, int(getattr(self._mechanism, "block_size", 2)) - 1) if self.size else []
        return [*portable, *edges]

    @property
    def _first_random(self) -> int:
        return self._trials.special_numbers.stop


def _next_size(size: int, seconds: float) -> int:
    return min(2 * size, _LARGEST_BATCH) if seconds < _BATCH_SECONDS else max(1, size // 2)


# --- tapes: the random bytes of one report, made from the outcomes that its draws should have ---
#
# A device in another language that is given the same bytes must send the same report. Outcomes are chosen where faults
# hide: both sides of every threshold, both ends of every range, words that must be rejected, bits that must be ignored.


@final
class Recorder:
    """A source that chooses outcomes and writes down the bytes for them, one piece per read.

    Parameters
    ----------
    coin
        The side on which coins fall.
    wished
        Outcomes of integer draws by their place among all draws; the others are random.
    """

    def __init__(self, rng: SystemRandom, coin: Coin = "any", wished: Mapping[int, int] | None = None) -> None:
        self._rng, self._coin, self._wished = rng, coin, wished or {}
        self.pieces: list[bytes] = []
        self.asked: list[int] = []
        """n of an integer draw, `_COIN` for a coin."""
        self.outcomes: list[int] = []
        """The result of every integer draw, and the word of every coin."""

    @property
    def tape(self) -> str:
        """The pieces in hexadecimal, with commas between them."""
        return ",".join(piece.hex() for piece in self.pieces)

    def below(self, n: int) -> int:
        """The integer that is wished for, or any; sometimes after words that are to be rejected."""
        position, bits = len(self.asked), (n - 1).bit_length()
        outcome = self._wished.get(position)
        outcome = self._rng.randrange(n) if outcome is None else min(outcome, n - 1)
        self.asked.append(n)
        self.outcomes.append(outcome)
        if bits:
            refused = [n, (1 << bits) - 1, self._rng.randrange(n, 1 << bits)] if n < 1 << bits else []
            for word in self._rng.sample(refused, self._rng.randint(0, min(_MOST_REJECTED, len(refused)))):
                self._write(word, bits)
            self._write(outcome, bits)
        return outcome

    def bernoulli(self, threshold: int) -> bool:
        """Whether the word that is written lies below the threshold."""
        words = {"up": threshold - 1, "down": threshold, "any": self._rng.randrange(ONE)}
        word = min(max(words[self._coin], 0), ONE - 1)
        self.asked.append(_COIN)
        self.outcomes.append(word)
        self.pieces.append(word.to_bytes(_COIN_BYTES, "little"))
        return word < threshold

    def _write(self, word: int, bits: int) -> None:
        width = (bits + 7) // 8
        unused = self._rng.getrandbits(8 * width - bits) << bits if bits % 8 else 0
        self.pieces.append((word | unused).to_bytes(width, "little"))


@final
class Replay:
    """A source that gives other values the draws of a recorded tape. `rewind` before each of them."""

    __slots__ = ("_recorded", "_rest", "_same")

    def __init__(self, recorded: Recorder) -> None:
        self._recorded = list(zip(recorded.asked, recorded.outcomes, strict=True))
        self.rewind()

    def rewind(self) -> None:
        """Begin again."""
        self._rest, self._same = iter(self._recorded), True

    @property
    def is_same(self) -> bool:
        """Whether exactly the recorded draws were asked for."""
        return self._same and next(self._rest, None) is None

    def below(self, n: int) -> int:
        """The recorded integer."""
        asked, outcome = next(self._rest, _NOTHING)
        self._same &= asked == n
        return outcome if outcome < n else 0

    def bernoulli(self, threshold: int) -> bool:
        """Whether the recorded word lies below this threshold."""
        asked, word = next(self._rest, _NOTHING)
        self._same &= asked == _COIN
        return word < threshold
