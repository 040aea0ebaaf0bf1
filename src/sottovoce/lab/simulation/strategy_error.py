"""How well strategies find what they look for, measured on simulated people."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.adaptive.answer import seat_of
from sottovoce.adaptive.heavy_hitters import HeavyHitters
from sottovoce.adaptive.quantile import Quantile, smooth_rank_error
from sottovoce.adaptive.session import Session
from sottovoce.core.errors import SimulationError
from sottovoce.lab.simulation.adaptive_error import (
    AdaptiveErrors,
    MeasuredAdaptive,
    Outcome,
    check_crowd,
    paper_adaptive_bound,
)
from sottovoce.lab.simulation.repeats import check_repeats, seeds_of, summarised
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.simulation import Seed
from sottovoce.theory.adaptive_bounds import adaptive_bound, predicted_worst_error

__all__ = ["measure_heavy_hitters", "measure_quantile"]

Integers = NDArray[np.int64]
Progress = Callable[[int], object]

MOST_BITS: Final = 62
_SPREAD_BITS: Final = 16
"""People of a quantile stand on at most 2**16 values, evenly spaced, so that true shares are exact."""

_COMMON: Final = 1000
_WANTED: Final = 10
_HITTERS_BITS: Final = 48
_CHOICES: Final = 2**16
"""Choices a round, a tenth of the work of those a strategy may have: it costs a few hundredths of the recall."""


def measure_quantile(
    rounds: int,
    people: int,
    epsilon: float,
    *,
    repeats: int = 1,
    seed: Seed = None,
    progress: Progress | None = None,
) -> MeasuredAdaptive:
    """Look for the median of people spread evenly over 2**rounds values: one question a bit.

    `linf_error` is the largest over all questions, which ask for means of +-1: twice the error of a share.

    Examples
    --------
    >>> found = measure_quantile(12, 50_000, 1.0, repeats=3, seed=1)
    >>> found.outcome.measure, found.outcome.mean < 0.1
    ('rank error', True)
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MOST_BITS:
        raise SimulationError(
            f"rounds must be an integer from 1 to {MOST_BITS} for a quantile: it takes one round a bit, so that 16 "
            "rounds search 65,536 values"
        )
    median, domain = Quantile("value"), 2**rounds
    panel = median.panel(domain, epsilon=epsilon, people=check_crowd(people))
    spread = min(rounds, _SPREAD_BITS)
    grid = np.arange(2**spread, dtype=np.int64) << (rounds - spread)

    def once(session: Session) -> tuple[AdaptiveErrors, float]:
        value = median.run(session).value
        columns = panel.domain.columns(grid)
        queries = [seat_of(past.asked).query for past in session.state.past]
        truth = [float(query.evaluate(panel.domain, columns).mean()) for query in queries]
        answers = [answer.to_dict()["value"] for answer in session.history]
        below, reached = float((grid < value).mean()), float((grid <= value).mean())
        # The median of people who share a value is that value, however many of them there are.
        rank_error = max(0.0, below - median.level, median.level - reached)
        return AdaptiveErrors(float(np.abs(np.subtract(answers, truth)).max())), rank_error

    return _repeated(
        panel,
        "quantile",
        people,
        lambda people_seed: _generator(people_seed).choice(grid, size=people),
        once,
        ("rank error", smooth_rank_error(panel.rounds, panel.epsilon, people)),
        repeats,
        seed,
        progress,
    )


def measure_heavy_hitters(
    people: int, epsilon: float, *, repeats: int = 1, seed: Seed = None, progress: Progress | None = None
) -> MeasuredAdaptive:
    """Look for the ten most common of 2**48 values; people have a thousand of them, by Zipf's law.

    The strategy chooses the number of rounds. `linf_error` is the largest error of a frequency that it reports.

    Examples
    --------
    >>> found = measure_heavy_hitters(300_000, 4.0, seed=1)
    >>> found.outcome.measure, found.outcome.mean > 0.5
    ('recall', True)
    """
    common = HeavyHitters("value", k=_WANTED, most_choices=_CHOICES)
    domain = 2**_HITTERS_BITS
    panel = common.panel(domain, epsilon=epsilon, people=check_crowd(people))
    weights = 1.0 / np.arange(1, _COMMON + 1)
    frequencies = weights / weights.sum()
    scattered = np.unique(_generator(_COMMON).integers(domain, size=2 * _COMMON))
    values = _generator(_WANTED).permutation(scattered)[:_COMMON]
    truth = dict(zip(values.tolist(), frequencies.tolist(), strict=True))
    wanted = set(values[:_WANTED].tolist())

    def once(session: Session) -> tuple[AdaptiveErrors, float]:
        hitters = common.run(session).found
        worst = max((abs(hitter.frequency - truth.get(hitter.value, 0.0)) for hitter in hitters), default=1.0)
        return AdaptiveErrors(float(worst)), len(wanted & {hitter.value for hitter in hitters}) / _WANTED

    return _repeated(
        panel,
        "heavy_hitters",
        people,
        lambda people_seed: _generator(people_seed).choice(values, size=people, p=frequencies),
        once,
        ("recall", common.predicted_recall(frequencies, domain, epsilon=panel.epsilon, people=people)),
        repeats,
        seed,
        progress,
    )


def _generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed)))


def _repeated(
    panel: Panel,
    strategy: str,
    people: int,
    crowd: Callable[[int], Integers],
    once: Callable[[Session], tuple[AdaptiveErrors, float]],
    outcome: tuple[str, float],
    repeats: int,
    seed: Seed,
    progress: Progress | None,
) -> MeasuredAdaptive:
    times = check_repeats(repeats)
    seed = secrets.randbits(32) if seed is None else seed
    seeds = seeds_of(seed, 2 * times)
    all_errors, reached, seconds = [], [], 0.0
    for people_seed, session_seed in zip(seeds[::2], seeds[1::2], strict=True):
        drawn = crowd(people_seed)
        began = time.perf_counter()
        errors, outcome_of_one = once(Session.simulated(panel, drawn, session_seed))
        seconds += time.perf_counter() - began
        all_errors.append(errors)
        reached.append(outcome_of_one)
        if progress is not None:
            progress(people)
    mean, standard_error = summarised(all_errors)
    spread = None if times == 1 else float(np.std(reached, ddof=1) / np.sqrt(times))
    theory: dict[str, Any] = {"linf_bound": None, "linf_bound_paper": None, "linf_predicted": None}
    if strategy == "quantile":
        stated = panel.rounds, panel.radius, panel.epsilon, people
        theory = {
            "linf_bound": adaptive_bound(*stated).value,
            "linf_bound_paper": paper_adaptive_bound(panel.rounds, panel.epsilon, people),
            "linf_predicted": predicted_worst_error(*stated),
        }
    return MeasuredAdaptive(
        strategy=strategy,
        rounds=panel.rounds,
        people=people,
        people_per_round=people / panel.rounds,
        epsilon=panel.epsilon,
        repeats=times,
        seed=int(seed),
        mean=mean,
        standard_error=standard_error,
        seconds=seconds / times,
        outcome=Outcome(outcome[0], float(np.mean(reached)), spread, outcome[1]),
        **theory,
    )
