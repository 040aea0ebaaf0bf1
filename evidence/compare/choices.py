"""Ticking at most m of J options: ours beside the published mechanisms, by the variance of a rare option's share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

import sottovoce as sv
from evidence.compare.designs import OURS, PUBLISHED, ComparedDesign, Floats, measure_survey, with_ratios
from evidence.published.sets import padding_and_sampling_variance, privset_variance, wheel_variance
from sottovoce.mechanisms import serving
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.strategies.laws.variance import Population
from sottovoce.surveys.survey import Survey

__all__ = ["CHOICES_EPSILONS", "CHOICES_SETTINGS", "compare_choices"]

CHOICES_EPSILONS: Final = (1.0, 2.0, 4.0)
CHOICES_SETTINGS: Final = ((1000, 5), (100_000, 10))
"""J and m: where a subset is short enough to send, and where only short forms are."""

_ERROR: Final = "n·Var of a rare option, per item of a set"
MOST_BITS: Final = 2.5e9
"""Largest number of bits that are drawn to measure one mechanism."""
_USELESS: Final = 0.05
"""A variance of a share above this tells nothing, and rests on options that hardly anybody reported on."""
_POPULAR: Final = 20
"""People's options are among so many; nobody ticks the others, which are measured."""


def compare_choices(
    settings: Sequence[tuple[int, int]] = CHOICES_SETTINGS,
    epsilons: Sequence[float] = CHOICES_EPSILONS,
    *,
    people: int = 20_000,
    repeats: int = 5,
    seed: int = 7,
    advance: Callable[[int], object] = lambda done: None,
) -> tuple[ComparedDesign, ...]:
    """Every mechanism's n Var/m for an option that nobody ticked, by formula and, for ours, as measured.

    Parameters
    ----------
    settings
        Pairs of J, the number of options, and m, how many a person may tick.
    people
        Number of people of one repeat, each with m of the twenty most popular options.
    advance
        Called with 1 for each setting and epsilon done.
    """
    rows: list[ComparedDesign] = []
    for options, most in settings:
        section = f"{options:,} options, at most {most} ticked"
        for epsilon in epsilons:
            rows += _ours(section, options, most, epsilon, people, repeats, seed)
            rows += _published(section, options, most, epsilon)
            advance(1)
    return with_ratios(rows)


def _ours(
    section: str, options: int, most: int, epsilon: float, people: int, repeats: int, seed: int
) -> list[ComparedDesign]:
    """Every set mechanism, and what was possible without one: the mean of 0/1 vectors by `codebook`."""
    chosen = Survey(sv.choices(options, most=most), epsilon=epsilon, people=people).mechanism.name
    sets = _sets(min(options, max(_POPULAR, most)), most, people, seed)
    truth = np.bincount(np.concatenate(sets), minlength=options) / people
    rare = np.flatnonzero(truth == 0)
    rows = []
    for mechanism in serving(SetMechanism):
        survey = Survey(sv.choices(options, most=most), epsilon=epsilon, mechanism=mechanism, people=people)
        stated = survey.design.variance(population=Population.answering(truth), n_reports=people)
        variance = float(np.mean(stated.value[rare]))
        row = ComparedDesign(
            *("choices", section, _ERROR, OURS, mechanism, epsilon),
            chosen=mechanism == chosen,
            expected=people * variance / most,
            report_bytes=survey.mechanism.report_bytes,
        )

        problem = "its reports are long" if people * survey.mechanism.report_bits * repeats > MOST_BITS else ""
        problem = "too few people" if variance > _USELESS else problem
        if problem:
            rows.append(replace(row, note=f"not measured: {problem}"))
            continue

        def error(answers: Floats) -> float:
            return people * float(np.mean(answers[rare] ** 2)) / most

        rows.append(measure_survey(survey, sets, error, repeats, seed, project=False).of(row))
    vectors = Codebook.best(options, math.sqrt(most), epsilon, 0.0, people)
    rows.append(
        ComparedDesign(
            *("choices", section, _ERROR, OURS, "codebook on 0/1 vectors", epsilon),
            expected=vectors.noise * vectors.sharing_factor(people) / most,
            report_bytes=vectors.report_bytes,
        )
    )
    return rows


def _sets(popular: int, most: int, people: int, seed: int) -> list[Any]:
    """People's sets: m different ones of the popular options, the first more often."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, popular + 1)
    # The m largest of exponential variables over weights: m items drawn one by one without replacement.
    order = np.argsort(rng.exponential(size=(people, popular)) / weights, axis=1)
    return list(order[:, :most])


def _published(section: str, options: int, most: int, epsilon: float) -> list[ComparedDesign]:
    figures = {
        "PrivSet, sets padded": privset_variance(options, most, epsilon),
        "wheel": wheel_variance(most, epsilon),
        "padding and sampling": padding_and_sampling_variance(options, most, epsilon),
    }
    if most < options:
        figures["PrivSet, exactly m ticked"] = privset_variance(options, most, epsilon, padded=False)
    return [
        ComparedDesign("choices", section, _ERROR, PUBLISHED, name, epsilon, expected=variance / most)
        for name, variance in figures.items()
    ]
