"""Before the launch: which mechanism, how many people, what epsilon.

Errors are L2 distances between the estimated and the true distribution, in expectation, for the
worst distribution: `l2_raw` is exact, `l2_bound` holds after projection. Queries and means are
planned in `offline_planner`; `plan` takes either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol, overload

from sottovoce.domain import Domain
from sottovoce.errors import MechanismError, PlanError
from sottovoce.limits import DEFAULT_REPORT_BYTES, MAX_EPSILON, MAX_REPORT_BYTES, check_domain_size, check_integer
from sottovoce.mechanisms import FiniteMechanism, candidates
from sottovoce.theory.bounds import projected_distribution_bound
from sottovoce.theory.solving import MAX_USERS, Given, Solved, fewest_users, least_epsilon

if TYPE_CHECKING:
    from sottovoce.theory.offline_planner import OfflinePlan
    from sottovoce.workloads import Workload

__all__ = ["MAX_USERS", "Candidate", "Plan", "Predicted", "compare", "explain", "plan"]


class Predicted(Protocol):
    """What `explain` reads of a candidate, of whichever kind its mechanism is."""

    @property
    def name(self) -> str:
        """The mechanism's."""

    @property
    def l2_raw(self) -> float:
        """Root mean square error before projection."""

    @property
    def report_bytes(self) -> int:
        """Bytes a report."""

    @property
    def fits(self) -> bool:
        """Whether the report is short enough."""


@dataclass(frozen=True)
class Candidate:
    """One mechanism's prediction for a survey; `margin` is the half width of a typical value's 95 % interval."""

    mechanism: FiniteMechanism
    l2_raw: float
    l2_bound: float
    margin: float
    fits: bool

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.mechanism.name

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
    solved_for: Solved
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
    return _compared(candidates(domain_size, epsilon), users, max_report_bytes)


def _compared(mechanisms: Sequence[FiniteMechanism], users: int, max_report_bytes: int) -> tuple[Candidate, ...]:
    found = [_predict(m, users, max_report_bytes) for m in mechanisms]
    return tuple(sorted(found, key=lambda c: (c.l2_raw, c.report_bits)))


def explain(compared: Sequence[Predicted], chosen: str) -> str:
    """Why the mechanism called `chosen`, in a sentence or two."""
    pick = next(c for c in compared if c.name == chosen)
    text = (
        f"{chosen} has expected L2 error {pick.l2_raw:.3g} before projection and sends "
        f"{pick.report_bytes:,} byte{'s' if pick.report_bytes > 1 else ''} a report"
    )
    better = [c for c in compared if c.l2_raw < pick.l2_raw * (1 - 1e-9)]
    too_large = [c for c in better if not c.fits]
    for c in too_large[:1]:
        text += (
            f"; {c.name} would err {(1 - c.l2_raw / pick.l2_raw) * 100:.1f} % less but sends {c.report_bytes:,} bytes"
        )
    in_reach = [c for c in better if c.fits]
    for c in in_reach[:1]:
        less = (1 - c.l2_raw / pick.l2_raw) * 100
        text += f"; {c.name} would err {less:.1f} % less in {c.report_bytes:,} bytes"
    worse = [c for c in compared if c.fits and c.l2_raw > pick.l2_raw * (1 + 1e-9)]
    for c in worse[:1]:
        text += f"; the next best that fits, {c.name}, errs {(c.l2_raw / pick.l2_raw - 1) * 100:.1f} % more"
    return text


@overload
def plan(
    domain: object,
    *,
    epsilon: float | None = None,
    users: int | None = None,
    target_error: float | None = None,
    max_report_bytes: int | None = None,
) -> Plan: ...


@overload
def plan(
    *,
    workload: Workload | None = None,
    dimension: int | None = None,
    radius: float = 1.0,
    epsilon: float | None = None,
    users: int | None = None,
    target_error: float | None = None,
    delta: float = 0.0,
    max_report_bytes: int | None = None,
) -> OfflinePlan: ...


def plan(
    domain: object = None,
    *,
    workload: Workload | None = None,
    dimension: int | None = None,
    radius: float = 1.0,
    epsilon: float | None = None,
    users: int | None = None,
    target_error: float | None = None,
    delta: float = 0.0,
    max_report_bytes: int | None = None,
) -> Plan | OfflinePlan:
    """Solve for the one of epsilon, users and target error that is not given.

    Parameters
    ----------
    domain
        For a distribution: anything `Domain.of` takes, such as labels, a size, a range, named attributes.
    workload
        For query answers: one of `sottovoce.workloads`.
    dimension, radius
        For a mean: of how many numbers a person's vector consists, and the largest norm it may have.
    target_error
        What the expected L2 error after projection must stay below, for every population.
    delta
        For queries and means: 0 for pure epsilon-LDP; a small positive one lets `gaussian` be compared.
    max_report_bytes
        The longest report allowed; 64 for a distribution and 2**20 otherwise, as for surveys, unless given.

    Examples
    --------
    >>> plan(1000, epsilon=1.0, target_error=0.05).solved_for
    'users'
    >>> from sottovoce.workloads import Prefix
    >>> plan(workload=Prefix(1024), epsilon=1.0, users=100_000).best.name
    'codebook'
    """
    asked = {"domain": domain, "workload": workload, "dimension": dimension}
    named = [name for name, what in asked.items() if what is not None]
    if len(named) != 1:
        raise PlanError(
            "give exactly one of domain (for a distribution), workload (for query answers) and dimension (for a mean); "
            f"got {' and '.join(named) or 'none'}"
        )
    if dimension is None and radius != 1:
        raise PlanError("radius goes with dimension only: a distribution has none, and a workload has its own")
    longest = DEFAULT_REPORT_BYTES if domain is not None else MAX_REPORT_BYTES
    limit = check_integer(
        "max_report_bytes", longest if max_report_bytes is None else max_report_bytes, 1, MAX_REPORT_BYTES
    )
    if domain is None:
        from sottovoce.theory.offline_planner import plan_mean, plan_queries

        given = epsilon, users, target_error
        if workload is not None:
            return plan_queries(workload, *given, delta=delta, max_report_bytes=limit)
        return plan_mean(dimension, radius, *given, delta=delta, max_report_bytes=limit)
    if delta != 0:
        raise PlanError("delta must be left out for a distribution: every mechanism is pure epsilon-LDP")
    size = check_domain_size(Domain.of(domain).size)
    return _plan_distribution(size, Given.of(epsilon, users, target_error, math.sqrt(2), "distributions"), limit)


def _plan_distribution(size: int, given: Given, limit: int) -> Plan:
    epsilon, users, target = given.epsilon, given.users, given.target_error
    if users is None and epsilon is not None and target is not None:
        users = _users_for(size, epsilon, target, limit)
    elif epsilon is None and users is not None and target is not None:
        epsilon = _epsilon_for(size, users, target, limit)
    if epsilon is None or users is None:  # both are set by now; this tells the type checker
        raise PlanError("give exactly two of epsilon, users and target_error")
    compared = compare(size, epsilon, users, limit)
    best = _best(compared, limit)
    return Plan(
        domain_size=size,
        epsilon=epsilon,
        users=users,
        target_error=best.l2_bound if target is None else target,
        solved_for=given.solved_for,
        candidates=compared,
        reason=explain(compared, best.name),
    )


def _best(compared: tuple[Candidate, ...], limit: int) -> Candidate:
    fitting = [c for c in compared if c.fits]
    if not fitting:
        raise MechanismError(f"no mechanism fits into {limit} bytes a report; allow a few more")
    return fitting[0]


def _error(size: int, epsilon: float, users: int, limit: int) -> float:
    return _best(compare(size, epsilon, users, limit), limit).l2_bound


def _users_for(size: int, epsilon: float, target: float, limit: int) -> int:
    """The fewest users whose guaranteed error is at most the target; the error falls as users grow."""
    if _error(size, epsilon, MAX_USERS, limit) > target:
        raise PlanError(
            f"an error of {target:g} needs more than {MAX_USERS:.0e} people at epsilon {epsilon:g}: the bound "
            f"falls only like n^(-1/2); raise epsilon or the target"
        )
    served = candidates(size, epsilon)  # the same for all numbers of people, and slow to choose for many values
    return fewest_users(lambda users: _best(_compared(served, users, limit), limit).l2_bound <= target)


def _epsilon_for(size: int, users: int, target: float, limit: int) -> float:
    """The least epsilon, to three digits, whose guaranteed error is at most the target."""
    if _error(size, MAX_EPSILON, users, limit) > target:
        raise PlanError(
            f"an error of {target:g} is out of reach with {users:,} people at any epsilon up to {MAX_EPSILON:g}: "
            f"the sampling of people alone is in the way; ask more people or raise the target"
        )
    return least_epsilon(lambda epsilon: _error(size, epsilon, users, limit) <= target)
