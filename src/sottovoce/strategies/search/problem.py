"""The problem of a channel search, with equal values merged, and the known channels for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.strategies.laws.roots import gram_of
from sottovoce.strategies.search.reconstruction import user_noise, worst_case_weights
from sottovoce.strategies.search.starts import StartChannel, analytic_starts, structured_starts
from sottovoce.workloads.base import Floats, Workload, check_workload

__all__ = ["OBJECTIVES", "Candidate", "KnownChannels", "Problem", "known_channels", "problem_of"]

OBJECTIVES: Final = ("worst", "total")

_FEW_VALUES: Final = 32
"""Up to this many values the worst-case weights are computed to convergence; beyond, by a few rounds."""


class Problem(NamedTuple):
    """The workload with values of equal answers merged: they share one column of the channel."""

    full: Floats
    """Inner products of the answers of all values."""
    gram: Floats
    """Inner products of the answers of merged values."""
    shares: Floats
    """The fraction of all values in each merged one."""
    member: NDArray[np.intp]
    """The merged value of every value."""
    epsilon: float
    worst: bool

    def weigh(self, channel: Floats, weights: Floats) -> Floats:
        """The weights of the reconstruction: the given ones for the total, worst-case weights otherwise."""
        if not self.worst:
            return weights
        return worst_case_weights(channel, self.gram, weights, rounds=60 if len(self.gram) <= _FEW_VALUES else 8)

    def score(self, channel: Floats, weights: Floats) -> float:
        """The objective."""
        return self.summed_up(user_noise(channel, self.gram, weights))

    def summed_up(self, noise: Floats) -> float:
        """The objective from the noise of every merged value."""
        return float(noise.max() if self.worst else self.shares @ noise)


class Candidate(NamedTuple):
    """A channel with its weights and score."""

    score: float
    name: str
    channel: Floats
    weights: Floats


class KnownChannels(NamedTuple):
    """The best known channel, and the starts of the search."""

    best: Candidate
    starts: list[StartChannel]


def problem_of(workload: Workload, epsilon: float, objective: object) -> Problem:
    """The problem of `optimize`."""
    if objective not in OBJECTIVES:
        raise SurveyError(f"the objective must be one of {', '.join(map(repr, OBJECTIVES))}")
    gram = gram_of(check_workload(workload))
    _, first, member, counts = np.unique(gram, axis=0, return_index=True, return_inverse=True, return_counts=True)
    # Keep the order of the values, so that neighbours stay neighbours.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept = first[order]
    return Problem(
        gram,
        np.ascontiguousarray(gram[np.ix_(kept, kept)]),
        counts[order] / len(gram),
        rank[member.reshape(-1)],
        epsilon,
        objective == "worst",
    )


def known_channels(problem: Problem, workload: Workload, rows: int) -> KnownChannels:
    """The best known mechanism that fits; and as starts the best one for single values and the best structured one.

    Worst-case weights take many evaluations of a channel; most channels are decided by one. The mean noise of the best
    reconstruction for equal weights is a lower bound on the worst noise of any reconstruction (`worst_case_weights`),
    and a channel whose bound is above the score of another one is not evaluated further.

    Structured channels have little noise but are hard to improve; the search gets farther from the others. So one of
    each kind is a start.
    """
    if len(problem.gram) == 1:  # every value has the same answers: nothing need be asked
        return KnownChannels(Candidate(0.0, "constant", np.full((2, 1), 0.5), np.ones(1)), [])
    size, values = len(problem.gram), np.unique(problem.member, return_index=True)[1]
    single = _scored_starts(problem, analytic_starts(size, problem.epsilon, rows))
    structured = _scored_starts(problem, structured_starts(workload, problem.epsilon, rows, values))
    first, *others = sorted(single + structured, key=_score)
    best = _candidate_of(problem, first.start)
    for other in others:
        if other.bound < best.score:
            best = min(best, _candidate_of(problem, other.start), key=_score)
    return KnownChannels(best, [scored[0].start for scored in (single, structured) if scored])


class _ScoredStart(NamedTuple):
    """A channel's noise with equal weights."""

    score: float
    bound: float
    start: StartChannel


def _scored_starts(problem: Problem, starts: Iterable[StartChannel]) -> list[_ScoredStart]:
    """Best first."""
    scored = []
    for start in starts:
        noise = user_noise(start.channel(problem.epsilon), problem.gram, problem.shares)
        scored.append(_ScoredStart(problem.summed_up(noise), float(problem.shares @ noise), start))
    return sorted(scored, key=_score)


def _candidate_of(problem: Problem, start: StartChannel) -> Candidate:
    channel = start.channel(problem.epsilon)
    weights = problem.weigh(channel, problem.shares)
    return Candidate(problem.score(channel, weights), start.name, channel, weights)


def _score(scored: _ScoredStart | Candidate) -> float:
    return scored.score
