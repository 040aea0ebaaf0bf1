"""What a device must ask for and send: the second implementation of a mechanism, by which audits judge the first.

A mechanism's own reference stands beside it and is made from its parameters alone: it never calls the device's code.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import ONE
from sottovoce.randomness.scripts import Request

__all__ = [
    "ChannelReference",
    "Draws",
    "Reference",
    "Rows",
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


class Reference(abc.ABC):
    """What the runs of one mechanism's device are judged by."""

    independent: ClassVar[bool] = True
    """Whether it implements the device a second time; if not, it relies on the probabilities that are stated."""

    @abc.abstractmethod
    def ratio(self) -> Fraction:
        """The worst likelihood ratio of two values, from the requests and how many reports share each outcome."""

    def wrong_law(self) -> str:
        """What is wrong with the tables behind the device, in words; empty if nothing is."""
        return ""


class ChannelReference(Reference):
    """The requests and the bytes of one mechanism's device, for given values and draws.

    Parameters
    ----------
    values
        How many values the device takes, numbered from 0.
    """

    block = 1
    """Values come in blocks of so many, at whose borders faults are likely."""

    def __init__(self, values: int) -> None:
        self.values = values

    @abc.abstractmethod
    def requests(self, value: int) -> list[Request]:
        """What the device must ask of its source, in order."""

    @abc.abstractmethod
    def payloads(self, values: Values, draws: Draws) -> Rows:
        """The bytes it must send, one row per run."""

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
        """Of the two sides' chances for each report."""
        return Fraction(self.threshold * self.outside, (ONE - self.threshold) * self.inside)
