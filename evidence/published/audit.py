"""What the paper's offline protocols really give, as printed (Alg. 1 and 3), and what their proofs overlook.

Every figure here is a normal probability in closed form; each audit adds a certified lower bound from draws of the
printed algorithm itself. Throughout r = 1: nothing depends on the radius.
"""

from __future__ import annotations

import math

import numpy as np

from evidence.published import gaussian, rejection
from sottovoce.auditing.empirical import _bound
from sottovoce.auditing.result import AuditResult
from sottovoce.theory.calibration import analytic_gaussian_delta, analytic_gaussian_epsilon

__all__ = [
    "audit_published_gaussian",
    "audit_published_rejection",
    "gaussian_true_delta",
    "gaussian_true_epsilon",
    "rejection_bad_region",
    "rejection_bias_factor",
    "rejection_bound_fails_below",
    "rejection_impossible_mass",
]

_SAMPLES = 4_000_000
_AT_ONCE = 1 << 18


def _below(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gaussian_true_delta(epsilon: float, delta: float) -> float:
    """The exact delta, at the claimed epsilon, of Algorithm 1's noise between columns 2r apart.

    Examples
    --------
    >>> f"{gaussian_true_delta(1.0, 1e-5):.3g}", f"{gaussian_true_delta(1.0, 1e-9):.3g}"
    ('0.00144', '7.05e-05')
    """
    return analytic_gaussian_delta(gaussian.printed_sigma(epsilon, delta), 2.0, epsilon)


def gaussian_true_epsilon(epsilon: float, delta: float) -> float:
    """The exact epsilon, at the claimed delta, of Algorithm 1's noise between columns 2r apart.

    Examples
    --------
    >>> round(gaussian_true_epsilon(1.0, 1e-5), 3)
    1.576
    """
    return analytic_gaussian_epsilon(gaussian.printed_sigma(epsilon, delta), 2.0, delta)


def audit_published_gaussian(
    epsilon: float = 1.0, delta: float = 1e-5, *, samples: int = _SAMPLES, alpha: float = 1e-9, seed: int | None = None
) -> AuditResult:
    """Algorithm 1 against its Theorem 3.1: unsound, by the exact account of Balle and Wang (2018).

    Its sigma is loose where epsilon is tiny, and there by chance suffices (below 0.011 at delta 1e-5).

    Examples
    --------
    >>> result = audit_published_gaussian(1.0, 1e-5, samples=10_000, seed=1)
    >>> result.sound, round(result.exact_epsilon, 3)
    (False, 1.576)
    """
    true_delta, true_epsilon = gaussian_true_delta(epsilon, delta), gaussian_true_epsilon(epsilon, delta)
    sigma = gaussian.printed_sigma(epsilon, delta)
    # The event {y > cut} is chosen by the formula, before anything is drawn, so every draw may certify it.
    cut = max(np.linspace(-1, 1 + 4 * sigma, 200), key=lambda c: _foreseen(float(c), sigma, samples, delta, alpha))
    rng = np.random.default_rng(seed)

    def hits(column: float) -> int:
        batches = (np.full((size, 1), column) for size in _batches(samples))
        return sum(int((gaussian.randomize_many(b, epsilon, delta, rng) > cut).sum()) for b in batches)

    certified = _bound(hits(1.0), hits(-1.0), samples, samples, delta, alpha)
    return AuditResult(
        mechanism="published_gaussian",
        epsilon=epsilon,
        delta=delta,
        domain_size=2,
        exact_epsilon=true_epsilon,
        certified_lower_bound=max(0.0, certified),
        alpha=alpha,
        verdict="proved" if true_delta <= delta else "broken",
        method="exact delta of Gaussian noise (Balle and Wang 2018) at the sensitivity 2r",
        witness=f"columns r e and -r e: at epsilon {epsilon:g} the delta is {true_delta:.3g} where {delta:g} is "
        f"claimed; at delta {delta:g} the epsilon is {true_epsilon:.4g}",
    )


def _foreseen(cut: float, sigma: float, samples: int, delta: float, alpha: float) -> float:
    """The bound that the event {y > cut} gives when it happens as often as expected for columns 1 and -1."""
    first, second = (int(samples * _below((column - cut) / sigma)) for column in (1, -1))
    return _bound(first, second, samples, samples, delta, alpha)


def _batches(samples: int) -> list[int]:
    return [min(_AT_ONCE, samples - start) for start in range(0, samples, _AT_ONCE)]


def _ends(epsilon: float, people: int) -> tuple[float, float, float]:
    """s = r/sigma, and the ends of the good region in t = <a, y>/(r sigma), for a column of norm r."""
    s = 1 / rejection.printed_sigma(epsilon, people)
    return s, s / 2 - epsilon / (4 * s), s / 2 + epsilon / (4 * s)


def rejection_bad_region(epsilon: float, people: int) -> float:
    """P(y outside the good region) for a column of norm r; the paper's proofs claim at most 2/n^2.

    Examples
    --------
    >>> round(rejection_bad_region(1.0, 10**6), 3)
    0.064
    """
    _, low, high = _ends(epsilon, people)
    return _below(low) + _below(-high)


def _sent(epsilon: float, people: int) -> float:
    """P(y is sent) for a column of norm r: half the probability that N(a, sigma^2 I) falls into the good region."""
    s, low, high = _ends(epsilon, people)
    return 0.5 * (_below(high - s) - _below(low - s))


def rejection_impossible_mass(epsilon: float, people: int) -> float:
    """P(y is sent under v and could not be under v'), for orthogonal columns of norm r: a floor of every delta.

    Examples
    --------
    >>> round(rejection_impossible_mass(1.0, 10**6), 4)
    0.0298
    """
    return _sent(epsilon, people) * rejection_bad_region(epsilon, people)


def rejection_bias_factor(epsilon: float, people: int) -> float:
    """E[y | sent] = factor times the column, for a column of norm r; the paper's proof needs 1.

    Examples
    --------
    >>> round(rejection_bias_factor(1.0, 10**6), 3)
    0.859
    """
    s, low, high = _ends(epsilon, people)
    return 1 + (_density(low - s) - _density(high - s)) / (s * 2 * _sent(epsilon, people))


def rejection_bound_fails_below(epsilon: float, people: int) -> float:
    """Theorem 3.4's sqrt(10 d log n/(n eps^2)) r is below the bias when all share one column and d is below this.

    Examples
    --------
    >>> round(rejection_bound_fails_below(1.0, 10**6))
    144
    """
    bias = 1 - rejection_bias_factor(epsilon, people)
    return bias**2 * people * epsilon**2 / (10 * math.log(people))


def audit_published_rejection(
    epsilon: float = 1.0, people: int = 10**6, *, samples: int = _SAMPLES, alpha: float = 1e-9, seed: int | None = None
) -> AuditResult:
    """Algorithm 3 against its Theorem 3.3: unsound, for its output set depends on the value.

    With orthogonal columns a and a', the set of y that are good for a and not for a' is sent under a with the mass
    that `rejection_impossible_mass` gives, and never under a': delta is at least that mass at every epsilon.

    Examples
    --------
    >>> result = audit_published_rejection(1.0, 10**6, samples=10_000, seed=1)
    >>> result.sound, result.exact_epsilon, result.certified_lower_bound > 1
    (False, inf, True)
    """
    mass = rejection_impossible_mass(epsilon, people)
    sigma = rejection.printed_sigma(epsilon, people)
    rng = np.random.default_rng(seed)

    def hits(column: int) -> int:
        """How many of `samples` are sent although the second column's owner never could."""
        found = 0
        for size in _batches(samples):
            y, sent = rejection.randomize_many(np.tile(np.eye(2)[column], (size, 1)), epsilon, people, rng)
            impossible = np.abs((y[:, 1] - 0.5) / sigma**2) > epsilon / 4
            found += int((sent & impossible).sum())
        return found

    first, second = hits(0), hits(1)
    return AuditResult(
        mechanism="published_rejection",
        epsilon=epsilon,
        delta=0.0,
        domain_size=2,
        exact_epsilon=math.inf,
        certified_lower_bound=max(0.0, _bound(first, second, samples, samples, 0.0, alpha)),
        alpha=alpha,
        verdict="broken",
        method="an explicit set of outputs: sent under one value, impossible under the other",
        witness=f"columns r e1 and r e2, vectors good for the first and not for the second: mass {mass:.4g} against 0, "
        f"so delta is at least {mass:.4g} at every epsilon",
    )
