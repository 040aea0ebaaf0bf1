"""What the paper claims of its algorithms, and what is so: each figure computed, none copied."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sottovoce.audit.published import (
    audit_published_gaussian,
    audit_published_rejection,
    gaussian_true_delta,
    rejection_bad_region,
    rejection_bias_factor,
    rejection_impossible_mass,
)
from sottovoce.projections import project_simplex
from sottovoce.theory.bounds import debias, projected_distribution_bound, theorem_4_2
from sottovoce.theory.offline_bounds import theorem_3_4

__all__ = ["Finding", "findings"]


@dataclass(frozen=True)
class Finding:
    """A printed claim beside the figure that is so, at one setting."""

    where: str
    claim: str
    printed: float
    found: float
    setting: str
    stands: bool
    how: str

    def to_dict(self) -> dict[str, Any]:
        """A row of the table of findings."""
        return asdict(self)


def findings(epsilon: float = 1.0, users: int = 10**6, delta: float = 1e-5, *, seed: int = 0) -> tuple[Finding, ...]:
    """Every claim that was checked, those that stand too.

    Examples
    --------
    >>> [finding.where for finding in findings() if finding.stands]
    ['Theorem 4.2, few people', 'Theorem 4.2, many people']
    """
    at = f"epsilon {epsilon:g}, n = {users:,}"
    return (
        *_gaussian(epsilon, delta, seed),
        *_rejection(epsilon, users, at, seed),
        *_distribution(epsilon, seed),
    )


def _gaussian(epsilon: float, delta: float, seed: int) -> tuple[Finding, ...]:
    at = f"epsilon {epsilon:g}, delta {delta:g}"
    true = gaussian_true_delta(epsilon, delta)
    sampled = audit_published_gaussian(epsilon, delta, samples=2_000_000, seed=seed)
    return (
        Finding("Theorem 3.1", "delta of the Gaussian randomizer", delta, true, at, true <= delta, "exact account"),
        Finding(
            "Theorem 3.1",
            "epsilon of the Gaussian randomizer",
            epsilon,
            sampled.certified_lower_bound,
            at,
            sampled.sound,
            "at least, from 2,000,000 samples of the printed algorithm; wrong with probability 1e-9",
        ),
    )


def _rejection(epsilon: float, users: int, at: str, seed: int) -> tuple[Finding, ...]:
    sampled = audit_published_rejection(epsilon, users, samples=200_000, seed=seed)
    bias = 1 - rejection_bias_factor(epsilon, users)
    promised = theorem_3_4(1, 2, 1.0, epsilon, users).value
    mass, bad = rejection_impossible_mass(epsilon, users), rejection_bad_region(epsilon, users)
    return (
        Finding(
            "Theorem 3.3",
            "epsilon of the rejection sampler",
            epsilon,
            sampled.exact_epsilon,
            at,
            sampled.sound,
            "exact: what is sent under one value can be impossible under another",
        ),
        Finding("Theorem 3.3", "mass that tells two values apart for certain", 0.0, mass, at, mass <= 0, "exact"),
        Finding("Theorem 3.3", "probability of the bad region", 2 / users**2, bad, at, bad <= 2 / users**2, "exact"),
        Finding(
            "Theorem 3.4",
            "error where everybody has one column, d = 1",
            promised,
            bias,
            at,
            bias <= promised,
            "the bias alone, exact",
        ),
    )


def _distribution(epsilon: float, seed: int) -> tuple[Finding, ...]:
    """The bound stands with room; one step of its proof does not."""
    rows = []
    for words, values, users in (("few people", 2**16, 10**5), ("many people", 256, 10**6)):
        c = debias(epsilon)
        ours = projected_distribution_bound(values, c**2, c**2 * values, users).value
        printed = theorem_4_2(values, epsilon, users).value
        rows.append(
            Finding(
                f"Theorem 4.2, {words}",
                "bound on the L2 error of projected Hadamard Response",
                printed,
                ours,
                f"epsilon {epsilon:g}, J = {values:,}, n = {users:,}",
                ours <= printed,
                "proved with smaller constants",
            )
        )
    share = _violated(seed)
    claim = "draws in which projecting on the simplex is worse than on the L1 ball"
    rows.append(Finding("Theorem 4.2, its proof", claim, 0.0, share, "J = 8, 2,000 draws", share <= 0, "simulated"))
    return tuple(rows)


def _violated(seed: int, draws: int = 2000, values: int = 8) -> float:
    """How often the nearest distribution is farther from the truth than the nearest point of the L1 ball."""
    rng = np.random.default_rng(seed)
    worse = 0
    for _ in range(draws):
        truth = rng.dirichlet(np.full(values, 0.5))
        raw = truth + rng.normal(scale=0.5, size=values)
        on_simplex, in_ball = project_simplex(raw).values, _nearest_in_l1_ball(raw)
        worse += bool(np.linalg.norm(on_simplex - truth) > np.linalg.norm(in_ball - truth) + 1e-12)
    return worse / draws


def _nearest_in_l1_ball(raw: Any) -> Any:
    """By the simplex: the signs stay, the sizes are projected where they sum to more than one."""
    sizes = np.abs(raw)
    return raw if math.fsum(sizes) <= 1 else np.sign(raw) * project_simplex(sizes).values
