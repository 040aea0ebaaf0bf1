"""Hierarchical response: a Hadamard sign of the value's node on one random level of a tree with any branching."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self, final

from sottovoce.mechanisms.sampled import MAX_TILT, LevelResponse, tilted_weights

__all__ = ["Hierarchical"]


@final
@dataclass(frozen=True)
class Hierarchical(LevelResponse):
    """A level of the tree of intervals over the values, and a Hadamard sign of the interval that holds the value.

    Guarantee
        Pure epsilon-LDP: given the level and the column, drawn alike for all, a bit through randomized response.
    Error
        One report's estimate of all nodes' shares, with level weights q_l, has second moments c^2/q_l on level l
        and no correlations, for every value, c = coth(eps/2); `sottovoce.strategies.trees.hierarchical` combines them.
    Symbols
        B is `branching`, L the least number of levels with B^L >= J; level l = 1 .. L has ceil(J/B^(L-l)) nodes, the
        last one single values; the root is left out, because everybody is in it. `tilt` gives the levels' weights.
    Deviations
        Rows are those of a Hadamard matrix with a bit beside the column, not of one twice as large: the same
        number of reports for most sizes, and the noise is exactly uncorrelated.
    Raises
        `SurveyError` for a branching or a tilt out of range.
    """

    branching: int
    tilt: int = 0

    name: ClassVar[str] = "hierarchical"
    summary: ClassVar[str] = "a Hadamard sign of the value's interval on one level of a tree"
    use_when: ClassVar[str] = "prefix sums, ranges and bins over large domains"
    signed: ClassVar[bool] = False

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """One level and several, full trees and ragged ones, flat and tilted weights."""
        return cls(2, epsilon, 2), cls(4, epsilon, 4), cls(5, epsilon, 2, 8)

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """The mechanism with the simplest parameters for `size` values."""
        return cls(size, epsilon, 2)

    def _check_parameters(self) -> None:
        self._check_own("branching", 2, self.domain_size)
        self._check_own("tilt", -MAX_TILT, MAX_TILT)

    @cached_property
    def spans(self) -> tuple[int, ...]:
        """B^(L-1), .., B, 1."""
        spans = [1]
        while spans[-1] * self.branching < self.domain_size:
            spans.append(spans[-1] * self.branching)
        return tuple(reversed(spans))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """By the tilt: equal for 0, heavier toward single values above it."""
        return tilted_weights(len(self.spans), self.tilt)

    def citation(self) -> str:
        """Trees of intervals: Hay et al. 2010 (central), Cormode, Kulkarni and Srivastava 2019 (local)."""
        return (
            "@article{cormode2019ranges, author={Cormode, Graham and Kulkarni, Tejas and Srivastava, Divesh}, "
            "title={Answering Range Queries Under Local Differential Privacy}, journal={PVLDB}, volume={12}, "
            "year={2019}}\n"
            "@article{hay2010boosting, author={Hay, Michael and Rastogi, Vibhor and Miklau, Gerome and Suciu, Dan}, "
            "title={Boosting the Accuracy of Differentially Private Histograms Through Consistency}, "
            "journal={PVLDB}, volume={3}, year={2010}}"
        )
