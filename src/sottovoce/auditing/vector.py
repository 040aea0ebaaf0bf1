"""Is a vector mechanism private? Exact given the public randomness, and from the integers that decide.

A vector domain cannot be listed, so each mechanism is audited through the few integers its privacy rests on: real
device code is run on adverse vectors, those integers are read off it, and the guarantee is recomputed from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.binary import binary_ratio
from sottovoce.auditing.codebook import ROTATIONS, codebook_ratio, marks
from sottovoce.auditing.empirical import certify
from sottovoce.auditing.result import AuditResult
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.vector import VectorMechanism, clip_to_ball
from sottovoce.randomness import ONE, ByteSource, epsilon_of, os_source, within_epsilon
from sottovoce.theory.calibration import zcdp_epsilon

__all__ = ["AUDITS", "adverse_vectors", "audit_vector"]

SEEDS = 200
"""Public seeds for which all pairs of adverse vectors are compared."""

NOISE_ALARM = 1e-10
"""Chance that noise of the stated law is taken for another, in one audit."""

HOSTILE_FLOATS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, 40.0, -40.0, 1e16, -1e16)
"""What a broken or hostile inner product could be."""


def audit_vector(mechanism: VectorMechanism, *, samples: int = 1000, alpha: float = 1e-9) -> AuditResult:
    """Audit one vector mechanism.

    Parameters
    ----------
    samples
        Real device reports of each of two opposite vectors, from which the lower bound is certified.
    alpha
        Chance that the certified lower bound is wrong.

    Examples
    --------
    >>> result = audit_vector(Rejection.best(3, 1.0, 1.0, 0.0, 1000), samples=100)
    >>> result.sound, round(result.exact_epsilon, 6)
    (True, 1.0)
    """
    found = next((audit for kind, audit in AUDITS.items() if isinstance(mechanism, kind)), None)
    if found is None:
        raise MechanismError(f"{mechanism.name} cannot be audited: it has no audit, or never runs on a device")
    return found(mechanism, samples, alpha)


def adverse_vectors(mechanism: VectorMechanism) -> list[Floats]:
    """Corners, the centre, dense and random points of the ball, and vectors that are not in it at all."""
    d, r = mechanism.dimension, mechanism.radius
    rng = np.random.default_rng(0)
    first, last, dense = np.eye(d)[0], np.eye(d)[-1], np.full(d, 1 / math.sqrt(d))
    inside = [r * first, -r * first, r * last, r * dense, -r * dense, 0.0 * first, r / 2 * first, 5e-324 * first]
    random = [r * clip_to_ball(rng.standard_normal(d), 1.0) * share for share in (1.0, 1.0, 0.3)]
    outside = [1e300 * first, np.full(d, 1e200), r * (1 + 1e-12) * dense, np.full(d, np.nan), np.full(d, -np.inf)]
    return [*inside, *random, *outside]


def _certified(
    mechanism: VectorMechanism,
    samples: int,
    alpha: float,
    stated: Callable[[bytes, int], float],
) -> float:
    """A lower bound on epsilon from device reports of r e and -r e (values 0 and 1)."""
    source = os_source()
    return certify(
        lambda value: mechanism.encode(mechanism.randomize(_opposite(mechanism, value), source)),
        [(0, 1)],
        samples=samples,
        delta=mechanism.delta,
        alpha=alpha,
        stated=stated,
    ).lower_bound


def _opposite(mechanism: VectorMechanism, value: int) -> Floats:
    vector = np.zeros(mechanism.dimension)
    vector[0] = mechanism.radius * (1 - 2 * value)
    return vector


class _SeedThenThreshold:
    """A source that hands out one seed and one answer, and notes the threshold that the device compares with."""

    def __init__(self, seed: int, answer: bool) -> None:
        self._seed, self._answer = seed, answer
        self.threshold = -1

    def below(self, n: int) -> int:
        return self._seed

    def bernoulli(self, threshold: int) -> bool:
        self.threshold = threshold
        return self._answer


def _threshold(mechanism: Rejection, vector: Floats, seed: int, answer: bool = False) -> int:
    """What the device compares with; -1, which no sound one does, where it sends another seed or bit than was drawn."""
    source = _SeedThenThreshold(seed, answer)
    sent = mechanism.codec.decode(mechanism.encode(mechanism.randomize(vector, source)))
    return source.threshold if sent == (seed, int(answer)) else -1


def worst_bit_ratio(thresholds: Iterable[int]) -> Fraction | None:
    """The largest ratio of two chances of the same bit, for chances out of 2**64; None when it is infinite.

    Examples
    --------
    >>> worst_bit_ratio([2**62, 2**63])
    Fraction(2, 1)
    """
    known = list(thresholds)
    low, high = min(known), max(known)
    if low <= 0 or high >= ONE:
        return None
    return max(Fraction(high, low), Fraction(ONE - low, ONE - high))


def _audit_rejection(mechanism: VectorMechanism, samples: int, alpha: float) -> AuditResult:
    """All pairs of adverse vectors for many seeds, then every value a broken inner product could take.

    The seed's law does not depend on the vector, and the device must send the seed and the bit that were drawn, so the
    ratio of two reports' chances is that of their bits given the seed. Thresholds between `lowest` and `highest` imply
    the guarantee for all vectors, seeds and float errors.
    """
    m = cast(Rejection, mechanism)
    vectors = adverse_vectors(m)
    seeds = np.random.default_rng(1).integers(0, ONE - 1, size=SEEDS, dtype=np.uint64, endpoint=True).tolist()
    per_seed = [[_threshold(m, vector, seed, i % 2 == 0) for vector in vectors] for i, seed in enumerate(seeds)]
    everything = [number for row in per_seed for number in row] + [m.threshold(x) for x in HOSTILE_FLOATS]
    ratios = [worst_bit_ratio(row) for row in per_seed]
    ratio = worst_bit_ratio([*everything, m.lowest, m.highest])
    found = max((epsilon_of(r) if r is not None else math.inf for r in ratios), default=0.0)

    def stated(payload: bytes, value: int) -> float:
        seed, bit = m.codec.decode(payload)
        chance = _threshold(m, _opposite(m, value), seed)
        return math.log(max(1, chance if bit else ONE - chance))

    certified = _certified(m, samples, alpha, stated)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=m.delta,
        domain_size=len(vectors),
        exact_epsilon=math.inf if ratio is None else epsilon_of(ratio),
        certified_lower_bound=certified,
        alpha=alpha,
        sound=ratio is not None and within_epsilon(ratio, m.epsilon) and certified <= m.epsilon,
        method=f"integer bounds of the bit's chance, kept by the device code for {SEEDS} seeds and any inner product",
        witness=f"largest epsilon found over all pairs of {len(vectors)} vectors and {SEEDS} seeds: {found:.6g}",
    )


def _audit_gaussian(mechanism: VectorMechanism, samples: int, alpha: float) -> AuditResult:
    """Sensitivity in integers over adverse vectors, noise that ignores the vector, and delta recomputed upward.

    That the noise has its stated law is looked at in draws of it, since the outcomes cannot be counted out.
    """
    m = cast(Gaussian, mechanism)
    vectors = adverse_vectors(m)
    grids = [_on_grid(m, vector) for vector in vectors]
    longest = max(sum(number * number for number in grid) for grid in grids)
    noises = {
        tuple(np.subtract(m.randomize(vector, ByteSource(np.random.default_rng(2).bytes)), grid).tolist())
        for vector, grid in zip(vectors, grids, strict=True)
    }
    draws = max(40, min(samples, 40_000 // m.dimension))
    as_stated = _noise_is_as_stated(m, draws)
    rho = Fraction(4 * max(m.steps**2, longest), 2 * m.noise_variance)
    epsilon = zcdp_epsilon(float(rho), m.delta)

    def stated(payload: bytes, value: int) -> float:
        away = np.subtract(m.codec.decode(payload), _on_grid(m, _opposite(m, value))).astype(np.float64)
        return -float(away @ away) / (2 * m.noise_variance)

    certified = _certified(m, draws, alpha, stated)
    kept = as_stated and longest <= m.steps**2 and len(noises) == 1 and m.delta_upper <= Fraction(m.delta)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=m.delta,
        domain_size=len(vectors),
        exact_epsilon=epsilon,
        certified_lower_bound=certified,
        alpha=alpha,
        sound=kept and certified <= m.epsilon,
        method="integer sensitivity 2r/g and the zCDP account of the discrete Gaussian, rounded up",
        witness=f"largest squared norm on the grid {longest}, allowed {m.steps**2}; delta {float(m.delta_upper):.6g} "
        f"at epsilon {m.epsilon:g}, stated {m.delta:g}",
    )


def _noise_is_as_stated(mechanism: Gaussian, draws: int) -> bool:
    """Whether draws of the device's noise are as large as stated, in every direction, and of the stated shape.

    n draws of a coordinate have a sum of squares over the variance that is chi-squared with n degrees of freedom, as
    far as matters: no integer's chance is above the rounded normal's by more than a factor 1 + 1/(24 variance), and
    the variance is 2**20 or more. In d independent coordinates the least singular value of the n by d draws is above
    sqrt(n) - sqrt(d) - t but with chance exp(-t^2/2) (Davidson and Szarek 2001, Thm II.13), which finds a coordinate
    that others give away. The pooled draws' distribution is nowhere further than sqrt(log(2/a)/(2 n)) from the normal
    one but with chance a (Massart 1990). Each of these gets a third of `NOISE_ALARM`.
    """
    from scipy.special import ndtr
    from scipy.stats import chi2

    d, source, alarm = mechanism.dimension, os_source(), NOISE_ALARM / 3
    raw = np.array([mechanism.randomize(np.zeros(d), source) for _ in range(draws)], dtype=np.float64)
    noise = raw / math.sqrt(mechanism.noise_variance)
    squares, each = (noise**2).sum(axis=0), alarm / (d + 1)
    large = squares.min() >= chi2.ppf(each, draws) and squares.sum() >= chi2.ppf(each, noise.size)
    least = math.sqrt(draws) - math.sqrt(d) - math.sqrt(-2 * math.log(alarm))
    spread = least <= 0 or np.linalg.svd(noise, compute_uv=False)[-1] >= least
    pooled = np.sort(noise, axis=None)
    away = np.abs(ndtr(pooled) - (np.arange(pooled.size) + 0.5) / pooled.size).max()
    shaped = away <= math.sqrt(math.log(2 / alarm) / (2 * pooled.size)) + 1 / math.sqrt(mechanism.noise_variance)
    return bool(large and spread and shaped)


def _on_grid(mechanism: Gaussian, vector: Floats) -> list[int]:
    """What the device makes of any vector: not-a-number counts as zero, then the ball, then the grid."""
    finite = np.where(np.isfinite(vector), vector, 0.0)
    return mechanism.on_grid(clip_to_ball(finite, mechanism.radius))


def _audit_codebook(mechanism: VectorMechanism, samples: int, alpha: float) -> AuditResult:
    """Exact over the candidates of many rotations and all pairs of adverse vectors; see `audit.codebook`."""
    m = cast(Codebook, mechanism)
    vectors = adverse_vectors(m)
    ratio, agrees = codebook_ratio(m, vectors)
    log_levels = math.log(m.levels.each_inside), math.log(m.levels.each_outside)

    @cache
    def marks_of(value: int, rotation: int, block: int) -> NDArray[np.bool_]:
        return marks(m, _opposite(m, value), rotation, block)

    def stated(payload: bytes, value: int) -> float:
        cell, sign = divmod(m.codec.decode(payload), 2)
        rotation, row = divmod(cell, m.size)
        block, k = divmod(row, m.candidates // 2)
        return log_levels[0 if marks_of(value, rotation, block)[2 * k + sign] else 1]

    certified = _certified(m, samples, alpha, stated)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=m.delta,
        domain_size=len(vectors),
        exact_epsilon=epsilon_of(ratio),
        certified_lower_bound=certified,
        alpha=alpha,
        sound=agrees and within_epsilon(ratio, m.epsilon) and certified <= m.epsilon,
        method=f"the two levels of a candidate; exactly {m.marked} of {m.candidates} are marked whatever the floats do",
        witness=f"all pairs of {len(vectors)} vectors in {ROTATIONS} rotations, this size's device on given draws for "
        "both ends of axes, and every outcome of a small device",
    )


def _audit_binary(mechanism: VectorMechanism, samples: int, alpha: float) -> AuditResult:
    """Exact: both outcomes of the bit, for all pairs of adverse numbers, which include both ends."""
    m = cast(Binary, mechanism)
    vectors = adverse_vectors(m)
    ratio, agrees = binary_ratio(m, vectors)
    certified = _certified(
        m, samples, alpha, lambda payload, value: math.log(m.probability(payload[0], _opposite(m, value)[0]))
    )
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=m.delta,
        domain_size=len(vectors),
        exact_epsilon=math.inf if ratio is None else epsilon_of(ratio),
        certified_lower_bound=certified,
        alpha=alpha,
        sound=agrees and ratio is not None and within_epsilon(ratio, m.epsilon) and certified <= m.epsilon,
        method="the device run on every outcome, for both ends of the range and numbers that are not in it",
        witness=f"the ends of the range, among all pairs of {len(vectors)} numbers",
    )


AUDITS: Final[dict[type[VectorMechanism], Callable[[VectorMechanism, int, float], AuditResult]]] = {
    Binary: _audit_binary,
    Codebook: _audit_codebook,
    Gaussian: _audit_gaussian,
    Rejection: _audit_rejection,
}
"""One audit per deployable mechanism."""
