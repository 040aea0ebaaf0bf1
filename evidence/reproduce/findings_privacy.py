"""Theorems 3.1 and 3.3: the privacy of the paper's offline randomizers, as printed."""

from __future__ import annotations

from evidence.published.audit import (
    audit_published_gaussian,
    audit_published_rejection,
    gaussian_true_delta,
    gaussian_true_epsilon,
    rejection_bad_region,
    rejection_impossible_mass,
)
from evidence.reproduce.finding import Finding

__all__ = ["gaussian", "rejection"]

_SAMPLES = 2_000_000


def gaussian(epsilon: float, delta: float, seed: int) -> tuple[Finding, ...]:
    """Theorem 3.1: the sensitivity is twice what the proof takes."""
    at = f"epsilon {epsilon:g}, delta {delta:g}"
    true_delta, true_epsilon = gaussian_true_delta(epsilon, delta), gaussian_true_epsilon(epsilon, delta)
    sampled = audit_published_gaussian(epsilon, delta, samples=_SAMPLES, seed=seed)
    exact = "exact (Balle and Wang 2018)"
    certified = (
        f"{exact}; at least {sampled.certified_lower_bound:.3g} from {_SAMPLES:,} samples of the printed algorithm, "
        f"wrong with probability {sampled.alpha:g}"
    )
    return (
        Finding(
            "Theorem 3.1", "delta of the Gaussian randomizer", delta, true_delta, at, true_delta <= delta, exact, False
        ),
        Finding(
            "Theorem 3.1",
            "epsilon of the Gaussian randomizer",
            epsilon,
            true_epsilon,
            at,
            true_epsilon <= epsilon,
            certified,
            False,
        ),
    )


def rejection(epsilon: float, users: int, seed: int) -> tuple[Finding, ...]:
    """Theorem 3.3: what is sent tells values apart."""
    at = f"epsilon {epsilon:g}, n = {users:,}"
    sampled = audit_published_rejection(epsilon, users, samples=200_000, seed=seed)
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
            False,
        ),
        Finding(
            "Theorem 3.3", "mass that tells two values apart for certain", 0.0, mass, at, mass <= 0, "exact", False
        ),
        Finding(
            "Theorem 3.3", "probability of the bad region", 2 / users**2, bad, at, bad <= 2 / users**2, "exact", False
        ),
    )
