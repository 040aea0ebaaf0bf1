"""Words in one round or in several: what share of people a value needs to be found, by both plans.

In one round everybody is asked at once, and all prefixes are tested in the same reports, each level by its part of the
people. Adaptive rounds ask about prefixes that were found before, and must wait for the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sottovoce.adaptive.growing_prefixes import detectable_frequency
from sottovoce.adaptive.heavy_hitters import HeavyHitters
from sottovoce.planning.planner import plan
from sottovoce.questions.words import Words

__all__ = ["OneRoundLine", "one_round_table"]


@final
@dataclass(frozen=True)
class OneRoundLine:
    """One number of people at one epsilon.

    Attributes
    ----------
    one_round
        The least share that one round finds with probability 0.9, and calls certain; 1 if none.
    adaptive
        The least share that ten values need for the adaptive rounds to find them with probability 0.9; 1 if
        no ten values can all be so common.
    rounds
        How many rounds these are.
    """

    people: int
    epsilon: float
    one_round: float
    adaptive: float
    rounds: int

    @property
    def ratio(self) -> float:
        """The share for one round over that for the adaptive rounds; below 1 where waiting gains nothing."""
        return self.one_round / self.adaptive


def one_round_table(
    people: Sequence[int] = (10**4, 10**5, 10**6, 10**7),
    epsilons: Sequence[float] = (1.0, 2.0, 4.0),
    bits: int = 60,
) -> list[OneRoundLine]:
    """Both plans for integers of so many bits, epsilon by epsilon.

    Examples
    --------
    >>> (line,) = one_round_table([1_000_000], [2.0])
    >>> round(line.one_round, 4), round(line.adaptive, 4), line.rounds
    (0.0106, 0.0112, 5)
    """
    question, strategy = Words.of(below=2**bits), HeavyHitters("value")
    found = []
    for epsilon in epsilons:
        for crowd in people:
            recall = plan(question, epsilon=epsilon, people=crowd).recall
            stages = strategy.schedule(2**bits, epsilon=epsilon, people=crowd)
            several = detectable_frequency(stages, epsilon, crowd / len(stages), strategy.k, strategy.probability)
            several = several if several * strategy.k <= 1 else 1.0
            found.append(OneRoundLine(crowd, epsilon, 1.0 if recall is None else recall.share(), several, len(stages)))
    return found
