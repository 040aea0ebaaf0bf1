"""Search for the channel of the optimized strategy: exact on devices, never worse than a known mechanism."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.extras import full_install
from sottovoce.core.limits import check_epsilon, check_integer
from sottovoce.core.progress import steps as showing_steps
from sottovoce.core.words import plural
from sottovoce.mechanisms.channel_matrix import MAX_MATRIX_ENTRIES, ChannelMatrix
from sottovoce.strategies.search.problem import (
    OBJECTIVES,
    Candidate,
    KnownChannels,
    Problem,
    known_channels,
    problem_of,
)
from sottovoce.strategies.search.quantise import quantise
from sottovoce.strategies.search.reconstruction import user_noise
from sottovoce.strategies.search.starts import StartChannel
from sottovoce.workloads.base import Floats, Workload

__all__ = ["OBJECTIVES", "Optimized", "optimize"]

ROWS_PER_VALUE: Final = 4
"""Default number of reports per value; twice as many gain one or two per cent."""

MOST_STEPS: Final = 300
"""Default maximum number of steps."""

_STEPS_ALLOWED: Final = 10**6
_SETTLED: Final = 3e-4
"""The search ends when a stage improves by less than this fraction."""
_SPREAD: Final = 1.5
"""Standard deviation of random logits."""
_SOFT: Final = 3.0
"""Logits of the two levels of a known channel as a start."""


@dataclass(frozen=True, eq=False)
class Optimized:
    """A channel, the weights of its reconstruction, and its noise.

    Attributes
    ----------
    matrix
        The channel in integers, as devices use it.
    weights
        A distribution w over values; answers are reconstructed by A (Q^T D^-1 Q)^+ Q^T D^-1 with D = diag(Q w).
    worst, total
        Noise of one report, summed over queries: for the worst value, and on average over all values. Computed for the
        integers in `matrix`.
    best_analytic
        Name and objective of the best known mechanism with its own best reconstruction.
    lower_bound
        Lower bound on the objective for every mechanism.
    finished
        False if time ran out or the search was interrupted.
    """

    matrix: ChannelMatrix
    weights: Floats
    epsilon: float
    objective: str
    worst: float
    total: float
    best_analytic: tuple[str, float]
    lower_bound: float
    finished: bool

    @property
    def value(self) -> float:
        """The objective."""
        return self.worst if self.objective == "worst" else self.total


def optimize(
    workload: Workload,
    epsilon: float,
    *,
    objective: str = "worst",
    rows: int | None = None,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
    time_limit: float | None = None,
    steps: int | None = None,
    arrays: Callable[[Floats], Any] | None = None,
    cache: bool = True,
) -> Optimized:
    """Search for the channel that answers `workload` with the least noise (McKenna, Maity, Mazumdar, Miklau 2020).

    Parameters
    ----------
    workload
        The queries, over up to about two thousand values.
    epsilon
        The privacy parameter.
    objective
        "worst": the noise of the worst value; "total": the mean over all values.
    rows
        Number of different reports; by default four times the number of different values. Rows with vanishing
        probability are removed from the result.
    seed
        Of the random start.
    progress
        Called with the number of steps and the objective after each stage.
    time_limit
        Seconds after which the best so far is returned; so does an interrupt from the keyboard.
    steps
        Maximum number of steps, 300 by default; the search ends earlier when it no longer improves.
    arrays
        Moves NumPy arrays to the device of the search, such as `cupy.asarray`; NumPy by default.
    cache
        Whether finished results are stored in, and read from, the user's cache directory. Cached channels are verified
        and evaluated like any other.

    Returns
    -------
    Optimized
        Never worse than a known mechanism that fits into `rows`: randomized response, Hadamard response and its
        blocks, projective geometry response, subset selection, and the hierarchical, Haar and Fourier strategies.

    Raises
    ------
    SurveyError
        For parameters out of range.
    MechanismError
        If no channel exists: too many values, or an epsilon too small for 32-bit probabilities.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> optimized = optimize(Prefix(8), 1.0, cache=False)
    >>> optimized.lower_bound < optimized.worst < optimized.best_analytic[1]
    True
    """
    problem = problem_of(workload, check_epsilon(epsilon), objective)
    n_rows = _checked_rows(rows, workload.domain.size, len(problem.gram))
    number = check_integer("seed", seed, 0, 2**63 - 1)
    deadline = math.inf if time_limit is None else time.monotonic() + _checked_limit(time_limit)
    most = MOST_STEPS if steps is None else check_integer("steps", steps, 1, _STEPS_ALLOWED)
    known = known_channels(problem, workload, n_rows)
    if cache:
        from sottovoce.strategies.search.cache import load, store

        key = (workload.digest, problem.epsilon, objective, 0 if rows is None else int(rows), number, most)
        kept = load(key)
        if kept is not None and _is_no_worse(problem, *kept, known.best):
            return _result(workload, problem, *kept, known.best, finished=True)
    limits = Limits(most, deadline)
    with showing_steps("searching for a channel") as shown:

        def show(done: int, value: float) -> None:
            shown.say(f"searching for a channel: {value:#.4g} after {plural(done, 'step')}")

        best, finished = _search(problem, n_rows, number, known, progress or show, limits, arrays or np.asarray)
    result = _result(
        workload, problem, *_over_all_values(problem, _round_best(problem, best)), known.best, finished=finished
    )
    if cache and finished:
        store(key, result.matrix, result.weights)
    return result


def _checked_rows(rows: object, values: int, merged: int) -> int:
    largest = MAX_MATRIX_ENTRIES // values
    if merged > largest:
        raise MechanismError(
            f"a channel for {values:,} values cannot be searched: it needs at least {merged:,} reports and may have "
            f"{largest:,}; use another strategy"
        )
    if rows is None:
        return min(max(ROWS_PER_VALUE * merged, 2), largest)
    return check_integer("rows", rows, max(2, merged), largest)


def _checked_limit(seconds: object) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise SurveyError("time_limit must be a number of seconds above 0")
    return float(seconds)


class Limits(NamedTuple):
    """Limits of a search."""

    steps: int
    deadline: float

    @property
    def late(self) -> bool:
        """Whether time has run out."""
        return time.monotonic() >= self.deadline


def _search(
    problem: Problem,
    rows: int,
    seed: int,
    known: KnownChannels,
    progress: Callable[[int, float], None],
    limits: Limits,
    arrays: Callable[[Floats], Any],
) -> tuple[list[Candidate], bool]:
    """The best known channel and the one found, and whether the search finished."""
    if len(problem.gram) == 1:
        return [known.best], True
    from sottovoce.strategies.search.descent import ChannelSearch
    from sottovoce.strategies.search.objective import ChannelObjective

    rng = np.random.default_rng(seed)
    running: list[ChannelSearch] = []
    finished = False

    try:
        for logits, minima in _starting_points(problem, rows, known.starts, rng):
            here = [arrays(part) for part in (problem.gram, problem.shares, logits, minima)]
            goal = ChannelObjective(here[0], problem.epsilon, rows, here[1])
            running.append(ChannelSearch(goal, goal.state_of(here[2], here[3]), worst=problem.worst))
        finished = _descend(running, progress, limits)
        min(running, key=_value).sharpen()
    except KeyboardInterrupt:
        finished = False
    candidates = [known.best]
    best = min(running, key=_value).best if running else None
    if best is not None:
        minima, shares, weights = (_to_numpy(part) for part in (best.minima, best.shares, best.weights))
        channel = minima[:, None] * (1.0 + math.expm1(problem.epsilon) * shares)
        weights = problem.weigh(channel, weights)
        candidates.append(Candidate(problem.score(channel, weights), "searched", channel, weights))
    return candidates, finished


def _starting_points(
    problem: Problem, rows: int, starts: list[StartChannel], rng: np.random.Generator
) -> list[tuple[Floats, Floats]]:
    """Logits and row minima of the starts: random ones, and known channels with noise."""
    size = len(problem.gram)
    level = 2.0 / ((1.0 + math.exp(problem.epsilon)) * rows)
    points = [(_SPREAD * rng.standard_normal((rows, size)), np.full(rows, level))]
    for start in starts:
        marks, minima = start.padded(problem.epsilon, rows)
        logits = np.where(marks, _SOFT, -_SOFT) + 0.5 * rng.standard_normal((rows, size))
        points.append((logits, minima))
    return points


def _descend(running: list[Any], progress: Callable[[int, float], None], limits: Limits) -> bool:
    """One stage each, then the best alone until it converges; False if time ran out."""

    def stage(search: Any) -> bool:
        return bool(search.stage(lambda: limits.late or search.steps >= limits.steps))

    for search in running:
        stage(search)
    leader, before = min(running, key=_value), math.inf
    while True:
        value = _value(leader)
        progress(leader.steps, value)
        if limits.late:
            return False
        if leader.steps >= limits.steps or before - value <= _SETTLED * value:
            return True
        before = value
        if not stage(leader):
            return True


def _value(search: Any) -> float:
    return math.inf if search.best is None else float(search.best.value)


def _to_numpy(array: Any) -> Floats:
    """The array as a NumPy array."""
    with full_install:
        import array_api_compat

    return np.asarray(array_api_compat.to_device(array, "cpu"), dtype=np.float64)


class Rounded(NamedTuple):
    """A channel in integers over merged values, with its score."""

    score: float
    matrix: ChannelMatrix
    weights: Floats


def _round_best(problem: Problem, candidates: list[Candidate]) -> Rounded:
    """The best candidate in integers; those that cannot be rounded are skipped, unless none is left."""
    best, refused = None, None
    for candidate in sorted(candidates, key=lambda candidate: candidate.score):
        if best is not None and best.score <= candidate.score:
            break
        single = candidate.channel.shape[1] == 1
        try:
            matrix = quantise(candidate.channel[:, [0, 0]] if single else candidate.channel, problem.epsilon)
        except MechanismError as error:
            refused = error
            continue
        score = 0.0 if single else problem.score(matrix.integers / float(1 << matrix.bits), candidate.weights)
        if best is None or score < best.score:
            best = Rounded(score, matrix, candidate.weights)
    if best is None:
        raise refused or MechanismError("no channel was found")
    return best


def _over_all_values(problem: Problem, chosen: Rounded) -> tuple[ChannelMatrix, Floats]:
    """The channel and the weights over all values; merged values share a column."""
    counts = np.bincount(problem.member)
    matrix = ChannelMatrix(chosen.matrix.integers[:, problem.member], chosen.matrix.bits)
    return matrix, np.asarray((chosen.weights / counts)[problem.member])


def _is_no_worse(problem: Problem, matrix: ChannelMatrix, weights: Floats, known: Candidate) -> bool:
    """Whether a cached channel has these values and at most the noise of a known one."""
    if matrix.values != len(problem.full):
        return False
    noise = user_noise(matrix.integers / float(1 << matrix.bits), problem.full, weights)
    return bool((noise.max() if problem.worst else noise.mean()) <= known.score * (1 + 1e-4) + 1e-12)


def _result(
    workload: Workload,
    problem: Problem,
    matrix: ChannelMatrix,
    weights: Floats,
    known: Candidate,
    *,
    finished: bool,
) -> Optimized:
    """The result, with noise computed for the integers."""
    matrix.verify(problem.epsilon)
    noise = user_noise(matrix.integers / float(1 << matrix.bits), problem.full, weights)
    if not np.isfinite(noise).all():
        raise MechanismError(
            f"epsilon {problem.epsilon:g} is too small: rounded toward privacy, no channel determines these queries; "
            "use a larger epsilon, fewer rows or another strategy"
        )
    return Optimized(
        matrix=matrix,
        weights=weights,
        epsilon=problem.epsilon,
        objective="worst" if problem.worst else "total",
        worst=float(noise.max()),
        total=float(noise.mean()),
        best_analytic=(known.name, known.score),
        lower_bound=_lower_bound(workload, problem),
        finished=finished,
    )


def _lower_bound(workload: Workload, problem: Problem) -> float:
    from sottovoce.strategies.search.lower_bound import mean_variance_bound, worst_variance_bound

    if len(problem.gram) == 1:
        return 0.0
    if problem.worst:
        return worst_variance_bound(workload, problem.epsilon)
    return mean_variance_bound(workload, problem.epsilon)
