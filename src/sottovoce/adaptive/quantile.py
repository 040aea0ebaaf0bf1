"""A quantile of an integer attribute with up to 2**63 values, by bisection: one question per bit."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np

from sottovoce.adaptive.session import Session
from sottovoce.adaptive.strategy import AdaptiveStrategy, attribute_of, check_share
from sottovoce.core.errors import DomainError
from sottovoce.core.extras import full_install
from sottovoce.domain import Domain, RangeDomain
from sottovoce.expressions import Query
from sottovoce.expressions.tree import integer_node
from sottovoce.theory.adaptive_bounds import predicted_worst_error
from sottovoce.theory.bounds import Bound, debias

__all__ = ["Quantile", "QuantileResult", "smooth_rank_error"]

_MANY: Final = 10**12
_CLOSE: Final = 64
_DEEPEST: Final = 20


@final
@dataclass(frozen=True)
class QuantileResult:
    """The estimated quantile.

    Attributes
    ----------
    value
        The quantile.
    low, high
        Confidence interval for the true quantile, valid over all rounds, at level `confidence`.
    rounds, empty_rounds
        Number of questions asked, and of those that nobody answered.
    """

    attribute: str
    level: float
    value: int
    low: int
    high: int
    confidence: float
    rounds: int
    empty_rounds: int

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return asdict(self)


@final
@dataclass(frozen=True)
class Quantile(AdaptiveStrategy):
    """The value at or below which a share `level` of people lie.

    The error is in rank: the distance of `level` from the shares of people below the value and up to it. If all answers
    are within e of the truth, so is the rank: every lower end had an estimated share below `level`, every upper end one
    not below, and at the end the two are neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> import sottovoce as sv
    >>> median = Quantile("income")
    >>> panel = median.panel({"income": 2**40}, epsilon=2.0)
    >>> incomes = np.random.default_rng(1).integers(10**6, 3 * 10**6, size=400_000)
    >>> found = median.run(sv.Session.simulated(panel, {"income": incomes}, seed=7))
    >>> found.rounds, abs(found.value / (2 * 10**6) - 1) < 0.05
    (40, True)
    """

    attribute: str
    level: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_share("level", self.level))

    def _range(self, domain: Domain) -> RangeDomain:
        attribute = attribute_of(domain, self.attribute)
        if not isinstance(attribute, RangeDomain):
            raise DomainError(f"attribute {self.attribute!r} has no quantiles: they need a range of integers").at(
                "attribute"
            )
        return attribute

    def _forecast(self, domain: Domain, epsilon: float, people: int) -> tuple[int, Bound]:
        rounds = (self._range(domain).size - 1).bit_length()
        # For any number of people: the error falls with the root of their number.
        worst = predicted_worst_error(rounds, 0.5, epsilon, _MANY) * math.sqrt(_MANY / people)
        return rounds, Bound(worst, "the expected largest error of all shares asked, never below the error in rank,")

    def _trivial_error(self, domain: Domain) -> Bound:
        least = min(self.level, 1 - self.level)
        return Bound(least, f"the smallest or the largest value is within {least:.3g} without any answers")

    def run(self, session: Session, confidence: float = 0.95) -> QuantileResult:
        """Bisect; an empty round counts as if the share had been reached."""
        panel, radius = session.panel, session.panel.radius
        certainty, values = check_share("confidence", confidence), self._range(panel.domain)
        self._check_rounds(session, (values.size - 1).bit_length())
        ends = (values.start, values.start + values.step * (values.size - 1))
        begun, asked = len(session.history), list[int]()
        low, high = -1, values.size - 1
        while high - low > 1:
            middle = (low + high) // 2
            answer = session.ask(self._question(min(ends) + abs(values.step) * middle, radius))
            asked.append(middle)
            low, high = (middle, high) if _share(answer.raw, radius) < self.level else (low, middle)
        sure_low, sure_high = 0, values.size - 1
        for middle, interval in zip(asked, session.intervals(certainty)[begun:], strict=True):
            least, most = (_share(float(end), radius) for end in interval or ())
            sure_low = max(sure_low, middle + 1) if most < self.level else sure_low
            sure_high = min(sure_high, middle) if least > self.level else sure_high
        value, *sure = (min(ends) + abs(values.step) * i for i in (high, *sorted((sure_low, sure_high))))
        empty = sum(answer.empty for answer in session.history[begun:])
        return QuantileResult(self.attribute, self.level, value, sure[0], sure[1], certainty, len(asked), empty)

    def _question(self, value: int, radius: float) -> Query:
        # +-r instead of 0 and 1 halves the error.
        return Query.from_tree(["if", ["<=", ["attribute", self.attribute], integer_node(value)], radius, -radius])


def _share(answer: float, radius: float) -> float:
    """The share of people up to a value, from the mean of +-radius."""
    return (answer / radius + 1) / 2


def smooth_rank_error(rounds: int, epsilon: float, people: int, level: float = 0.5) -> float:
    """The expected error in rank for uniformly distributed people, by the normal approximation.

    Then every question halves the share between the ends, so only a few are about shares near `level`, where an answer
    can be wrong: the error is about that of one answer, while the plan's bound is for the largest of all.

    Examples
    --------
    >>> error = smooth_rank_error(40, 1.0, 1_000_000)
    >>> error < Quantile("value").plan(2**40, epsilon=1.0, people=1_000_000).error.value / 2
    True
    """
    with full_install:
        from scipy.special import ndtr

    deviation = math.sqrt((debias(epsilon) ** 2 / 4 - (level - 0.5) ** 2) * rounds / people)
    chances = np.ones(1)
    # Ends that are close relative to one answer's standard deviation do not matter.
    for depth in range(min(rounds, _DEEPEST, math.ceil(math.log2(_CLOSE / deviation)))):
        shares = (np.arange(2**depth) + 0.5) / 2**depth
        reached = ndtr((shares - level) / deviation)
        chances = np.stack([chances * reached, chances * (1 - reached)], axis=1).ravel()
    shares = (np.arange(len(chances)) + 0.5) / len(chances)
    return float(chances @ np.abs(shares - level))
