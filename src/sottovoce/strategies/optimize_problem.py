"""The problem that a channel is searched for, reduced to different answers, and the known channels that solve it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SurveyError
from sottovoce.strategies.factorize_root import gram_of
from sottovoce.strategies.reconstruction import user_noise, worst_case_weights
from sottovoce.strategies.search_starts import Start, analytic_starts
from sottovoce.strategies.search_structured import structured_starts
from sottovoce.workloads.base import Floats, Workload, check_workload

__all__ = ["OBJECTIVES", "Candidate", "Known", "Problem", "known_channels", "problem_of"]

OBJECTIVES: Final = ("worst", "total")

_FEW_VALUES: Final = 32
"""Up to here weights for the worst case are worked out to the end; beyond, by a few rounds."""


class Problem(NamedTuple):
    """The workload with values of equal answers merged: they may as well share one column of the channel."""

    full: Floats
    """Inner products of the answers of all values."""
    gram: Floats
    """The same for merged values."""
    shares: Floats
    """What part of all values each merged one stands for."""
    member: NDArray[np.intp]
    """The merged value of every value."""
    epsilon: float
    worst: bool

    def weigh(self, channel: Floats, weights: Floats) -> Floats:
        """The weights to reconstruct with: those given for the total, the worst case's otherwise."""
        if not self.worst:
            return weights
        return worst_case_weights(channel, self.gram, weights, rounds=60 if len(self.gram) <= _FEW_VALUES else 8)

    def score(self, channel: Floats, weights: Floats) -> float:
        """The objective."""
        return self.summed_up(user_noise(channel, self.gram, weights))

    def summed_up(self, noise: Floats) -> float:
        """The objective of every merged value's noise."""
        return float(noise.max() if self.worst else self.shares @ noise)


class Candidate(NamedTuple):
    """A channel with its weights and what it scores."""

    score: float
    name: str
    channel: Floats
    weights: Floats


class Known(NamedTuple):
    """What is known before the search: the channel to beat, and those to descend from."""

    best: Candidate
    starts: list[Start]


def problem_of(workload: Workload, epsilon: float, objective: object) -> Problem:
    """The problem that `optimize` was asked to solve."""
    if objective not in OBJECTIVES:
        raise SurveyError(f"the objective must be one of {', '.join(map(repr, OBJECTIVES))}")
    gram = gram_of(check_workload(workload))
    _, first, member, counts = np.unique(gram, axis=0, return_index=True, return_inverse=True, return_counts=True)
    # In the order of the values, so that neighbours stay neighbours.
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    kept = first[order]
    return Problem(
        gram,
        np.ascontiguousarray(gram[np.ix_(kept, kept)]),
        counts[order] / len(gram),
        place[member.reshape(-1)],
        epsilon,
        objective == "worst",
    )


def known_channels(problem: Problem, workload: Workload, rows: int) -> Known:
    """The best of the known mechanisms that fit; and the best for single values and the best structured one.

    Weights for the worst case take many looks at a channel; most are decided by one. The mean noise of the best
    reconstruction for equal weights is a lower bound on the worst noise of any reconstruction (`worst_case_weights`),
    and a channel for which it is above what another one attains is left at that.

    Structured channels have little noise and are far from anything better; the search gets further from others. So
    one of each kind is a start.
    """
    if len(problem.gram) == 1:  # every value has the same answers: nobody need be asked anything
        return Known(Candidate(0.0, "constant", np.full((2, 1), 0.5), np.ones(1)), [])
    size, values = len(problem.gram), np.unique(problem.member, return_index=True)[1]
    single = _looked_at(problem, analytic_starts(size, problem.epsilon, rows))
    structured = _looked_at(problem, structured_starts(workload, problem.epsilon, rows, values))
    first, *others = sorted(single + structured, key=_score)
    best = _weighed(problem, first.start)
    for other in others:
        if other.bound < best.score:
            best = min(best, _weighed(problem, other.start), key=_score)
    return Known(best, [looks[0].start for looks in (single, structured) if looks])


class _Look(NamedTuple):
    """A channel's noise with equal weights."""

    score: float
    bound: float
    start: Start


def _looked_at(problem: Problem, starts: Iterable[Start]) -> list[_Look]:
    """Best first."""
    looks = []
    for start in starts:
        noise = user_noise(start.channel(problem.epsilon), problem.gram, problem.shares)
        looks.append(_Look(problem.summed_up(noise), float(problem.shares @ noise), start))
    return sorted(looks, key=_score)


def _weighed(problem: Problem, start: Start) -> Candidate:
    channel = start.channel(problem.epsilon)
    weights = problem.weigh(channel, problem.shares)
    return Candidate(problem.score(channel, weights), start.name, channel, weights)


def _score(scored: _Look | Candidate) -> float:
    return scored.score
