"""The allowed range of every parameter of a survey, and the functions that check it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from sottovoce.core.errors import DomainError, SurveyError

MIN_EPSILON = 2.0**-20
"""Below this, a billion reports are too noisy to be of use."""

MAX_EPSILON = 16.0
"""Above this, a report practically reveals the value."""

MAX_DOMAIN_SIZE = 2**40
"""Largest domain whose distribution can be estimated (a device needs far less than a second)."""

MAX_RANGE_SIZE = 2**63 - 1
"""Largest number of integers a range may hold; they are never listed."""

MAX_PRODUCT_SIZE = 2**63
"""Largest number of records or texts a domain may describe; they are never listed."""

MAX_REPORT_BYTES = 2**20
"""Largest report any survey may ask a device to send."""

DEFAULT_REPORT_BYTES = 64
"""Default limit on the size of a report."""

DEFAULT_PEOPLE = 1_000_000
"""Default for the expected number of people."""

MAX_PEOPLE = 10**10
"""More than all people: plans that need more are refused."""

DEFAULT_STRATEGY = "auto"
"""Default strategy."""

DEFAULT_CAP = 2.0
"""Default for the largest epsilon of one survey that a device answers."""

DEFAULT_BUDGET = 8.0
"""Default for the sum of all epsilons that a device spends."""

DEFAULT_DELTA_CAP = 1e-6
"""Default for the largest delta of one survey that a device answers."""

DEFAULT_DELTA_BUDGET = 1e-5
"""Default for the sum of all deltas that a device spends."""

DEFAULT_MAX_ANSWERS = 1_000
"""Default for the number of surveys that a device answers in all, whatever they cost."""

DEFAULT_WINDOW_DAYS = 91
"""Default for the days in which a device spends no more than its window budget; a quarter of a year."""

MAX_WINDOW_DAYS = 36_600
"""Most days of a device's window, a century."""

MAX_CELLS = 2**31
"""Most counters one process keeps for one survey (16 GiB)."""

DEFAULT_COUNTERS = 2**27
"""Default limit on counters (1 GiB) of a codebook survey; beyond it, more people share a rotation."""

MAX_COUNTERS = 2**40
"""Largest number of counters of a codebook survey; more than one process holds are counted in shards."""

SHARD_CELLS = 2**20
"""Counters per shard (8 MiB): counts that exceed memory are processed shard by shard."""


def _shown(number: Any) -> str:
    """A number as an error message shows it."""
    try:
        text = str(number)
    except ValueError:  # Python does not print integers of thousands of digits
        text = ""
    return text if 0 < len(text) <= 40 else "far out of range"


def as_float(number: Any) -> float:
    """A real number as a float; one that is too large becomes an infinity, which no range holds."""
    # By the number itself: a class of its own may convert to another one.
    if isinstance(number, float):
        return float.__float__(number)
    exact = int.__index__(number) if isinstance(number, int) else number
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


MAX_DIMENSION = 2**20
"""Most queries or coordinates a vector survey may have."""


def check_epsilon(epsilon: object) -> float:
    """Return `epsilon` as a float if a survey may use it.

    Examples
    --------
    >>> check_epsilon(1)
    1.0
    >>> check_epsilon(0)
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: epsilon is 0: epsilon must be ...
    """
    remedy = (
        f"epsilon must be a number from {MIN_EPSILON:.2g} to {MAX_EPSILON:g}; "
        "typical deployments use 0.5 to 4 (smaller is more private)"
    )
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        raise SurveyError(f"epsilon has type {type(epsilon).__name__}: {remedy}").at("epsilon")
    number = as_float(epsilon)
    if not MIN_EPSILON <= number <= MAX_EPSILON:
        raise SurveyError(f"epsilon is {_shown(epsilon)}: {remedy}").at("epsilon")
    return number


def check_domain_size(size: object, largest: int = MAX_DOMAIN_SIZE, field: str = "domain_size") -> int:
    """Return `size` as an int if a domain may have that many values; `field` is the argument that states them."""
    remedy = f"the number of possible values must be an integer from 2 to {largest}"
    if isinstance(size, bool) or not isinstance(size, Integral):
        raise DomainError(f"domain size has type {type(size).__name__}: {remedy}").at(field)
    checked = int(size)
    if not 2 <= checked <= largest:
        raise DomainError(f"domain size is {_shown(checked)}: {remedy}").at(field)
    return checked


def check_integer(name: str, number: object, smallest: int, largest: int) -> int:
    """Return `number` as an int if the parameter called `name` may take it."""
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise SurveyError(
            f"{name} has type {type(number).__name__}: it must be an integer from {smallest} to {largest}"
        ).at(name)
    checked = int(number)
    if not smallest <= checked <= largest:
        raise SurveyError(f"{name} is {_shown(checked)}: it must be an integer from {smallest} to {largest}").at(name)
    return checked


def check_dimension(dimension: object) -> int:
    """Return `dimension` as an int if a vector survey may have that many coordinates."""
    return check_integer("dimension", dimension, 1, MAX_DIMENSION)


def check_number(name: str, number: object, smallest: float, largest: float, meaning: str) -> float:
    """Return `number` as a float if the parameter called `name` may take it; `meaning` says what it is."""
    remedy = f"it must be a number from {smallest:g} to {largest:g}: {meaning}"
    if isinstance(number, bool) or not isinstance(number, Real):
        raise SurveyError(f"{name} has type {type(number).__name__}: {remedy}").at(name)
    checked = as_float(number)
    if not smallest <= checked <= largest:
        raise SurveyError(f"{name} is {_shown(number)}: {remedy}").at(name)
    return checked


MIN_RADIUS = 1e-100
MAX_RADIUS = 1e100
"""Between these the norms of vectors can be squared without loss."""


def check_radius(radius: object) -> float:
    """Return `radius` as a float if a ball may have it."""
    return check_number("radius", radius, MIN_RADIUS, MAX_RADIUS, "the largest norm a person's vector may have")


def check_delta(delta: object) -> float:
    """Return `delta` as a float if a survey may use it."""
    remedy = "delta must be a number from 0 (pure epsilon-LDP) to below 1; where it is used, 1e-6 or less is usual"
    return _delta(delta, remedy)


def _delta(delta: object, remedy: str) -> float:
    if isinstance(delta, bool) or not isinstance(delta, Real):
        raise SurveyError(f"delta has type {type(delta).__name__}: {remedy}").at("delta")
    number = as_float(delta)
    if not 0 <= number < 1:
        raise SurveyError(f"delta is {_shown(delta)}: {remedy}").at("delta")
    return number


def check_central_delta(delta: object) -> float:
    """Return the delta of a central guarantee as a float if there can be a certificate at it.

    Examples
    --------
    >>> check_central_delta(0)
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: delta must be above 0: ...
    """
    number = _delta(delta, "delta must be a number above 0 and below 1; 1e-6 or less is usual")
    if not number:
        raise SurveyError(
            "delta must be above 0: with a small chance nobody's report hides this person's, so that without delta a "
            "shuffler adds nothing to the local guarantee; 1e-6 or less is usual"
        ).at("delta")
    return number
