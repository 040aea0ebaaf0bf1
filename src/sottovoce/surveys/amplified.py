"""The central epsilon of one shuffled batch, proved from a survey's local guarantee, and its picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self, final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import MAX_EPSILON, MAX_PEOPLE, check_central_delta, check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import both_guarantees, delta_suffix, plural, rounded_up
from sottovoce.figures.amplification import AmplificationLine, plot_amplification
from sottovoce.mechanisms import Mechanism
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.options import usable_designs
from sottovoce.strategies.setting import Setting
from sottovoce.surveys.relay import LEAST_BATCH
from sottovoce.surveys.terms import Terms
from sottovoce.theory.shuffling import Method, Shuffled, central_epsilon, epsilon_below

__all__ = ["Amplified", "amplified", "plot_amplified"]

_POINTS: Final = 11
_FACTORS: Final = (0.1, 1, 10)


def plot_amplified(design: Strategy, n: int, delta: float, ax: Any = None) -> Any:
    """The picture of a design's certificate for n people, on a matplotlib axes; returns the axes.

    Beside the bound of this design stand that of any mechanism of the same local epsilon, and the lower bound.
    """
    grid = _grid(design.epsilon)
    designs = [_at(design, epsilon, n) for epsilon in grid]
    sizes = sorted({min(MAX_PEOPLE, max(LEAST_BATCH, round(factor * n))) for factor in _FACTORS})
    lines = [_line(size, delta, grid, designs, with_lower=size == n) for size in sizes]
    own = next(line for line in lines if line.n == n)
    position = grid.index(design.epsilon)
    least = own.lower[position]
    bounds = f"{rounded_up(own.proved[position])} proved" + ("" if math.isnan(least) else f", {least:.3g} at least")
    caption = (
        f"{design.mechanism.name}, local epsilon {design.epsilon:g}: central epsilon {bounds}{delta_suffix(delta)},\n"
        f"{plural(n, 'honest answer')} in one batch, a shuffler that does not collude"
    )
    return plot_amplification(lines, (design.epsilon, own.proved[position]), caption, ax)


def _grid(local: float) -> list[float]:
    """Local epsilons up to 8, or beyond if the survey's own is, including it."""
    top = min(MAX_EPSILON, max(8.0, 1.5 * local))
    return sorted({local, *(round(float(epsilon), 3) for epsilon in np.linspace(min(0.5, local), top, _POINTS))})


def _line(
    n: int, delta: float, grid: list[float], designs: list[Strategy | None], *, with_lower: bool
) -> AmplificationLine:
    """Proved epsilons, and for batches of the survey's own size the lower bounds too, which take longer."""
    any_mechanism = [Shuffled(epsilon, None, n).epsilon_at(delta) for epsilon in grid]
    proved, lower = [], []
    for design, generic in zip(designs, any_mechanism, strict=True):
        blanket = None if design is None else design.mechanism.blanket()
        if design is None or blanket is None:
            proved.append(math.nan if design is None else generic)
            lower.append(math.nan)
            continue
        proved.append(min(generic, central_epsilon(blanket, design.epsilon, n, delta)))
        lower.append((epsilon_below(blanket, design.epsilon, n, delta) if with_lower else 0.0) or math.nan)
    return AmplificationLine(n, tuple(grid), tuple(proved), tuple(any_mechanism), tuple(lower))


def _at(design: Strategy, epsilon: float, people: int) -> Strategy | None:
    """A design with this strategy and mechanism at another local epsilon; None if they cannot serve, or not soon."""
    if epsilon == design.epsilon:
        return design
    if design.made_for_epsilon:
        return None
    setting = Setting(design.workload, epsilon, 0.0, people, design.name, design.mechanism.name)
    return next(iter(usable_designs(setting, (design.name,))), None)


@final
@dataclass(frozen=True)
class Amplified:
    """The guarantee of n shuffled reports for each person among them: any value of theirs instead of any other.

    Attributes
    ----------
    local_epsilon
        The epsilon of one report by itself. It holds against any collusion, and is what a device charges to its ledger.
    epsilon
        The epsilon of all n reports together as a multiset: an upper bound, proved.
    delta
        The delta that belongs to `epsilon`.
    lower
        A lower bound: at this delta nothing below can be proved, because a concrete test would refute it. 0 where none
        is known.
    n
        Honest answers that reach the collector in one batch.
    method
        By what epsilon is proved: "blanket", the mechanism's own channel; "clones", a bound for every mechanism;
        "local", where shuffling so few adds nothing.
    """

    local_epsilon: float
    epsilon: float
    lower: float
    delta: float
    n: int
    method: Method
    shuffled: Shuffled = field(repr=False, compare=False)
    design: Strategy | None = field(default=None, repr=False, compare=False)
    per_group: bool = False
    """Whether a batch has reports of one public group alone: a report hides among those of its own group."""

    @classmethod
    def of(cls, mechanism: Mechanism, n: int, delta: float) -> Self:
        """The certificate of a mechanism; the numbers are checked."""
        if isinstance(n, int) and not isinstance(n, bool) and n < LEAST_BATCH:
            raise SurveyError(
                f"people is {n}: it must be {LEAST_BATCH} or more, the honest answers in one batch; one report alone "
                "is shuffled with nothing, and has the local epsilon"
            ).at("people")
        people, chance = check_integer("people", n, LEAST_BATCH, MAX_PEOPLE), check_central_delta(delta)
        if mechanism.delta:
            raise SurveyError(
                f"the mechanism {mechanism.name} is (epsilon, delta)-LDP, and what shuffling adds is proved for pure "
                "epsilon-LDP only: choose a mechanism without delta"
            ).at("mechanism")
        shuffled = Shuffled(mechanism.epsilon, mechanism.blanket(), people)
        certificate = shuffled.certificate(chance)
        return cls(
            mechanism.epsilon, certificate.epsilon, certificate.lower, chance, people, certificate.method, shuffled
        )

    @property
    def assumption(self) -> str:
        """The assumptions of the central guarantee, in words."""
        return (
            f"It holds if the shuffler does not collude with the collector, and if every batch has at least "
            f"{self.n:,} answers {self._whose}of people who do not collude with the collector either: a relay counts "
            "messages, and cannot know whether somebody has invented some. A device goes on charging the local "
            "epsilon, which needs neither."
        )

    @property
    def _whose(self) -> str:
        return "of one group, and " if self.per_group else ""

    def delta_at(self, epsilon: float) -> float:
        """The delta that is proved at another central epsilon."""
        return self.shuffled.delta_at(epsilon)

    def plot(self, ax: Any = None) -> Any:
        """Central against local epsilon, for a few sizes of a batch, on a matplotlib axes; returns the axes.

        Beside the survey's own bound stand that of any mechanism of the same local epsilon, and the lower bound.
        """
        if self.design is None:
            raise SurveyError("a picture shows a design at other epsilons: take the certificate of a survey")
        return plot_amplified(self.design, self.n, self.delta, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("local_epsilon", "epsilon", "lower", "delta", "n", "method", "assumption")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        whose = " of one group" if self.per_group else ""
        return f"{both_guarantees(self.local_epsilon, self.epsilon, self.delta)}, {self.n:,} of them{whose}"


def amplified(survey: Terms, people: int | None, delta: float | None) -> Amplified:
    """The certificate of a survey; people and delta are those of its relay if they are not given."""
    if survey.seat is not None:
        survey.seat.panel.amplified(people=people, delta=delta)
    if survey.relay is not None:
        people = survey.relay.least if people is None else people
        delta = survey.relay.delta if delta is None else delta
    if people is None:
        raise SurveyError("people must be given, the honest answers in one batch: the survey states no relay").at(
            "people"
        )
    if delta is None:
        raise SurveyError("delta must be given, for example 1e-6: the survey states no relay").at("delta")
    with steps("computing the certificate"):
        found = Amplified.of(survey.mechanism, people, delta)
        return replace(found, design=survey.design, per_group=survey.groups is not None)
