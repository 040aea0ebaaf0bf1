"""The mean of one number: ours beside the published mechanisms, by the worst variance over all numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

import sottovoce as sv
from evidence.compare.designs import (
    OURS,
    PUBLISHED,
    REFERENCE,
    ComparedDesign,
    Floats,
    Measurement,
    measure_survey,
    with_ratios,
)
from evidence.published.one_number import NUMBER_BASELINES, NumberBaseline
from sottovoce.core.errors import SimulationError
from sottovoce.lab.simulation.repeats import seeds_of
from sottovoce.questions.number import Number
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.surveys.survey import Survey

__all__ = ["NUMBER_EPSILONS", "PROGRAM_OPTIMA", "compare_number"]

NUMBER_EPSILONS: Final = (0.5, 1.0, 2.0, 3.0, 4.0)

PROGRAM_OPTIMA: Final = {0.5: 16.00, 1.0: 3.991, 2.0: 0.8655, 3.0: 0.3041, 4.0: 0.1272}
"""The linear program's optimum with 129 inputs and 161 to 241 outputs, by epsilon."""

_SECTION: Final = "one number in [-1, 1], its mean"
_ERROR: Final = "worst n·Var"
_PLACES: Final = tuple(float(x) for x in np.linspace(-1, 1, 33))


def compare_number(
    epsilons: Sequence[float] = NUMBER_EPSILONS,
    *,
    people: int = 10_000,
    repeats: int = 1000,
    seed: int = 7,
    advance: Callable[[int], object] = lambda done: None,
) -> tuple[ComparedDesign, ...]:
    """Every mechanism's worst variance by formula, and n times the mean squared error where everybody has that number.

    Parameters
    ----------
    people
        Number of people of one repeat.
    advance
        Called with 1 for each design done.
    """
    rows = []
    for epsilon in epsilons:
        rows.append(_ours(epsilon, people, repeats, seed))
        advance(1)
        if epsilon in PROGRAM_OPTIMA:
            rows.append(_row(REFERENCE, "linear program, fine grid", epsilon, expected=PROGRAM_OPTIMA[epsilon]))
        for baseline in NUMBER_BASELINES:
            rows.append(_published(baseline, epsilon, people, repeats, seed))
            advance(1)
    return with_ratios(rows)


def _row(package: str, name: str, epsilon: float, **figures: float | int | bool | str) -> ComparedDesign:
    return ComparedDesign("number", _SECTION, _ERROR, package, name, epsilon, **figures)  # type: ignore[arg-type]


def _ours(epsilon: float, people: int, repeats: int, seed: int) -> ComparedDesign:
    survey = Survey(sv.number(-1.0, 1.0), epsilon=epsilon)
    design, question = survey.design, survey.question
    if not isinstance(design, MinimaxStrategy) or not isinstance(question, Number):
        raise SimulationError(f"the mean of a number is compared by minimax, and the survey has {design.name}")
    row = _row(
        *(OURS, design.name, epsilon), chosen=True, expected=design.worst, report_bytes=survey.mechanism.report_bytes
    )
    # The grid point whose variance is largest; between grid points it can be larger by a little, which `worst` counts.
    values = question.grid.values
    x = float(values[np.argmax(design.value_moments - values**2)])
    found = measure_survey(
        survey, np.full(people, x), lambda answers: people * float(answers[0] - x) ** 2, repeats, seed, project=False
    )
    return found.of(row)


def _published(baseline: NumberBaseline, epsilon: float, people: int, repeats: int, seed: int) -> ComparedDesign:
    row = _row(PUBLISHED, baseline.name, epsilon, expected=baseline.worst_variance(epsilon))
    x = max(_PLACES, key=lambda place: baseline.variance(place, epsilon))
    found = Measurement()
    numbers: Floats = np.full(people, x)
    for report_seed in seeds_of(seed, repeats):
        began = time.perf_counter()
        reports = baseline.randomize_many(numbers, epsilon, np.random.default_rng(report_seed))
        error = float(reports.mean()) - x
        found.seconds = min(found.seconds, time.perf_counter() - began)
        found.raw.append(people * error**2)
    return found.of(row)
