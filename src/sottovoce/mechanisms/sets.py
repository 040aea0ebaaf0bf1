"""Mechanisms whose value is a set of options: the device's side and the auditor's, and what a report tells of each."""

from __future__ import annotations

import abc
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, ValueOutsideDomainError
from sottovoce.core.limits import DEFAULT_PEOPLE, MAX_DIMENSION, check_epsilon, check_integer
from sottovoce.domain.trials import Trial, Trials
from sottovoce.mechanisms.base import Batch, Counts, Floats, InputLength, Mechanism, Report, log_of
from sottovoce.mechanisms.reference import MOST_SWEPT, ExactReference
from sottovoce.mechanisms.stated import StatedSampledReference
from sottovoce.mechanisms.support import Support
from sottovoce.mechanisms.symmetric import PairSupport
from sottovoce.randomness import Source, epsilon_of
from sottovoce.randomness.scripts import Request
from sottovoce.theory.bounds import maximum_of_proxy

__all__ = ["Row", "SetMechanism", "SetReference", "SetTrials", "padded"]

Row = tuple[int, ...]
"""A set as mechanisms take it: `most` numbers in increasing order, its options and then dummies."""


def padded(members: tuple[int, ...], options: int, most: int) -> Row:
    """The row of a set: dummies are the first numbers beyond those of the options.

    Examples
    --------
    >>> padded((1, 4), options=10, most=5)
    (1, 4, 10, 11, 12)
    """
    return (*members, *range(options, options + most - len(members)))


@final
class SetTrials(Trials):
    """Sets on which a device is run; `value_of` makes an option, by its number, what people call it.

    Without `value_of` a set is the row that mechanisms take. Sets have numbers: by size, and of one size in the order
    of the largest member, then of the next.
    """

    def __init__(self, options: int, most: int, value_of: Callable[[int], Any] | None = None) -> None:
        self.options, self.most, self._value_of = options, most, value_of
        self.size = sum(math.comb(options, size) for size in range(most + 1))
        pairs = sum(math.comb(options, size) for size in range(min(most, 2) + 1))
        self.listed = pairs if pairs <= MOST_SWEPT else 0
        self.listed_name = f"set of at most {min(most, 2)} of {options:,} options"

    @property
    def special_numbers(self) -> range:
        """None: all sets have numbers."""
        return range(0)

    def numbered(self, number: int) -> Trial:
        size, members, end = 0, list[int](), self.options
        while number >= (sets := math.comb(self.options, size)):
            number, size = number - sets, size + 1
        for left in range(size, 0, -1):
            end = bisect_right(range(end), number, key=lambda member: math.comb(member, left)) - 1
            members.append(end)
            number -= math.comb(end, left)
        return self._trial(members)

    def _trial(self, members: list[int]) -> Trial:
        row = padded(tuple(sorted(members)), self.options, self.most)
        value = row if self._value_of is None else [self._value_of(member) for member in members]
        return Trial(f"the set {sorted(members)[:8]}", value, row)

    def edges(self) -> Iterator[Trial]:
        """The empty set, single options, and full sets at both ends."""
        J, most = self.options, self.most
        return map(self._trial, ([], [0], [J - 1], list(range(most)), list(range(J - most, J))))

    def random(self, rng: np.random.Generator) -> Trial:
        size = int(rng.integers(0, self.most + 1))
        return self._trial(rng.choice(self.options, size=size, replace=False).tolist())

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """A full set, the empty one, and another full one."""
        J, most = self.options, self.most
        return [self._trial(members) for members in (list(range(most)), [], list(range(J - most, J)))]


class SetReference(ExactReference):
    """The requests and reports of a mechanism for sets."""

    noun = "sets"
    unit = "option"

    def __init__(
        self, options: int, most: int, epsilon: float, stated_ratio: Fraction, requests: list[Request]
    ) -> None:
        super().__init__(SetTrials(options, most), options, epsilon, stated_ratio)
        self.options, self.most, self._requests = options, most, requests

    @abc.abstractmethod
    def payload(self, row: Row, draws: list[int]) -> bytes:
        """The bytes that must be sent after these draws."""

    def requests(self, outcomes: Sequence[int]) -> list[Request]:
        return self._requests

    def payloads(self, inputs: Sequence[Row], played: Sequence[list[int]]) -> list[bytes]:
        return [self.payload(tuple(row), draws) for row, draws in zip(inputs, played, strict=True)]


@dataclass(frozen=True)
class SetMechanism(Mechanism):
    """One local randomizer for a set of at most `most` out of `options` options: a channel of known probabilities.

    A report supports some options. It supports an option of the sender's set with probability P1 and any other with
    P0, so that the share of people who hold the option follows from the share of reports that support it.
    """

    options: int
    most: int
    epsilon: float

    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"options", "most", "epsilon", "key"})
    serves: ClassVar[str] = "sets"
    deployed_size: ClassVar[int] = 60

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", check_integer("options", self.options, 2, MAX_DIMENSION))
        object.__setattr__(self, "most", check_integer("most", self.most, 1, self.options))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._check_parameters()
        self._check_report_size()
        if not self.support.signal > 0:
            raise MechanismError(
                f"epsilon {self.epsilon:g} is too small for {self.name} over {self.options:,} options: rounded toward "
                "privacy its report carries nothing; use a larger epsilon or other parameters"
            )

    # --- what a subclass writes ---------------------------------------------------------

    @classmethod
    @abc.abstractmethod
    def best(cls, options: int, most: int, epsilon: float, people: int) -> Self:
        """The mechanism with its own parameters chosen for the least error with about `people` people."""

    @classmethod
    @abc.abstractmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Small instances that between them take every branch of the device code; audits run all their outcomes."""

    @classmethod
    @final
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """The mechanism with the best parameters for sets of up to three out of `size` options."""
        return cls.best(size, min(3, size), epsilon, DEFAULT_PEOPLE)

    @abc.abstractmethod
    def _randomize(self, row: Row, source: Source) -> Report:
        """Draw a report. The draws asked of `source` must not depend on the set or on each other."""

    @abc.abstractmethod
    def randomize_many(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Reports of many people at once, by the same law, for simulation. Rows are trusted."""

    @abc.abstractmethod
    def probability(self, report: Report, row: Row) -> Fraction:
        """The exact probability that a set sends `report`, at the rounded thresholds in use."""

    @abc.abstractmethod
    def privacy_ratio(self) -> Fraction:
        """What no two sets' probabilities of one report exceed, with the argument in its docstring."""

    @abc.abstractmethod
    def outputs(self) -> Iterator[Report]:
        """Every possible report, in a fixed order. Only for small mechanisms."""

    @property
    @abc.abstractmethod
    def support(self) -> Support:
        """P1 and P0 at the rounded thresholds in use."""

    @property
    @abc.abstractmethod
    def pair_support(self) -> PairSupport | None:
        """How often a report supports two given options: at least one of them the sender's, or neither.

        None where a report is about one option only.
        """

    @abc.abstractmethod
    def estimate(self, counts: Any, n_reports: int) -> Floats:
        """Unbiased estimate of the share of people who hold each option; entries may be out of range."""

    @property
    @abc.abstractmethod
    def moved_options(self) -> tuple[float, bool]:
        """How many options two reports can support differently at most, and whether two do."""

    # --- what a subclass may know better --------------------------------------------------

    @property
    def groups(self) -> int:
        """How many groups people fall into by chance; the reports of a group are about its own options only."""
        return 1

    def for_people(self, people: int, max_counters: int) -> Self:
        """The mechanism for another number of people; only public seeds change."""
        return self

    def sharing_factor(self, n_reports: int) -> float:
        """The largest factor by which the variance grows for people who share seeds, or where few reports come in."""
        return 1.0

    def expected_maximum(self, n_reports: int) -> float | None:
        """What the largest error of all options, or 0, stays below in expectation; and that of negative errors.

        None where the errors have no common proxy.
        """
        return maximum_of_proxy(self.support.proxy, self.options + 1, n_reports)

    def bits(self, counts: Counts, n_reports: int) -> tuple[Counts, Counts] | None:
        """How many reports support each option, and how many tell about it; None where they depend on each other."""
        return None

    # --- what follows from it -----------------------------------------------------------

    @property
    @final
    def delta(self) -> float:
        """None: the guarantee is pure."""
        return 0.0

    @final
    def randomize(self, row: Any, source: Source) -> Report:
        """One device's report. Checks the row first: the error never names it."""
        members = tuple(row.tolist()) if isinstance(row, np.ndarray) else tuple(row)
        if not self._is_row(members):
            raise ValueOutsideDomainError(
                f"a set must be {self.most} different numbers in increasing order: those of its options, below "
                f"{self.options}, and then dummies"
            )
        return self._randomize(members, source)

    @final
    def _is_row(self, row: tuple[Any, ...]) -> bool:
        if len(row) != self.most or not all(type(member) is int for member in row):
            return False
        members = tuple(member for member in row if 0 <= member < self.options)
        return row == padded(tuple(sorted(set(members))), self.options, self.most)

    @final
    def log_prob(self, report: Report, row: Row) -> float:
        """log P(report | set), at the rounded thresholds in use."""
        return log_of(self.probability(report, row))

    @final
    def stated_reference(self) -> StatedSampledReference:
        """A check of the stated law: no report is less likely than one way to draw it."""
        return StatedSampledReference(self, SetTrials(self.options, self.most), self.options, "sets")

    @final
    def miniature_inputs(self) -> Iterator[Row]:
        """Every possible set. Only for small mechanisms."""
        for size in range(self.most + 1):
            for members in combinations(range(self.options), size):
                yield padded(members, self.options, self.most)

    @property
    @final
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(self.privacy_ratio())

    @property
    @final
    def largest_step(self) -> int:
        """A report is counted at most once in every cell."""
        return 1

    @property
    @final
    def input_length(self) -> InputLength:
        return InputLength("a set", self.most, "options")

    @property
    @final
    def worst_total_variance(self) -> float:
        """n times the largest sum of variances over all populations.

        phi (1 - phi) is concave, so of all shares that add up to at most `most` equal ones are the worst.
        """
        support = self.support
        peak = (0.5 - float(support.other)) / float(support.signal)
        share = min(max(peak, 0.0), self.most / self.options)
        return self.groups * self.options * float(support.variance(np.array([share]), 1)[0])
