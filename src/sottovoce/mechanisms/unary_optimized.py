"""Optimized unary encoding: a fair coin for the own bit, rare ones elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

from sottovoce.mechanisms.unary import Unary
from sottovoce.randomness.thresholds import ONE, ceil_of

__all__ = ["UnaryOptimized"]


@final
@dataclass(frozen=True)
class UnaryOptimized(Unary):
    """The own bit is a fair coin; every other bit is set with probability 1/(e^eps+1), rounded up.

    Guarantee
        Pure epsilon-LDP: the ratio is (1-P0)/P0 (Wang, Blocki, Li, Jha 2017, Sec. 4.3).
    Error
        See `Unary`, with P1 = 1/2 and P0 = 1/(e^eps+1): the least variance of rare values among
        unary encodings.
    """

    name: ClassVar[str] = "unary_optimized"
    summary: ClassVar[str] = "one noisy bit per value"
    use_when: ClassVar[str] = "simple devices and small domains: one noisy bit per value"

    @property
    def own_threshold(self) -> int:
        """One half, exactly."""
        return ONE // 2

    @cached_property
    def other_threshold(self) -> int:
        """1/(e^eps+1), rounded up toward one half."""
        return ceil_of(lambda e: 1 / (e + 1), self.epsilon)

    def citation(self) -> str:
        """Wang, Blocki, Li and Jha 2017."""
        return (
            "@inproceedings{wang2017locally, author={Wang, Tianhao and Blocki, Jeremiah and Li, Ninghui and Jha, "
            "Somesh}, title={Locally Differentially Private Protocols for Frequency Estimation}, "
            "booktitle={USENIX Security}, year={2017}}"
        )
