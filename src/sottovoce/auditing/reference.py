"""What a device must ask for and send: every channel of this package once more, over arrays, from its description.

The audit runs the device's code on given draws and compares its bytes with these, so nothing here calls it.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.script import Request
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampled import LevelResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.unary import Unary
from sottovoce.randomness import ONE

__all__ = ["REFERENCES", "Draws", "Reference", "TwoLevelReference", "in_hex", "index_rows"]

M = TypeVar("M", bound=ChannelMechanism)

Values = NDArray[np.int64]
Draws = NDArray[np.int64]
"""One row per run, one column per draw: an integer's outcome, or 1 for a coin that comes up."""
Payloads = NDArray[np.uint8]


class Reference(abc.ABC, Generic[M]):
    """The requests and the bytes of one mechanism's device, for given values and draws."""

    block = 1
    """Values come in blocks of so many, at whose borders faults are likely."""

    def __init__(self, mechanism: M) -> None:
        self.mechanism = mechanism
        self.values = mechanism.domain_size

    @abc.abstractmethod
    def requests(self, value: int) -> list[Request]:
        """What the device must ask of its source, in order."""

    @abc.abstractmethod
    def payloads(self, values: Values, draws: Draws) -> Payloads:
        """The bytes it must send, one row per run."""

    @abc.abstractmethod
    def ratio(self) -> Fraction:
        """The worst likelihood ratio of these channels, from the requests and how many reports share each outcome."""

    def wrong_law(self) -> str:
        """What is wrong with the tables behind this channel, in words; empty if nothing is."""
        return ""

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

    @cached_property
    def cells(self) -> int:
        """Runs of `sweep` that take every outcome of every integer drawn."""
        return max((request for request in self.requests(0) if request > 0), default=0)

    def sweep(self, numbers: Values, rng: np.random.Generator) -> tuple[Values, Draws]:
        """Values and draws of these runs out of `cells`; coins are set by who calls."""
        requests = self.requests(0)
        offsets = np.random.default_rng(self.cells).integers(0, 2**62, size=len(requests))
        columns = [
            (numbers + offset % n) % n if n > 0 else np.zeros_like(numbers)
            for n, offset in zip(requests, offsets.tolist(), strict=True)
        ]
        return rng.integers(0, self.values, size=len(numbers)), np.stack(columns, axis=1)


def _difference(what: str, found: Sequence[Request], right: Sequence[Request]) -> str:
    """Where two lists of requests begin to differ."""
    at = next((i for i, (one, other) in enumerate(zip(found, right, strict=False)) if one != other), None)
    if at is None:
        return f"{what} {len(found)} draws, where the stated law has {len(right)}"
    return f"{what} {_request(found[at])} at draw {at}, where the stated law has {_request(right[at])}"


def in_hex(payload: bytes) -> str:
    """Bytes for people; the middle of many is left out."""
    text = payload.hex()
    return text if len(text) <= 48 else f"{text[:32]}..{text[-8:]} ({len(payload)} bytes)"


def _request(request: Request) -> str:
    return f"below({request})" if request > 0 else f"bernoulli({-request})"


def index_rows(numbers: NDArray[Any], outputs: int) -> Payloads:
    """Numbers below `outputs` as little-endian bytes, in the fewest that hold them."""
    width = ((outputs - 1).bit_length() + 7) // 8
    return np.ascontiguousarray(numbers, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, :width]


def _odd(numbers: Values) -> NDArray[np.bool_]:
    return np.asarray(np.bitwise_count(numbers) & 1, dtype=np.bool_)


class TwoLevelReference(Reference[M]):
    """One coin decides between `inside` reports and `outside` others; all reports of a side are equally likely."""

    inside: int
    outside: int

    @cached_property
    def threshold(self) -> int:
        """The coin's."""
        return TwoLevel(self.inside, self.outside, self.mechanism.epsilon).threshold

    def ratio(self) -> Fraction:
        """Of the two sides' chances for each report."""
        return Fraction(self.threshold * self.outside, (ONE - self.threshold) * self.inside)


class _RandomizedResponse(TwoLevelReference[RandomizedResponse]):
    """The value, or one of the others by its rank among them."""

    def __init__(self, mechanism: RandomizedResponse) -> None:
        super().__init__(mechanism)
        self.inside, self.outside = 1, self.values - 1
        self._requests = [-self.threshold, self.values - 1]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        coin, other = draws.T
        return index_rows(np.where(coin == 1, values, other + (other >= values)), self.values)


class _Hadamard(TwoLevelReference[Hadamard]):
    """A position with the parity that the coin says; a wrong one is mended in the row's lowest bit."""

    def __init__(self, mechanism: Hadamard) -> None:
        super().__init__(mechanism)
        self.positions = 1 << self.values.bit_length()
        self.inside = self.outside = self.positions // 2
        self._requests = [-self.threshold, self.positions]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        coin, position = draws.T
        row = values + 1
        mended = position ^ np.where(_odd(row & position) == (coin == 1), row & -row, 0)
        return index_rows(mended, self.positions)


class _HadamardBlocks(TwoLevelReference[HadamardBlocks]):
    """Hadamard in the value's block; or, by rank, other blocks' positions and then the own block's odd ones."""

    def __init__(self, mechanism: HadamardBlocks) -> None:
        super().__init__(mechanism)
        blocks = mechanism.blocks
        self.size = 1 << (-(-self.values // blocks)).bit_length()
        self.positions, self.block = blocks * self.size, self.size - 1
        self.inside, self.outside = self.size // 2, self.positions - self.size // 2
        self._requests = [-self.threshold, self.size, self.outside]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        coin, even, rest = draws.T
        own, row = values // self.block, values % self.block + 1
        low = row & -row
        even = even ^ np.where(_odd(row & even), low, 0)
        elsewhere = self.positions - self.size
        away = rest + np.where(rest // self.size >= own, self.size, 0)
        rank = np.maximum(rest - elsewhere, 0)
        odd = rank % low + rank // low * low * 2
        odd = odd ^ np.where(_odd(row & odd), 0, low)
        off = np.where(rest < elsewhere, away, own * self.size + odd)
        return index_rows(np.where(coin == 1, own * self.size + even, off), self.positions)


class _SubsetSelection(TwoLevelReference[SubsetSelection]):
    """Floyd's subset of the others, one of them replaced by the value if the coin comes up; sorted."""

    def __init__(self, mechanism: SubsetSelection) -> None:
        super().__init__(mechanism)
        self.subset = mechanism.subset_size
        self.inside, self.outside = self.subset, self.values - self.subset
        self._requests = [-self.threshold, *range(self.values - self.subset, self.values), self.subset]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        rows = zip(values.tolist(), draws.tolist(), strict=True)
        return self._packed(np.array([self._set(value, row) for value, row in rows], dtype=np.int64))

    def _set(self, value: int, row: list[int]) -> list[int]:
        coin, *floyd, replaced = row
        others: dict[int, None] = {}
        for last, drawn in enumerate(floyd, self.values - 1 - self.subset):
            others[last if drawn in others else drawn] = None
        members = sorted(other if other < value else other + 1 for other in others)
        return sorted([*members[:replaced], value, *members[replaced + 1 :]]) if coin else members

    def _packed(self, sets: Values) -> Payloads:
        """Members of fixed width, the least first, or a bitmap where that is no longer."""
        each = (self.values - 1).bit_length()
        if (each * self.subset + 7) // 8 < (self.values + 7) // 8:
            bits = (sets[:, :, None] >> np.arange(each) & 1).astype(np.uint8).reshape(len(sets), -1)
        else:
            bits = np.zeros((len(sets), self.values), dtype=np.uint8)
            bits[np.arange(len(sets))[:, None], sets] = 1
        return np.packbits(bits, axis=1, bitorder="little")


class _Unary(Reference[Unary]):
    """One coin per value; the falls are the bitmap."""

    def requests(self, value: int) -> list[Request]:
        asked = [-self.mechanism.other_threshold] * self.values
        asked[value] = -self.mechanism.own_threshold
        return asked

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        return np.packbits(draws.astype(np.uint8), axis=1, bitorder="little")

    def ratio(self) -> Fraction:
        own, other = self.mechanism.own_threshold, self.mechanism.other_threshold
        return Fraction(own * (ONE - other), other * (ONE - own))


class _Levels(TwoLevelReference[LevelResponse]):
    """Level and column are drawn in public; the coin keeps the sign of the value's node there, or turns it."""

    def __init__(self, mechanism: LevelResponse) -> None:
        super().__init__(mechanism)
        self.inside = self.outside = 1
        self.spans = np.array(mechanism.spans)
        self.columns = np.array([1 << (-(-self.values // span) - 1).bit_length() for span in mechanism.spans])
        self.shares = np.array([0, *accumulate(mechanism.weights)])
        self.firsts = np.array([0, *accumulate(self.columns.tolist())])
        self._requests = [int(self.shares[-1]), -self.threshold, int(self.columns.max())]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        drawn, kept, column = draws.T
        level = np.searchsorted(self.shares, drawn, "right") - 1
        span, size = self.spans[level], self.columns[level]
        column = column % size
        negative = _odd(values // span & column)
        if self.mechanism.signed:
            negative = negative ^ (values % span >= span // 2)
        report = 2 * self.firsts[level] + column + size * (negative == (kept == 1))
        return index_rows(report, 2 * int(self.firsts[-1]))

    @cached_property
    def cells(self) -> int:
        """Every column of every level."""
        return int(self.firsts[-1])

    def sweep(self, numbers: Values, rng: np.random.Generator) -> tuple[Values, Draws]:
        """The level and column of that number, by any draw that gives the level."""
        level = np.searchsorted(self.firsts, numbers, "right") - 1
        size, widest = self.columns[level], int(self.columns.max())
        drawn = rng.integers(self.shares[level], self.shares[level + 1])
        column = numbers - self.firsts[level] + size * rng.integers(0, widest // size)
        return rng.integers(0, self.values, size=len(numbers)), np.stack([drawn, 0 * drawn, column], axis=1)


class _Fourier(TwoLevelReference[Fourier]):
    """A coefficient is drawn in public; the coin keeps the parity of the value's code there, or turns it."""

    def __init__(self, mechanism: Fourier) -> None:
        super().__init__(mechanism)
        self.inside = self.outside = 1
        self.sizes = mechanism.sizes
        self.bits = [(size - 1).bit_length() for size in self.sizes]
        places = [mechanism.only - 1] if mechanism.only else range(len(self.sizes))
        groups = [group for n in range(1, mechanism.order + 1) for group in combinations(places, n)]
        masks = [self._masks(group) for group in groups]
        weights = [mechanism.weights[len(group) - 1] for group in groups]
        self.masks = np.concatenate(masks)
        self.shares = np.cumsum(np.repeat(weights, [len(one) for one in masks]))
        self._requests = [int(self.shares[-1]), -self.threshold]

    def _masks(self, group: tuple[int, ...]) -> Values:
        found = np.zeros(1, dtype=np.int64)
        for place in range(len(self.sizes)):
            digits = np.arange(1, 1 << self.bits[place]) if place in group else np.zeros(1, dtype=np.int64)
            found = ((found[:, None] << self.bits[place]) + digits).reshape(-1)
        return found

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        drawn, kept = draws.T
        number = np.searchsorted(self.shares, drawn, "right")
        code, weight = np.zeros_like(values), self.values
        for size, bits in zip(self.sizes, self.bits, strict=True):
            weight //= size
            code = (code << bits) + values // weight % size
        return index_rows(2 * number + (_odd(self.masks[number] & code) == (kept == 1)), 2 * len(self.masks))


class _MatrixChannel(Reference[MatrixChannel]):
    """One integer below 2^bits: the entries of the value's column, laid side by side, share them out."""

    def __init__(self, mechanism: MatrixChannel) -> None:
        super().__init__(mechanism)
        self.ends = np.cumsum(mechanism.matrix.integers.T, axis=1, dtype=np.int64)
        self.reports = self.ends.shape[1]
        self._requests = [1 << mechanism.matrix.bits]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Payloads:
        drawn = draws[:, 0].tolist()
        reports = [np.searchsorted(self.ends[v], at, "right") for v, at in zip(values.tolist(), drawn, strict=True)]
        return index_rows(np.array(reports), self.reports)

    def ratio(self) -> Fraction:
        rows = self.mechanism.matrix.integers
        pairs = set(zip(rows.max(axis=1).tolist(), rows.min(axis=1).tolist(), strict=True))
        return max(Fraction(high, max(1, low)) for high, low in pairs)

    def wrong_law(self) -> str:
        entries = self.mechanism.matrix.integers
        if int(entries.min()) < 1 or (self.ends[:, -1] != self._requests[0]).any():
            return "an entry of the channel matrix is 0, or a column does not add up"
        return ""

    @cached_property
    def cells(self) -> int:
        """The first and the last draw of every entry."""
        return 2 * int(self.values * self.reports)

    def sweep(self, numbers: Values, rng: np.random.Generator) -> tuple[Values, Draws]:
        entry, last = np.divmod(numbers, 2)
        values, report = np.divmod(entry, self.reports)
        end = self.ends[values, report]
        first = end - self.mechanism.matrix.integers[report, values]
        return values, np.where(last == 1, end - 1, first)[:, None]


REFERENCES: dict[type[ChannelMechanism], type[Reference[Any]]] = {
    RandomizedResponse: _RandomizedResponse,
    Hadamard: _Hadamard,
    HadamardBlocks: _HadamardBlocks,
    SubsetSelection: _SubsetSelection,
    Unary: _Unary,
    LevelResponse: _Levels,
    Fourier: _Fourier,
    MatrixChannel: _MatrixChannel,
}
"""One reference per mechanism; those of projective geometry and rounded channels stand in files of their own."""
