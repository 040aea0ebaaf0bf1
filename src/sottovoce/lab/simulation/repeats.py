"""Shared by all measurements: seeds, numbers of people and repeats, means with standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, Final, TypeVar

import numpy as np

from sottovoce.core.errors import SimulationError

__all__ = ["check_people", "check_repeats", "mean_and_error", "seeds_of", "summarised"]

T = TypeVar("T")

_MOST_PEOPLE: Final = 2**53
"""Counts up to this are exact in the collector's floating point."""

_MOST_REPEATS: Final = 1_000_000


def check_people(people: object) -> int:
    """Return `people` as an int if that many people can be simulated."""
    return _check_count("people", people, 1, _MOST_PEOPLE, ", for example 1000")


def check_repeats(repeats: object, fewest: int = 1) -> int:
    """Return `repeats` as an int if a measurement may be repeated so often; it takes two for a standard error."""
    remedy = ": one alone has no standard error" if fewest > 1 else ", for example 10"
    return _check_count("repeats", repeats, fewest, _MOST_REPEATS, remedy)


def _check_count(name: str, number: object, fewest: int, most: int, remedy: str) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not fewest <= number <= most:
        raise SimulationError(f"{name} must be an integer from {fewest} to {most:,}{remedy}").at(name)
    return int(number)


def seeds_of(seed: int, number: int) -> list[int]:
    """Independent seeds, always the same ones for a seed."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise SimulationError("seed must be a non-negative integer, or left out for a fresh one").at("seed")
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(number, np.uint64)]


def mean_and_error(numbers: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error.

    Examples
    --------
    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    return float(np.mean(numbers)), float(np.std(numbers, ddof=1) / math.sqrt(len(numbers)))


def summarised(results: Sequence[T]) -> tuple[T, T | None]:
    """Mean and standard error of several equal dataclasses of numbers, field by field; no error of a single one.

    A field that is None stays None.
    """
    # None becomes not a number here, and None again outside.
    table = np.array([astuple(result) for result in results], dtype=np.float64)  # type: ignore[call-overload]
    kind: Any = type(results[0])

    def made(row: Any) -> T:
        result: T = kind(*(None if math.isnan(number) else number for number in row.tolist()))
        return result

    mean = made(table.mean(axis=0))
    return mean, None if len(results) == 1 else made(table.std(axis=0, ddof=1) / math.sqrt(len(results)))
