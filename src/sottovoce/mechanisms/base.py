"""The contract every mechanism keeps: one randomizer, with the device's side and the collector's.

A mechanism is frozen and is a function of (domain size, epsilon, its own integer
parameters) alone. The device calls `randomize` and `encode`; the collector calls
`decode` and counts; the analyst calls `estimate` and `variance`; the auditor calls
`probability`, `privacy_ratio` and `outputs`. All of them read the same rounded integers.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import CapacityError, MechanismError, ValueOutsideDomainError
from sottovoce.limits import MAX_CELLS, MAX_REPORT_BYTES, check_domain_size, check_epsilon
from sottovoce.mechanisms.codecs import Codec
from sottovoce.randomness import Source, epsilon_of

__all__ = ["Batch", "Counts", "Floats", "Mechanism", "Report"]

Report: TypeAlias = int | tuple[int, ...]
"""One report: an output's number, or a sorted set of values. One type per mechanism."""

Batch: TypeAlias = NDArray[Any]
"""Many reports of one mechanism: the first axis runs over people."""

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Mechanism(abc.ABC):
    """One local randomizer for a value in {0, .., domain_size - 1}, with both its sides.

    Subclasses are final: they implement the abstract methods and override nothing else.
    Extra dataclass fields are the mechanism's own integer parameters; they are frozen in the
    survey, because choosing them takes floating point and both sides must agree on them.
    """

    domain_size: int
    epsilon: float

    name: ClassVar[str]
    """Name in the registry and in a survey's JSON."""
    summary: ClassVar[str]
    """What a report is, in a few words."""
    use_when: ClassVar[str]
    """Advice for the table of mechanisms."""
    deployable: ClassVar[bool] = True
    """False for baselines that exist to be measured; a survey refuses those."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain_size", check_domain_size(self.domain_size))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._check_parameters()
        if self.report_bytes > MAX_REPORT_BYTES:
            raise MechanismError(
                f"{self.name} would send {self.report_bytes:,} bytes a report for {self.domain_size:,} values; "
                f"at most {MAX_REPORT_BYTES:,} are allowed: use mechanism='hadamard' or 'auto'"
            )
        if not self.signal > 0:
            raise MechanismError(
                f"epsilon {self.epsilon:g} is too small for {self.name} over {self.domain_size:,} values: "
                "rounded toward privacy its report carries nothing; use a larger epsilon or mechanism='hadamard'"
            )

    # --- what a subclass writes ---------------------------------------------------------

    @classmethod
    @abc.abstractmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        """The mechanism with its own parameters chosen for the least error."""

    @classmethod
    @abc.abstractmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Small instances that between them take every branch of the device code; audits run all their outcomes."""

    @abc.abstractmethod
    def _check_parameters(self) -> None:
        """Raise `SurveyError` unless the mechanism's own parameters are in range."""

    @property
    @abc.abstractmethod
    def codec(self) -> Codec:
        """How reports become bytes."""

    @property
    @abc.abstractmethod
    def cells(self) -> int:
        """How many integers the aggregate holds."""

    @property
    @abc.abstractmethod
    def signal(self) -> Fraction:
        """The exact factor by which the channel shrinks a frequency; estimates divide by it."""

    @abc.abstractmethod
    def _randomize(self, value: int, source: Source) -> Report:
        """Draw a report. The draws asked of `source` must not depend on the value or on each other."""

    @abc.abstractmethod
    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Reports of many people at once, by the same law, for simulation. Values are trusted."""

    @abc.abstractmethod
    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Add a batch of valid reports to `counts`, in place."""

    @abc.abstractmethod
    def probability(self, report: Report, value: int) -> Fraction:
        """The exact probability that `value` sends `report`, at the rounded thresholds in use."""

    @abc.abstractmethod
    def privacy_ratio(self) -> Fraction:
        """The largest ratio of two values' probabilities of one report, with the argument in its docstring."""

    @abc.abstractmethod
    def outputs(self) -> Iterator[Report]:
        """Every possible report, in a fixed order. Only for small domains."""

    @abc.abstractmethod
    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """Unbiased estimate of every value's frequency; entries may be negative."""

    @abc.abstractmethod
    def variance(self, frequencies: Floats, n_reports: int) -> Floats:
        """Exact variance of every entry of `estimate`, people's sampling from `frequencies` included."""

    @property
    @abc.abstractmethod
    def proxy(self) -> float:
        """tau**2 such that every entry of the estimate is sub-Gaussian with proxy tau**2 / n_reports."""

    @property
    @abc.abstractmethod
    def worst_total_variance(self) -> float:
        """The largest sum of variances over all frequencies, times n_reports."""

    @abc.abstractmethod
    def citation(self) -> str:
        """BibTeX of the work the mechanism comes from."""

    # --- what follows from it -----------------------------------------------------------

    @final
    def randomize(self, value: int, source: Source) -> Report:
        """One device's report. Checks the value first: the error never names it."""
        if type(value) is not int or not 0 <= value < self.domain_size:
            raise ValueOutsideDomainError(
                f"the value is not an index of this domain; give an integer from 0 to {self.domain_size - 1}"
            )
        return self._randomize(value, source)

    @final
    def encode(self, report: Report) -> bytes:
        """The canonical bytes of a report."""
        return self.codec.encode(report)

    @final
    def decode(self, payload: bytes) -> Report:
        """The report behind canonical bytes; anything else raises `ReportError`."""
        report: Report = self.codec.decode(payload)
        return report

    @final
    def log_prob(self, report: Report, value: int) -> float:
        """log P(report | value), at the rounded thresholds in use; minus infinity where impossible."""
        p = self.probability(report, value)
        return math.log(p.numerator) - math.log(p.denominator) if p else -math.inf

    @final
    def empty(self) -> Counts:
        """The aggregate of no reports: zeros."""
        if self.cells > MAX_CELLS:
            raise CapacityError(
                f"counting {self.name} reports over {self.domain_size:,} values takes {self.cells:,} counters, "
                f"above the {MAX_CELLS:,} one process keeps; use a smaller domain"
            )
        return np.zeros(self.cells, dtype=np.int64)

    @final
    def expected_l2(self, n_reports: int, frequencies: Floats | None = None) -> float:
        """Root mean squared L2 error of the raw estimate; for the worst frequencies unless some are given."""
        if frequencies is None:
            return math.sqrt(self.worst_total_variance / n_reports)
        return math.sqrt(float(self.variance(frequencies, n_reports).sum()))

    @property
    @final
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(self.privacy_ratio())

    @property
    @final
    def report_bits(self) -> int:
        """Information in one report, before padding to bytes."""
        return self.codec.bits

    @property
    @final
    def report_bytes(self) -> int:
        """Width of one encoded report; the same for every value and every draw."""
        return self.codec.width

    @final
    def parameters(self) -> dict[str, int]:
        """The mechanism's own integer parameters, as they stand in a survey."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("domain_size", "epsilon")}
