"""Every mechanism on the user's own data, and other packages beside it: error, size of a report, time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SimulationError
from sottovoce.experiments.distribution_error import seeds_of
from sottovoce.experiments.peers import Peer
from sottovoce.experiments.reproduce.repeats import check_repeats, mean_and_error
from sottovoce.mechanisms.registry import candidates
from sottovoce.survey import Survey

__all__ = ["PEER_PEOPLE", "Compared", "compare", "sampled"]

PEER_PEOPLE: Final = 20_000
"""People that everything answers for where other packages are compared: they are asked one by one, in Python."""

MOST_BITS: Final = 5e9
"""Bits that one mechanism may draw for its row, a minute's work; only reports as long as the domain come to more."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """What one mechanism did with the data, on average over the repeats.

    Attributes
    ----------
    l2, l2_standard_error
        Distance of the projected estimate from the shares in the data themselves.
    l2_raw
        The same before projecting; None for other packages.
    largest
        The largest error of one value's share, projected.
    report_bytes
        None for other packages, which have no format to send.
    seconds
        For everybody's report, counting and estimating, once.
    problem
        Why there is no figure: another package failed, or reports are so long that all of them would take hours.
    """

    package: str
    mechanism: str
    epsilon: float
    people: int
    values: int
    repeats: int
    l2: float | None = None
    l2_standard_error: float | None = None
    l2_raw: float | None = None
    largest: float | None = None
    report_bytes: int | None = None
    seconds: float | None = None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A row of the table."""
        return asdict(self)


def sampled(values: Integers, people: int | None, seed: int) -> Integers:
    """At most that many of the people, without replacement; the same for a seed."""
    if people is None or people >= len(values):
        return values
    if people < 1:
        raise SimulationError(f"sample is {people}: it must hold one person or more; leave it out to take everybody")
    return np.random.default_rng(seed).choice(values, size=people, replace=False)


def compare(
    values: Integers,
    size: int,
    epsilons: Sequence[float],
    *,
    peers: Sequence[Peer] = (),
    repeats: int = 10,
    seed: int = 7,
    advance: Callable[[int], object] = lambda done: None,
) -> tuple[Compared, ...]:
    """Let the people randomize their values `repeats` times with each mechanism; the data stay what they are.

    Parameters
    ----------
    values
        Everybody's value, as an index below `size`.
    advance
        Called with 1 for each mechanism done at each epsilon.

    Examples
    --------
    >>> people = np.random.default_rng(1).integers(0, 8, size=5000)
    >>> found = compare(people, 8, [1.0], repeats=3)
    >>> min(found, key=lambda one: one.l2).package, len(found)
    ('sottovoce', 7)
    """
    check_repeats(repeats)
    counts = np.bincount(values, minlength=size)
    truth = counts / len(values)
    found = []
    for epsilon in dict.fromkeys(epsilons):
        for mechanism in candidates(size, epsilon):
            survey = Survey.distribution(size, epsilon, mechanism.name)
            found.append(_ours(survey, counts, truth, repeats, seed))
            advance(1)
        for peer in peers:
            found.append(_theirs(peer, values, truth, epsilon, repeats))
            advance(1)
    return tuple(found)


def _ours(survey: Survey, counts: Integers, truth: Floats, repeats: int, seed: int) -> Compared:
    people, bits = int(counts.sum()), survey.mechanism.report_bits
    about = ("sottovoce", survey.mechanism.name, survey.epsilon, people, len(truth), repeats)
    if people * bits * repeats > MOST_BITS:
        fewer = int(MOST_BITS // (bits * repeats))
        return Compared(*about, report_bytes=survey.mechanism.report_bytes, problem=f"left out above {fewer:,} people")
    # Compiling and filling caches is no part of anybody's time.
    survey.estimate(survey.simulate_aggregate(histogram=(np.arange(len(counts)) < 2).astype(np.int64), seed=seed))
    projected, raw, largest = [], [], []
    seconds = 0.0
    for report_seed in seeds_of(seed, repeats):
        began = time.perf_counter()
        estimate = survey.estimate(survey.simulate_aggregate(histogram=counts, seed=report_seed))
        seconds += time.perf_counter() - began
        projected.append(float(np.linalg.norm(estimate.values - truth)))
        raw.append(float(np.linalg.norm(estimate.raw - truth)))
        largest.append(float(np.abs(estimate.values - truth).max()))
    mean, error = mean_and_error(projected)
    return Compared(
        *about,
        l2=mean,
        l2_standard_error=error,
        l2_raw=float(np.mean(raw)),
        largest=float(np.mean(largest)),
        report_bytes=survey.mechanism.report_bytes,
        seconds=seconds / repeats,
    )


def _theirs(peer: Peer, values: Integers, truth: Floats, epsilon: float, repeats: int) -> Compared:
    errors, largest = [], []
    seconds = 0.0
    about = (peer.package, peer.mechanism, epsilon, len(values), len(truth), repeats)
    try:
        for _ in range(repeats):
            began = time.perf_counter()
            estimate = peer.estimate(values, len(truth), epsilon)
            seconds += time.perf_counter() - began
            errors.append(float(np.linalg.norm(estimate - truth)))
            largest.append(float(np.abs(estimate - truth).max()))
    except Exception as error:  # whatever another package raises is a row of the table, not the end of it
        return Compared(*about, problem=f"it raised {type(error).__name__}")
    mean, spread = mean_and_error(errors)
    return Compared(
        *about,
        l2=mean,
        l2_standard_error=spread,
        largest=float(np.mean(largest)),
        seconds=seconds / repeats,
    )
