"""Haar response: a signed Hadamard sign of the value's half of its node on one random level of a binary tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self, final

from sottovoce.mechanisms.sampled import MAX_TILT, LevelResponse, tilted_weights

__all__ = ["Haar"]


@final
@dataclass(frozen=True)
class Haar(LevelResponse):
    """A level of the binary tree over the values, and a Hadamard sign of the value's node, times its half's sign.

    Guarantee
        Pure epsilon-LDP: given the level and the column, drawn alike for all, a bit through randomized response.
    Error
        One report's estimate of all Haar coefficients (share of a node's first half less that of its second) has
        second moments c^2/q_l on level l and no correlations, for every value, c = coth(eps/2).
    Symbols
        2^L is the least power of two >= J; level l = 0 .. L-1 has nodes of 2^(L-l) values, the last ones beyond J
        perhaps. A value in the first half of its node has sign +1. `tilt` gives the levels' weights.
    Deviations
        Cormode et al. report coefficients by Hadamard response with the sign folded into twice as many rows; the bit
        beside the column is the same number of reports.
    Raises
        `SurveyError` for a tilt out of range.
    """

    tilt: int = 0

    name: ClassVar[str] = "haar"
    summary: ClassVar[str] = "a Hadamard sign of one level's wavelet coefficient"
    use_when: ClassVar[str] = "prefix sums and ranges over large domains"
    signed: ClassVar[bool] = True

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """One level and several, powers of two and not, flat and tilted weights."""
        return cls(2, epsilon), cls(4, epsilon, -12), cls(5, epsilon, 8)

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """The mechanism with the simplest parameters for `size` values."""
        return cls(size, epsilon)

    def _check_parameters(self) -> None:
        self._check_own("tilt", -MAX_TILT, MAX_TILT)

    @cached_property
    def spans(self) -> tuple[int, ...]:
        """2^L, .., 4, 2."""
        return tuple(1 << power for power in range((self.domain_size - 1).bit_length(), 0, -1))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """By the tilt: equal for 0, heavier toward pairs of values above it."""
        return tilted_weights(len(self.spans), self.tilt)

    def citation(self) -> str:
        """The wavelet, locally private: Cormode, Kulkarni and Srivastava 2019."""
        return (
            "@article{cormode2019ranges, author={Cormode, Graham and Kulkarni, Tejas and Srivastava, Divesh}, "
            "title={Answering Range Queries Under Local Differential Privacy}, journal={PVLDB}, volume={12}, "
            "year={2019}}"
        )
