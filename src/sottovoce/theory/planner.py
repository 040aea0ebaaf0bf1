"""Before the launch: which mechanism, how many people, what epsilon.

Errors are L2 distances between the estimated and the true distribution, in expectation, for the
worst distribution: `l2_raw` is exact, `l2_bound` holds after projection.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Real
from statistics import NormalDist
from typing import Any, Literal

from sottovoce.domain import Domain
from sottovoce.errors import MechanismError, PlanError, SurveyError
from sottovoce.limits import (
    DEFAULT_REPORT_BYTES,
    MAX_EPSILON,
    MIN_EPSILON,
    check_domain_size,
    check_epsilon,
    check_integer,
)
from sottovoce.mechanisms import FiniteMechanism, candidates
from sottovoce.theory.bounds import projected_distribution_bound

__all__ = ["MAX_USERS", "Candidate", "Plan", "compare", "explain", "plan"]

MAX_USERS = 10**15
"""More people than there are; a plan that needs more is refused."""


@dataclass(frozen=True)
class Candidate:
    """One mechanism's prediction for a survey; `margin` is the half width of a typical value's 95 % interval."""

    mechanism: FiniteMechanism
    l2_raw: float
    l2_bound: float
    margin: float
    fits: bool

    @property
    def report_bits(self) -> int:
        """Bits a report."""
        return self.mechanism.report_bits

    @property
    def report_bytes(self) -> int:
        """Bytes a report."""
        return self.mechanism.report_bytes

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "mechanism": self.mechanism.name,
            "parameters": self.mechanism.parameters(),
            "l2_raw": self.l2_raw,
            "l2_bound": self.l2_bound,
            "margin": self.margin,
            "report_bits": self.report_bits,
            "report_bytes": self.report_bytes,
            "fits": self.fits,
        }


@dataclass(frozen=True)
class Plan:
    """A survey that can be run: two of epsilon, users and target error were given, the third follows."""

    domain_size: int
    epsilon: float
    users: int
    target_error: float
    solved_for: Literal["error", "users", "epsilon"]
    candidates: tuple[Candidate, ...]
    reason: str

    @property
    def best(self) -> Candidate:
        """The mechanism to use."""
        return next(c for c in self.candidates if c.fits)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        found = {key: value for key, value in asdict(self).items() if key != "candidates"}
        return {
            **found,
            "mechanism": self.best.mechanism.name,
            "candidates": [c.to_dict() for c in self.candidates],
        }


def _predict(mechanism: FiniteMechanism, users: int, max_report_bytes: int) -> Candidate:
    variance, proxy = mechanism.worst_total_variance, mechanism.proxy
    bound = projected_distribution_bound(mechanism.domain_size, proxy, variance, users)
    return Candidate(
        mechanism=mechanism,
        l2_raw=mechanism.expected_l2(users),
        l2_bound=bound.value,
        margin=NormalDist().inv_cdf(0.975) * math.sqrt(variance / (mechanism.domain_size * users)),
        fits=mechanism.report_bytes <= max_report_bytes,
    )


def compare(
    domain_size: int, epsilon: float, users: int, max_report_bytes: int = DEFAULT_REPORT_BYTES
) -> tuple[Candidate, ...]:
    """Every mechanism that can serve, the least exact expected error first."""
    found = [_predict(m, users, max_report_bytes) for m in candidates(domain_size, epsilon)]
    return tuple(sorted(found, key=lambda c: (c.l2_raw, c.report_bits)))


def explain(compared: tuple[Candidate, ...], chosen: str) -> str:
    """Why the mechanism called `chosen`, in a sentence or two."""
    pick = next(c for c in compared if c.mechanism.name == chosen)
    text = (
        f"{chosen} has expected L2 error {pick.l2_raw:.3g} before projection and sends "
        f"{pick.report_bytes} byte{'s' if pick.report_bytes > 1 else ''} a report"
    )
    better = [c for c in compared if c.l2_raw < pick.l2_raw * (1 - 1e-9)]
    too_large = [c for c in better if not c.fits]
    for c in too_large[:1]:
        text += (
            f"; {c.mechanism.name} would err {(1 - c.l2_raw / pick.l2_raw) * 100:.1f} % less "
            f"but sends {c.report_bytes:,} bytes"
        )
    in_reach = [c for c in better if c.fits]
    for c in in_reach[:1]:
        less = (1 - c.l2_raw / pick.l2_raw) * 100
        text += f"; {c.mechanism.name} would err {less:.1f} % less in {c.report_bytes} bytes"
    worse = [c for c in compared if c.fits and c.l2_raw > pick.l2_raw * (1 + 1e-9)]
    for c in worse[:1]:
        text += f"; the next best that fits, {c.mechanism.name}, errs {(c.l2_raw / pick.l2_raw - 1) * 100:.1f} % more"
    return text


def plan(
    domain: object,
    *,
    epsilon: float | None = None,
    users: int | None = None,
    target_error: float | None = None,
    max_report_bytes: int = DEFAULT_REPORT_BYTES,
) -> Plan:
    """Solve for the one of epsilon, users and target error that is not given.

    Parameters
    ----------
    domain
        Anything `Domain.of` takes: labels, a size, a range, named attributes.
    target_error
        What the expected L2 error after projection must stay below, for every distribution.

    Examples
    --------
    >>> plan(1000, epsilon=1.0, target_error=0.05).solved_for
    'users'
    """
    size = check_domain_size(Domain.of(domain).size)
    limit = check_integer("max_report_bytes", max_report_bytes, 1, 2**20)
    given = [
        name for name, x in (("epsilon", epsilon), ("users", users), ("target_error", target_error)) if x is not None
    ]
    if len(given) != 2:
        raise PlanError(
            f"give exactly two of epsilon, users and target_error (got {', '.join(given) or 'none'}); "
            "the third is solved for"
        )
    if users is not None:
        users = check_integer("users", users, 1, MAX_USERS)
    if target_error is not None:
        target_error = _check_target(target_error)
    solved_for: Literal["error", "users", "epsilon"] = "error"
    if epsilon is not None:
        epsilon = check_epsilon(epsilon)
    if users is None and epsilon is not None and target_error is not None:
        users, solved_for = _users_for(size, epsilon, target_error, limit), "users"
    elif epsilon is None and users is not None and target_error is not None:
        epsilon, solved_for = _epsilon_for(size, users, target_error, limit), "epsilon"
    if epsilon is None or users is None:  # both are set by now; this tells the type checker
        raise PlanError("give exactly two of epsilon, users and target_error")
    compared = compare(size, epsilon, users, limit)
    best = _best(compared, limit)
    return Plan(
        domain_size=size,
        epsilon=epsilon,
        users=users,
        target_error=best.l2_bound if target_error is None else target_error,
        solved_for=solved_for,
        candidates=compared,
        reason=explain(compared, best.mechanism.name),
    )


def _best(compared: tuple[Candidate, ...], limit: int) -> Candidate:
    fitting = [c for c in compared if c.fits]
    if not fitting:
        raise MechanismError(f"no mechanism fits into {limit} bytes a report; allow a few more")
    return fitting[0]


def _check_target(target: object) -> float:
    if isinstance(target, bool) or not isinstance(target, Real) or not 0 < float(target) < math.sqrt(2):
        raise PlanError(
            "target_error must be a number above 0 and below 1.414, the largest L2 distance of two distributions"
        )
    return float(target)


def _error(size: int, epsilon: float, users: int, limit: int) -> float:
    return _best(compare(size, epsilon, users, limit), limit).l2_bound


def _users_for(size: int, epsilon: float, target: float, limit: int) -> int:
    """The fewest users whose guaranteed error is at most the target; the error falls as users grow."""
    if _error(size, epsilon, MAX_USERS, limit) > target:
        raise PlanError(
            f"an error of {target:g} needs more than {MAX_USERS:.0e} people at epsilon {epsilon:g}: the bound "
            f"falls only like n^(-1/2); raise epsilon or the target"
        )
    low, high = 0, 1
    while _error(size, epsilon, high, limit) > target:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _error(size, epsilon, middle, limit) <= target else (middle, high)
    return high


def _epsilon_for(size: int, users: int, target: float, limit: int) -> float:
    """The least epsilon, to three digits, whose guaranteed error is at most the target."""
    if _error(size, MAX_EPSILON, users, limit) > target:
        raise PlanError(
            f"an error of {target:g} is out of reach with {users:,} people at any epsilon up to {MAX_EPSILON:g}: "
            f"the sampling of people alone is in the way; ask more people or raise the target"
        )
    low, high = MIN_EPSILON, MAX_EPSILON
    while high / low > 1.0005:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _reaches(size, middle, users, target, limit) else (middle, high)
    unit = 10.0 ** (math.floor(math.log10(high)) - 2)
    return min(MAX_EPSILON, math.ceil(high / unit) * unit)


def _reaches(size: int, epsilon: float, users: int, target: float, limit: int) -> bool:
    try:
        return _error(size, epsilon, users, limit) <= target
    except SurveyError:  # so small that no mechanism carries a signal
        return False
