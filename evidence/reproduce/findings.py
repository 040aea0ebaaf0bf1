"""What the paper claims of its algorithms, and what is so: each figure computed, none copied."""

from __future__ import annotations

from evidence.reproduce.finding import Finding
from evidence.reproduce.findings_accuracy import (
    adaptive,
    distribution,
    gaussian_errors,
    geometry,
    rejection_errors,
)
from evidence.reproduce.findings_privacy import gaussian, rejection

__all__ = ["findings"]


def findings(epsilon: float = 1.0, users: int = 10**6, delta: float = 1e-5, *, seed: int = 0) -> tuple[Finding, ...]:
    """Every claim that was checked, those that stand too. What is expected of them is so at the numbers above.

    Examples
    --------
    >>> sorted({finding.where for finding in findings() if not finding.stands})
    ['Theorem 3.1', 'Theorem 3.2', 'Theorem 3.3', 'Theorem 3.4', 'Theorem 4.2, its proof', 'Theorem 5.2, its proof']
    """
    return (
        *geometry(),
        *gaussian(epsilon, delta, seed),
        *gaussian_errors(epsilon, seed),
        *rejection(epsilon, users, seed),
        *rejection_errors(epsilon, users),
        *distribution(epsilon, seed),
        *adaptive(epsilon, users, seed),
    )
