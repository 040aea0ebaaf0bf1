"""How far the answers of an adaptive session are from the truth, measured on simulated people."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.adaptive.session import Session
from sottovoce.core.errors import PlanError, SimulationError
from sottovoce.expressions import Query, query
from sottovoce.lab.simulation.analysts import (
    draw_people,
    exaggerating_signs,
    people_counts,
    question,
    random_multipliers,
    signs,
    values,
)
from sottovoce.lab.simulation.repeats import check_repeats, seeds_of, summarised
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.simulation import Seed
from sottovoce.theory.adaptive_bounds import adaptive_bound, predicted_worst_error, theorem_5_2

__all__ = [
    "ANALYSTS",
    "MAX_CROWD",
    "AdaptiveErrors",
    "MeasuredAdaptive",
    "Outcome",
    "check_crowd",
    "measure_adaptive",
    "paper_adaptive_bound",
]

Floats = NDArray[np.float64]
Progress = Callable[[int], object]

ANALYSTS: Final = ("random", "overfit")
"""Questions fixed beforehand; or every second one only, and the others made of the answers to these."""

MAX_CROWD: Final = 10**8
"""Most people of one session: their records and rounds are held in memory, sixteen bytes each."""


@dataclass(frozen=True)
class AdaptiveErrors:
    """Errors of one session's answers, or on average over several.

    Attributes
    ----------
    linf_error
        The largest over all rounds, against the distribution that people were drawn from.
    linf_error_people
        The error against the mean over the people themselves, those of all rounds; None where it is not measured.
    bias
        Mean error, with its sign, of the answers to questions made of earlier answers: positive where they err as
        the overfitting analyst hopes. None without such a question.
    """

    linf_error: float
    linf_error_people: float | None = None
    bias: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How well a strategy did what it is for: its own measure, on average, beside what was predicted.

    Attributes
    ----------
    measure
        "rank error" of a quantile: how far the share of people up to the value found is from the one asked for.
        "recall" of heavy hitters: which share of the most common values was found.
    """

    measure: str
    mean: float
    standard_error: float | None
    predicted: float


@dataclass(frozen=True)
class MeasuredAdaptive:
    """What was measured, beside what theory says about it.

    Attributes
    ----------
    mean, standard_error
        Over the repeats; no standard error from a single one.
    linf_bound
        What the expected largest error stays below, however questions are chosen, against the distribution that
        people come from. None for rounds of choices, about which the theorem says nothing; so are the next two.
    linf_bound_paper
        Theorem 5.2 as printed; None where it says nothing.
    linf_predicted
        What the expected largest error comes to by the exact variance and the normal law, for questions like these.
    outcome
        For a strategy that looks for something: how well it found it.
    people_per_round
        On average.
    seconds
        For one repeat, on average: placing people in rounds, asking, counting, estimating.
    """

    strategy: str
    rounds: int
    people: int
    people_per_round: float
    epsilon: float
    repeats: int
    seed: int
    mean: AdaptiveErrors
    standard_error: AdaptiveErrors | None
    linf_bound: float | None
    linf_bound_paper: float | None
    linf_predicted: float | None
    seconds: float
    outcome: Outcome | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, the mean errors at the top level."""
        flat = asdict(self)
        mean, spread = flat.pop("mean"), flat.pop("standard_error")
        return {**flat, **mean, "standard_errors": spread}


def measure_adaptive(
    rounds: int,
    people: int,
    epsilon: float,
    strategy: str = "random",
    *,
    repeats: int = 1,
    seed: Seed = None,
    progress: Progress | None = None,
) -> MeasuredAdaptive:
    """Draw people, put to them as many questions as there are rounds, and compare the answers with the truth.

    People are drawn anew for every repeat, uniformly, and all questions divide the values into halves, so that every
    true answer is 0 (see `sottovoce.lab.simulation.analysts`).

    Parameters
    ----------
    strategy
        "random": all questions are fixed before anybody is asked. "overfit": so is every second one, and those in
        between are put together from the answers so far, so as to repeat and add up whatever was wrong with them.
    seed
        The seed, which gives the same people, questions and reports again; by default a fresh one, which the result
        contains.
    progress
        Called with the number of people done since its last call; in all there are `people * repeats`.

    Examples
    --------
    >>> found = measure_adaptive(8, 20_000, 1.0, "overfit", repeats=5, seed=1)
    >>> found.mean.linf_error < found.linf_bound, round(found.people_per_round)
    (True, 2500)
    """
    if strategy not in ANALYSTS:
        raise SimulationError(f"strategy must be one of {', '.join(ANALYSTS)}")
    panel = Panel(values(), rounds=rounds, epsilon=epsilon)
    n, times = check_crowd(people), check_repeats(repeats)
    seed = secrets.randbits(32) if seed is None else seed
    questions_seed, *seeds = seeds_of(seed, 1 + 2 * times)
    multipliers = random_multipliers(panel.rounds, questions_seed)
    fixed, table = [question(m) for m in multipliers], np.array([signs(m) for m in multipliers])
    errors, seconds = [], 0.0
    for people_seed, session_seed in zip(seeds[::2], seeds[1::2], strict=True):
        drawn = draw_people(n, people_seed)
        analyst = _Analyst(fixed, table.copy(), overfits=strategy == "overfit")
        began = time.perf_counter()
        analyst.ask(Session.simulated(panel, drawn, session_seed), progress)
        seconds += time.perf_counter() - began
        errors.append(analyst.errors(people_counts(drawn) / n))
    mean, standard_error = summarised(errors)
    return MeasuredAdaptive(
        strategy=strategy,
        rounds=panel.rounds,
        people=n,
        people_per_round=n / panel.rounds,
        epsilon=panel.epsilon,
        repeats=times,
        seed=int(seed),
        mean=mean,
        standard_error=standard_error,
        linf_bound=adaptive_bound(panel.rounds, panel.radius, panel.epsilon, n).value,
        linf_bound_paper=paper_adaptive_bound(panel.rounds, panel.epsilon, n),
        linf_predicted=predicted_worst_error(panel.rounds, panel.radius, panel.epsilon, n),
        seconds=seconds / times,
    )


class _Analyst:
    """Asks the questions given; one who overfits replaces every second one. `table` has them all as signs."""

    def __init__(self, fixed: Sequence[Query], table: Floats, *, overfits: bool) -> None:
        self.fixed = fixed
        self.table = table
        self.made = range(1, len(fixed), 2) if overfits else range(0)
        self.answers = np.zeros(len(fixed))

    def ask(self, session: Session, progress: Progress | None) -> None:
        for k, asked in enumerate(self.fixed):
            if k in self.made:
                self.table[k] = exaggerating_signs(self.table[:k:2], self.answers[:k:2])
                asked = query(self.table[k].astype(np.int64))
            self.answers[k] = session.ask(asked, progress=progress).value

    def errors(self, shares: Floats) -> AdaptiveErrors:
        """Against the population, where every answer is 0, and against these people's own means."""
        worst, against_people = np.abs(self.answers).max(), np.abs(self.answers - self.table @ shares).max()
        bias = float(self.answers[self.made].mean()) if self.made else None
        return AdaptiveErrors(float(worst), float(against_people), bias)


def paper_adaptive_bound(rounds: int, epsilon: float, people: int) -> float | None:
    """Theorem 5.2 for radius 1; None where it says nothing."""
    try:
        return theorem_5_2(rounds, 1.0, epsilon, people).value
    except PlanError:
        return None


def check_crowd(people: object) -> int:
    """Return `people` as an int if that many people fit into one simulated session."""
    if isinstance(people, bool) or not isinstance(people, (int, np.integer)) or not 1 <= people <= MAX_CROWD:
        raise SimulationError(f"the number of people must be an integer from 1 to {MAX_CROWD:,}, for example 100000")
    return int(people)
