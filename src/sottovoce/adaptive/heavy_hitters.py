"""The most common values of a very large domain, by prefixes that grow round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.adaptive.answer import ChoiceAnswer
from sottovoce.adaptive.growing_prefixes import (
    Digits,
    Stage,
    detectable_frequency,
    digits_of,
    predicted_recall,
    shortest_schedules,
)
from sottovoce.adaptive.session import Session
from sottovoce.adaptive.strategy import AdaptiveStrategy, attribute_of, check_share
from sottovoce.core.limits import check_epsilon, check_integer
from sottovoce.domain import Domain
from sottovoce.expressions import Query
from sottovoce.planning.solve import MAX_PEOPLE
from sottovoce.surveys.panel import MAX_CHOICES
from sottovoce.theory.adaptive_bounds import MAX_ROUNDS
from sottovoce.theory.bounds import Bound

__all__ = ["HeavyHitter", "HeavyHitters", "HeavyHittersResult"]

_MOST_FOUND: Final = 512
_MOST_KEPT: Final = 2 * _MOST_FOUND
"""Prefixes sent with a question: every device downloads them."""


class HeavyHitter(NamedTuple):
    """A common value, the share of people who have it, and an interval for that share."""

    value: int | str
    frequency: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether the interval excludes 0; otherwise the value may be noise."""
        return self.low > 0


@final
@dataclass(frozen=True)
class HeavyHittersResult:
    """The most common values, the most common first.

    Attributes
    ----------
    found
        Values with their raw frequencies, each moved into its interval. Intervals hold simultaneously for all choices
        of the last round, not only for those shown, so selection does not invalidate them. If they hold, somebody has
        every value that is `certain`; any other may be noise.
    detectable
        k values of this frequency, all others being rare, are each found with the strategy's probability.
    rounds, empty_rounds
        Number of questions asked, and of those that nobody answered.
    """

    attribute: str
    found: tuple[HeavyHitter, ...]
    detectable: float
    confidence: float
    rounds: int
    empty_rounds: int

    @property
    def values(self) -> list[int | str]:
        """The values alone."""
        return [hitter.value for hitter in self.found]

    def __iter__(self) -> Iterator[HeavyHitter]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {**asdict(self), "found": [hitter._asdict() | {"certain": hitter.certain} for hitter in self.found]}


@final
@dataclass(frozen=True)
class HeavyHitters(AdaptiveStrategy):
    """The k most common values of an integer or text attribute, without listing its values.

    A round asks one question: which of the kept prefixes does your value have, and what are its next digits? The error
    of a choice does not grow with the number of choices, so few rounds with many choices are better than the reverse.

    Parameters
    ----------
    attribute
        Its name; "value" for a domain without names.
    k
        Number of values to find.
    probability
        With which values of the planned frequency are found.
    most_choices
        Maximum number of choices in one round; the collector keeps a few times as many counters.

    Examples
    --------
    >>> import numpy as np
    >>> import sottovoce as sv
    >>> common = HeavyHitters("word", k=3)
    >>> words = ["yes"] * 90_000 + ["no"] * 60_000 + ["perhaps"] * 50_000
    >>> panel = common.panel({"word": sv.Domain.text(10)}, epsilon=2.0, people=len(words))
    >>> common.run(sv.Session.simulated(panel, {"word": words}, seed=7)).values
    ['yes', 'no', 'perhaps']
    """

    attribute: str
    k: int = 10
    probability: float = 0.9
    most_choices: int = 2**18

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_integer("k", self.k, 1, _MOST_FOUND))
        object.__setattr__(self, "probability", check_share("probability", self.probability))
        object.__setattr__(self, "most_choices", check_integer("most_choices", self.most_choices, 2, MAX_CHOICES))

    def schedule(self, domain: object, *, epsilon: float, people: int) -> tuple[Stage, ...]:
        """The stages with the least detectable frequency, one round per stage."""
        return self._schedule(Domain.of(domain), epsilon, lambda stages: people / len(stages), MAX_ROUNDS)

    def _schedule(
        self, domain: Domain, epsilon: float, people: Callable[[tuple[Stage, ...]], float], rounds: int
    ) -> tuple[Stage, ...]:
        """The best stages with at most `rounds` rounds, or the fewest; people are counted per round."""
        digits = self._digits(domain)
        schedules = shortest_schedules(digits.base, digits.length, self.k, self.most_choices, _MOST_KEPT)
        fitting = [stages for stages in schedules if len(stages) <= rounds] or schedules[:1]
        return min(fitting, key=lambda stages: self._detectable(stages, epsilon, people(stages)))

    def _detectable(self, stages: tuple[Stage, ...], epsilon: float, people: float) -> float:
        return detectable_frequency(stages, epsilon, people, self.k, self.probability)

    def predicted_recall(self, frequencies: ArrayLike, domain: object, *, epsilon: float, people: int) -> float:
        """The expected share of the k most common values that are found, where the most common have `frequencies`.

        Examples
        --------
        >>> zipf = 1 / np.arange(1, 1001) ** 1.2
        >>> round(HeavyHitters("value").predicted_recall(zipf / 5.5916, 2**60, epsilon=2.0, people=1_000_000), 2)
        0.94
        """
        stages = self.schedule(
            domain, epsilon=check_epsilon(epsilon), people=check_integer("people", people, 1, MAX_PEOPLE)
        )
        return predicted_recall(frequencies, stages, epsilon, people / len(stages), self.k)

    def _digits(self, domain: Domain) -> Digits:
        return digits_of(self.attribute, attribute_of(domain, self.attribute))

    def _forecast(self, domain: Domain, epsilon: float, people: int) -> tuple[int, Bound]:
        stages = self.schedule(domain, epsilon=epsilon, people=people)
        least = self._detectable(stages, epsilon, people / len(stages))
        words = f"the frequency that {self.k} values need to be found with probability {self.probability:g}"
        return len(stages), Bound(least, words)

    def _trivial_error(self, domain: Domain) -> Bound:
        return Bound(1 / self.k, f"no {self.k} values can all be more common than {1 / self.k:.3g}")

    def run(self, session: Session, confidence: float = 0.95) -> HeavyHittersResult:
        """Grow prefixes. An empty round keeps arbitrary prefixes; if the last round is empty, nothing is found."""
        panel = session.panel
        people = max(1, session.crowd.people) / panel.rounds
        certainty, digits = check_share("confidence", confidence), self._digits(panel.domain)
        stages = self._schedule(panel.domain, panel.epsilon, lambda _: people, session.remaining)
        self._check_rounds(session, len(stages))
        prefixes: list[Any] = [digits.root]
        answers: list[ChoiceAnswer] = []
        for stage, after in zip(stages, [*stages[1:], None], strict=True):
            answers.append(session.choose(*self._question(digits, prefixes, stage)))
            kept = self.k if after is None else after.room
            best = _best(answers[-1], digits.possible(prefixes, stage.start, stage.stop), kept)
            span = digits.base ** (stage.stop - stage.start)
            prefixes = [digits.extend(prefixes[i // span], i % span, stage.start, stage.stop) for i in best]
        hitters: list[HeavyHitter] = []
        if (last := answers[-1].estimate) is not None:
            ends = last.interval(certainty, simultaneous=True)
            shown = ends.nearest(last.raw)
            for prefix, i in zip(prefixes, best, strict=True):
                columns = (float(column[i]) for column in (shown, ends.low, ends.high))
                hitters.append(HeavyHitter(digits.value(prefix), *columns))
        least = self._detectable(stages, panel.epsilon, people)
        empty = sum(answer.empty for answer in answers)
        return HeavyHittersResult(self.attribute, tuple(hitters), least, certainty, len(stages), empty)

    def _question(self, digits: Digits, prefixes: list[Any], stage: Stage) -> tuple[Query, int]:
        """The number of a person's prefix and next digits; people with another prefix are the last choice."""
        following = digits.next(stage.start, stage.stop)
        span = digits.base ** (stage.stop - stage.start)
        if not stage.start:
            return Query.from_tree(following), span
        prefix = ["prefix", ["attribute", self.attribute], stage.start]
        which = ["find", prefix, [digits.listed(prefix) for prefix in prefixes]]
        return Query.from_tree(["+", ["*", which, span], following]), len(prefixes) * span + 1


def _best(answer: ChoiceAnswer, possible: NDArray[np.bool_], kept: int) -> list[int]:
    """The valid choices with the highest estimates, the highest first."""
    allowed = np.flatnonzero(possible.ravel())
    if answer.estimate is None:
        return [int(i) for i in allowed[:kept]]
    estimates = answer.estimate.raw[allowed]
    highest = np.argpartition(-estimates, min(kept, len(allowed)) - 1)[:kept]
    return [int(i) for i in allowed[highest[np.argsort(-estimates[highest], kind="stable")]]]
