"""What a device must ask for and send: the second implementation of a mechanism, by which audits judge the first.

A mechanism's own reference stands beside it and is made from its parameters alone: it never calls the device's code.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain.trials import Trials
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import ONE, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import Request

__all__ = [
    "MOST_SWEPT",
    "ChannelReference",
    "Coin",
    "CriticalRun",
    "DeviceRun",
    "Draws",
    "ExactReference",
    "Reference",
    "Rows",
    "SampledReference",
    "Script",
    "TwoLevelReference",
    "Values",
    "in_hex",
    "index_rows",
    "odd_parity",
]

Values = NDArray[np.int64]
"""Inputs by number, one per run."""
Draws = NDArray[np.int64]
"""One row per run, one column per draw: an integer's outcome, or 1 for a coin that comes up."""
Rows = NDArray[np.uint8]
"""Encoded reports, one per row."""


MOST_SWEPT: Final = 2**22
"""Values, or outcomes of all draws together, up to which all are run."""

Coin = Literal["up", "down", "any"]
"""How coins fall: just below their threshold, just at it, or at random."""


class CriticalRun(NamedTuple):
    """A value, how coins fall, and outcomes of integer draws by their place among all draws."""

    value: int
    coin: Coin
    outcomes: dict[int, int]


class Reference:
    """What the runs of one mechanism's device are judged by.

    One of two kinds: a `ChannelReference` for values that are numbered, a `SampledReference` for all others.
    """

    independent: ClassVar[bool] = True
    """Whether it implements the device a second time; if not, it relies on the probabilities that are stated."""
    values: int | None = None
    """How many values the device takes, if they are numbered from 0."""

    def wrong_law(self) -> str:
        """What is wrong with the tables and functions that the device relies on, in words; empty if nothing is."""
        return ""


class ChannelReference(Reference, abc.ABC):
    """The requests and the bytes of one mechanism's device, for given values and draws.

    Parameters
    ----------
    values
        How many values the device takes, numbered from 0.
    """

    block = 1
    """Size of the blocks of values; faults are likely at their borders."""

    values: int

    def __init__(self, values: int) -> None:
        self.values = values

    @abc.abstractmethod
    def requests(self, value: int) -> list[Request]:
        """What the device must ask of its source, in order."""

    @abc.abstractmethod
    def payloads(self, values: Values, draws: Draws) -> Rows:
        """The bytes it must send, one row per run."""

    @abc.abstractmethod
    def ratio(self) -> Fraction:
        """The worst likelihood ratio of two values, from the requests and how many reports share each outcome."""

    def first_wrong(
        self, values: Values, draws: Draws, asked: Sequence[list[Request]], sent: Sequence[bytes]
    ) -> tuple[int, str] | None:
        """The first run whose requests or bytes are not as they must be, and what it did; None if there is none."""
        for run, (value, requests) in enumerate(zip(values.tolist(), asked, strict=True)):
            if requests != (right := self.requests(value)):
                return run, _difference("asks for", requests, right)
        rows = self.payloads(values, draws)
        if b"".join(sent) == rows.tobytes() and {len(row) for row in sent} == {rows.shape[1]}:
            return None
        run = next(run for run, (row, right) in enumerate(zip(sent, rows, strict=True)) if row != right.tobytes())
        return run, f"sends {in_hex(sent[run])}, where the stated law gives {in_hex(rows[run].tobytes())}"

    def critical_runs(self, rng: np.random.Generator) -> Iterator[CriticalRun]:
        """What reaches every branch of a table or of an arithmetic, for clients in other languages."""
        return iter(())

    @cached_property
    def cells(self) -> int:
        """Runs of `sweep` that take every outcome of every integer drawn."""
        return max((request for request in self.requests(0) if request > 0), default=0)

    def sweep(self, numbers: Values, rng: np.random.Generator) -> tuple[Values, Draws]:
        """Values and draws of these runs out of `cells`; the caller sets the coins."""
        requests = self.requests(0)
        offsets = np.random.default_rng(self.cells).integers(0, 2**62, size=len(requests))
        columns = [
            (numbers + offset % n) % n if n > 0 else np.zeros_like(numbers)
            for n, offset in zip(requests, offsets.tolist(), strict=True)
        ]
        return rng.integers(0, self.values, size=len(numbers)), np.stack(columns, axis=1)


def _difference(what: str, requests: Sequence[Request], right: Sequence[Request]) -> str:
    """Where two lists of requests begin to differ."""
    at = next(
        (i for i, (request, expected) in enumerate(zip(requests, right, strict=False)) if request != expected), None
    )
    if at is None:
        return f"{what} {len(requests)} draws, where the stated law has {len(right)}"
    return f"{what} {_request(requests[at])} at draw {at}, where the stated law has {_request(right[at])}"


def in_hex(payload: bytes) -> str:
    """Bytes for people; the middle of many is left out."""
    text = payload.hex()
    return text if len(text) <= 48 else f"{text[:32]}..{text[-8:]} ({len(payload)} bytes)"


def _request(request: Request) -> str:
    return f"below({request})" if request > 0 else f"bernoulli({-request})"


def index_rows(numbers: NDArray[Any], outputs: int) -> Rows:
    """Numbers below `outputs` as little-endian bytes, in the fewest that hold them."""
    width = ((outputs - 1).bit_length() + 7) // 8
    return np.ascontiguousarray(numbers, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, :width]


def odd_parity(numbers: Values) -> NDArray[np.bool_]:
    """Whether each number has an odd number of bits that are set."""
    return np.asarray(np.bitwise_count(numbers) & 1, dtype=np.bool_)


class TwoLevelReference(ChannelReference):
    """One coin decides between `inside` reports and `outside` others; all reports of a side are equally likely."""

    def __init__(self, values: int, epsilon: float, inside: int, outside: int) -> None:
        super().__init__(values)
        self.inside, self.outside = inside, outside
        self.threshold = TwoLevel(inside, outside, epsilon).threshold

    def ratio(self) -> Fraction:
        """The largest ratio of two sides' chances of a report."""
        return Fraction(self.threshold * self.outside, (ONE - self.threshold) * self.inside)


# --- values that are not numbered ---------------------------------------------------------------

Script = list[int]
"""Outcomes that are played to a device, one per draw."""


class DeviceRun(NamedTuple):
    """One run of a device: its input, what it asked for, the outcomes that were played, and what it sent."""

    name: str
    input: Any
    asked: list[Request]
    played: list[int]
    sent: bytes


class SampledReference(Reference, abc.ABC):
    """For a device whose inputs have no numbers: on which it is run, with which draws, and what a run must do.

    Parameters
    ----------
    trials
        The mechanism's own inputs.
    size
        What a result states as the size: the number of options, of coordinates, of bits.
    """

    noun: str = "values"
    """What the inputs are, in the plural."""
    unit: str = "value"
    """What `size` counts, in the singular."""
    least: int = 20_000
    """Lists of random scripts that an audit runs where nobody says for how long."""
    batch: ClassVar[int] = 1
    """How many runs are judged together."""
    samples: ClassVar[int] = 2_000
    """Reports of each value that a bound is certified from, if time allows."""
    outcomes: ClassVar[Sequence[Script]] = ()
    """All scripts there are, if they are few: then every value of a survey is run with every one."""
    sure_scripts: ClassVar[int] = 2
    """How many of `edge_scripts` are run even if there is no time left."""
    attained: ClassVar[bool] = False
    """Whether two inputs of every miniature attain its stated ratio."""

    def __init__(self, trials: Trials, size: int) -> None:
        self.trials, self.size = trials, size

    @abc.abstractmethod
    def scripts(self, rng: np.random.Generator) -> Iterator[list[Script]]:
        """Scripts for random inputs, without end; those of one list are run with the same input."""

    def edge_scripts(self, rng: np.random.Generator) -> Iterable[Script]:
        """Scripts that every input is run with at which faults are likely."""
        return next(self.scripts(rng))

    def rare_scripts(self, rng: np.random.Generator) -> Iterator[Script]:
        """Scripts that random ones would hardly contain; each is run once, with a random input."""
        return iter(())

    def sides(self, rng: np.random.Generator) -> list[Script]:
        """Random scripts that take both sides of every coin: those that each of many listed inputs is run with."""
        return next(self.scripts(rng))

    def swept(self) -> int:
        """The number of scripts of `sweep`; 0 if there is no such list."""
        return 0

    def sweep(self, rng: np.random.Generator) -> Iterator[Script]:
        """Scripts that take every outcome of every integer drawn, in random order, with coins down and up."""
        return iter(())

    @abc.abstractmethod
    def first_wrong(self, runs: Sequence[DeviceRun]) -> str:
        """The first of these runs that asks for or sends something else than it must, in words; empty if none does."""

    @abc.abstractmethod
    def guarantee(self) -> tuple[float, str]:
        """The epsilon that follows from the integers in use, and what is wrong with that which is stated, if any."""

    @abc.abstractmethod
    def method(self, done: int) -> str:
        """What was run, in words, after a number of lists of scripts."""

    def assumptions(self, done: int) -> tuple[str, ...]:
        """What a verdict relies on after a number of lists of scripts, besides the system's random bytes."""
        return (f"{self.noun} that were not run do as those that were",)


class ExactReference(SampledReference):
    """For a device whose draws do not depend on its input, and whose report follows from both exactly.

    Parameters
    ----------
    epsilon, stated_ratio
        As they are stated.
    """

    def __init__(self, trials: Trials, size: int, epsilon: float, stated_ratio: Fraction) -> None:
        super().__init__(trials, size)
        self.epsilon, self.stated_ratio = epsilon, stated_ratio

    @abc.abstractmethod
    def requests(self, outcomes: Sequence[int]) -> list[Request]:
        """What the device must ask for, if these are the outcomes; the first ones may decide the rest."""

    @abc.abstractmethod
    def payloads(self, inputs: Sequence[Any], played: Sequence[list[int]]) -> list[bytes]:
        """The bytes that must be sent for these inputs and outcomes."""

    def ratio(self) -> Fraction:
        """The worst likelihood ratio of two inputs; that which is stated, where only miniatures can confirm it."""
        return self.stated_ratio

    def guarantee(self) -> tuple[float, str]:
        ratio = max(self.ratio(), self.stated_ratio)
        right = within_epsilon(ratio, self.epsilon) and self.ratio() == self.stated_ratio
        words = "" if right else f"two {self.noun}' probabilities of a report are in the ratio {float(ratio):.9g}"
        return epsilon_of(ratio), words

    def scripts(self, rng: np.random.Generator) -> Iterator[list[Script]]:
        return ([self.script(number, rng)] for number in count())

    def edge_scripts(self, rng: np.random.Generator) -> Iterable[Script]:
        return [self.script(number, rng) for number in range(4)]

    def sides(self, rng: np.random.Generator) -> list[Script]:
        return [self.script(0, rng), self.script(1, rng)]

    @cached_property
    def cells(self) -> int:
        """Outcomes of the widest integer drawn."""
        return max((request for request in self.requests(()) if request > 0), default=0)

    def swept(self) -> int:
        return 2 * self.cells if self.cells * len(self.requests(())) <= MOST_SWEPT else 0

    def sweep(self, rng: np.random.Generator) -> Iterator[Script]:
        """Every integer takes all its outcomes in a random order of its own, again and again if there are few."""
        requests = self.requests(())
        columns = [rng.permutation(self.cells) % max(1, request) for request in requests]
        for number in range(self.cells):
            outcomes = [int(column[number]) for column in columns]
            for coin in (0, 1):
                drawn = zip(requests, outcomes, strict=True)
                yield [outcome if request > 0 else coin for request, outcome in drawn]

    def script(self, number: int, rng: np.random.Generator) -> Script:
        """Outcomes at random, with coins all down, all up, by their law, or fair in turn."""
        requests, up = self.requests(()), (0.0, 1.0, None, 0.5)[number % 4]
        integers = rng.integers(0, [max(1, request) for request in requests]).tolist()
        coins = (rng.random(len(requests)) < ([-request / ONE for request in requests] if up is None else up)).tolist()
        return [drawn if request > 0 else int(up) for request, drawn, up in zip(requests, integers, coins, strict=True)]

    def first_wrong(self, runs: Sequence[DeviceRun]) -> str:
        for run in runs:
            if run.asked != (right := self.requests(run.played)):
                return f"{run.name}: the device {_difference('asks for', run.asked, right)}"
        payloads = self.payloads([run.input for run in runs], [run.played for run in runs])
        for run, payload in zip(runs, payloads, strict=True):
            if run.sent != payload:
                draws = f"{run.played[:12]}".replace("]", ", ..]" if len(run.played) > 12 else "]")
                return (
                    f"{run.name}: with the draws {draws} the device sends {in_hex(run.sent)}, where its law gives "
                    f"{in_hex(payload)}"
                )
        return ""

    def method(self, done: int) -> str:
        return f"{done:,} random {self.noun} with random draws"
