"""Is a vector mechanism private? Its device on adverse and random vectors, and the integers that its privacy rests on.

A vector domain cannot be listed, so each mechanism is audited through the few integers that decide: real device code is
run, those integers are read off it, and the guarantee is recomputed from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.binary import run_binary
from sottovoce.auditing.budget import Budget
from sottovoce.auditing.codebook import marks, run_codebook
from sottovoce.auditing.empirical import affordable, certify
from sottovoce.auditing.gaussian import run_gaussian
from sottovoce.auditing.rejection import chance_of_one, run_rejection
from sottovoce.auditing.result import INDEPENDENT_RUNS, UNIFORM_BYTES, AuditResult, fault_in_words, fault_size
from sottovoce.auditing.subject import Subject, failure
from sottovoce.auditing.vector_runs import VectorRuns
from sottovoce.auditing.vectors import Cases, HeldVector
from sottovoce.core.errors import MechanismError, ReportError
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.randomness.scripts import unpredictable

__all__ = ["audit_vector"]

DEFAULT_SAMPLES: Final = 2_000
"""A vector device takes a millisecond per report, and its guarantee rests on integers, not on samples."""

Stated = Callable[[bytes, int], float]
"""The logarithm of a payload's probability for the first (0) or second (1) of two vectors, up to a constant."""

Vectors = list[Floats]


def audit_vector(
    subject: Subject[VectorMechanism] | VectorMechanism,
    samples: int | None = None,
    alpha: float = 1e-9,
    budget: Budget | None = None,
) -> AuditResult:
    """Audit one vector mechanism, or the survey around it.

    Parameters
    ----------
    samples
        Real device reports of each of two opposite vectors, from which the lower bound is certified; as many as are
        affordable, up to 2,000, unless given.
    alpha
        Chance that the certified lower bound is wrong.
    budget
        Processor seconds for runs of the device; three unless given.

    Examples
    --------
    >>> result = audit_vector(Rejection.best(3, 1.0, 1.0, 0.0, 1000), samples=100, budget=Budget(0.5))
    >>> result.verdict, round(result.exact_epsilon, 6)
    ('sampled', 1.0)
    """
    if isinstance(subject, VectorMechanism):
        subject = Subject(subject)
    m, budget = subject.mechanism, budget or Budget(3.0)
    found = next((audit for kind, audit in AUDITS.items() if isinstance(m, kind)), None)
    if found is None:
        raise MechanismError(f"{m.name} cannot be audited: it has no audit, or never runs on a device")
    run, stated = found
    cases = Cases(subject, unpredictable())
    try:
        runs = run(m, cases, budget)
    except Exception as error:
        runs = VectorRuns(math.inf, wrong=failure(error))
    certified, bound = 0.0, ""
    try:
        if not runs.wrong_draw:  # a sampler may never end with draws that are not as they should be
            runs.wrong = runs.wrong or cases.wrong_entropy()
            certified, bound = _certified(subject, cases.opposite(), samples, alpha, stated)
    except Exception as error:
        runs.wrong = runs.wrong or failure(error)
    wrong = runs.wrong or runs.wrong_draw or runs.wrong_law or (bound if certified > m.epsilon else "")
    size = 0.0 if wrong or runs.proved else fault_size(runs.independent)
    method, assumptions = "the device does not do what it states", tuple[str, ...]()
    if not wrong:
        seen = [fault_in_words(size, through_survey=subject.survey is not None)] if size else []
        method, assumptions = "; ".join([runs.method, *seen]), (UNIFORM_BYTES, INDEPENDENT_RUNS, *runs.assumptions)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=m.delta,
        domain_size=m.dimension,
        exact_epsilon=math.inf if runs.wrong or runs.wrong_draw else runs.epsilon,
        certified_lower_bound=certified,
        alpha=alpha,
        verdict="broken" if wrong else "proved" if runs.proved else "sampled",
        method=method,
        witness=wrong or bound,
        fault_size=size,
        assumptions=assumptions,
        survey="" if subject.survey is None else subject.survey.id,
    )


def _certified(
    subject: Subject[VectorMechanism],
    ends: tuple[HeldVector, HeldVector],
    samples: int | None,
    alpha: float,
    stated_by: Callable[[VectorMechanism, Vectors], Stated],
) -> tuple[float, str]:
    """A lower bound on epsilon from whole reports of two values (0 and 1), and what it is about."""
    stated = stated_by(subject.mechanism, [end.vector for end in ends])

    def device(end: int) -> bytes:
        return subject.draw(ends[end].value)

    def readable(report: bytes, end: int) -> float:
        try:
            return stated(subject.payload(report), end)
        except ReportError:
            return 0.0

    found = certify(
        device,
        [(0, 1)],
        samples=affordable(device, DEFAULT_SAMPLES, 2) if samples is None else samples,
        delta=subject.mechanism.delta,
        alpha=alpha,
        stated=readable,
    )
    pair = "both ends of the first axis" if subject.size is None else f"{ends[0].name} and {ends[1].name}"
    return found.lower_bound, f"{pair}, event on {found.event}: epsilon {found.lower_bound:.4g}"


def _stated_binary(mechanism: VectorMechanism, vectors: Vectors) -> Stated:
    m = cast(Binary, mechanism)
    return lambda payload, value: math.log(m.probability(payload[0], vectors[value][0]))


def _stated_codebook(mechanism: VectorMechanism, vectors: Vectors) -> Stated:
    m = cast(Codebook, mechanism)
    log_levels = math.log(m.levels.each_inside), math.log(m.levels.each_outside)

    @cache
    def marks_of(value: int, rotation: int, block: int) -> NDArray[np.bool_]:
        return marks(m, vectors[value], rotation, block)

    def stated(payload: bytes, value: int) -> float:
        cell, sign = divmod(m.codec.decode(payload), 2)
        rotation, row = divmod(cell, m.size)
        block, k = divmod(row, m.candidates // 2)
        return log_levels[0 if marks_of(value, rotation, block)[2 * k + sign] else 1]

    return stated


def _stated_gaussian(mechanism: VectorMechanism, vectors: Vectors) -> Stated:
    m = cast(Gaussian, mechanism)
    grids = [m.on_grid(vectors[value]) for value in (0, 1)]

    def stated(payload: bytes, value: int) -> float:
        away = np.subtract(m.codec.decode(payload), grids[value]).astype(np.float64)
        return -float(away @ away) / (2 * m.noise_variance)

    return stated


def _stated_rejection(mechanism: VectorMechanism, vectors: Vectors) -> Stated:
    m = cast(Rejection, mechanism)

    @cache
    def chance(value: int, seed: int) -> float:
        return chance_of_one(m, vectors[value], seed)

    def stated(payload: bytes, value: int) -> float:
        seed, bit = m.codec.decode(payload)
        return math.log(chance(value, seed) if bit else 1 - chance(value, seed))

    return stated


AUDITS: Final[dict[type[VectorMechanism], tuple[Callable[[Any, Cases, Budget], VectorRuns], Callable[..., Stated]]]] = {
    Binary: (run_binary, _stated_binary),
    Codebook: (run_codebook, _stated_codebook),
    Gaussian: (run_gaussian, _stated_gaussian),
    Rejection: (run_rejection, _stated_rejection),
}
"""How each deployable mechanism is run, and what it states."""
