"""How far distribution estimates are from the truth, measured on simulated people."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SimulationError
from sottovoce.estimate import Estimate
from sottovoce.limits import check_domain_size
from sottovoce.populations.distributions import frequencies
from sottovoce.simulation import Seed, histogram_of
from sottovoce.survey import Survey
from sottovoce.theory.bounds import theorem_4_2

__all__ = ["MAX_USERS", "Errors", "MeasuredError", "check_users", "measure", "seeds_of"]

Floats = NDArray[np.float64]

MAX_USERS = 2**53
"""Counts up to this are exact in the collector's floating point."""

MAX_REPEATS = 1_000_000


@dataclass(frozen=True)
class Errors:
    """Distances of one estimate, or on average over several, from the true distribution."""

    l2_raw: float
    l2_projected: float
    linf_raw: float
    linf_projected: float

    @staticmethod
    def of(estimate: Estimate, truth: Floats) -> Errors:
        """The distances of one estimate."""
        raw, projected = estimate.raw - truth, estimate.values - truth
        return Errors(
            float(np.linalg.norm(raw)),
            float(np.linalg.norm(projected)),
            float(np.abs(raw).max()),
            float(np.abs(projected).max()),
        )


@dataclass(frozen=True)
class MeasuredError:
    """What `measure` found, beside what theory says about it.

    Attributes
    ----------
    mean, standard_error
        Over the repeats; no standard error from a single one.
    l2_bound
        What the expected L2 error of the projected estimate stays below, for every distribution.
    l2_bound_paper
        The same as Bassily 2019, Theorem 4.2, prints it, for projected Hadamard Response.
    l2_raw_predicted
        Root mean square of the raw estimate's L2 error at this very distribution, from the exact variance.
    seconds
        For one repeat, on average.
    """

    mechanism: str
    domain_size: int
    users: int
    epsilon: float
    distribution: str
    repeats: int
    seed: int
    mean: Errors
    standard_error: Errors | None
    l2_bound: float
    l2_bound_paper: float
    l2_raw_predicted: float
    report_bits: int
    report_bytes: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, the mean errors at the top level."""
        flat = asdict(self)
        mean, spread = flat.pop("mean"), flat.pop("standard_error")
        return {**flat, **mean, "standard_errors": spread}


def measure(
    domain_size: int,
    users: int,
    epsilon: float,
    mechanism: str = "auto",
    distribution: str = "zipf",
    *,
    repeats: int = 1,
    seed: Seed = None,
    progress: Callable[[int], object] | None = None,
) -> MeasuredError:
    """Draw people from a true distribution, let them report, estimate, and compare; `repeats` times.

    Errors are against the true distribution, so they include the sampling of people. Memory does not
    grow with the number of people.

    Parameters
    ----------
    distribution
        "zipf", "uniform", "geometric", or the name of a file; see `sottovoce.populations.distributions`.
    seed
        For the same people and reports again; a fresh one, told in the result, unless given.
    progress
        Called with the number of people done since its last call; in all there are `users * repeats`.

    Examples
    --------
    >>> found = measure(16, 50_000, 2.0, "hadamard", repeats=3, seed=1)
    >>> found.mean.l2_projected <= found.mean.l2_raw
    True
    """
    survey = Survey.distribution(check_domain_size(domain_size), epsilon, mechanism)
    users, repeats = check_users(users), _check_count("repeats", repeats, MAX_REPEATS)
    seed = secrets.randbits(32) if seed is None else seed
    seeds = seeds_of(seed, 2 * repeats)
    truth = frequencies(distribution, domain_size)
    began = time.perf_counter()
    found: list[Errors] = []
    bound = 0.0
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        people = histogram_of(truth, users, people_seed)
        estimate = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed, progress=progress))
        found.append(Errors.of(estimate, truth))
        bound = estimate.bound.value
    seconds = (time.perf_counter() - began) / repeats
    mean, standard_error = _summarised(found)
    chosen = survey.mechanism
    return MeasuredError(
        mechanism=chosen.name,
        domain_size=domain_size,
        users=users,
        epsilon=survey.epsilon,
        distribution=distribution,
        repeats=repeats,
        seed=int(seed),
        mean=mean,
        standard_error=standard_error,
        l2_bound=bound,
        l2_bound_paper=theorem_4_2(domain_size, survey.epsilon, users).value,
        l2_raw_predicted=chosen.expected_l2(users, truth),
        report_bits=chosen.report_bits,
        report_bytes=chosen.report_bytes,
        seconds=seconds,
    )


def check_users(users: object) -> int:
    """Return `users` as an int if that many people can be simulated."""
    return _check_count("the number of people", users, MAX_USERS)


def _check_count(name: str, number: object, largest: int) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 1 <= number <= largest:
        raise SimulationError(f"{name} must be an integer from 1 to {largest:,}, for example 1000")
    return int(number)


def seeds_of(seed: int, number: int) -> list[int]:
    """Independent seeds, always the same ones for a seed."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise SimulationError("seed must be a non-negative integer, or left out for a fresh one")
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(number, np.uint64)]


def _summarised(found: list[Errors]) -> tuple[Errors, Errors | None]:
    table = np.array([list(asdict(errors).values()) for errors in found])
    mean = Errors(*table.mean(axis=0).tolist())
    if len(found) == 1:
        return mean, None
    return mean, Errors(*(table.std(axis=0, ddof=1) / np.sqrt(len(found))).tolist())
