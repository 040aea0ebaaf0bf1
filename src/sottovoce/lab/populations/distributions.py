"""Distributions of simulated people: named ones, or one read from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError, SimulationError
from sottovoce.core.limits import check_domain_size
from sottovoce.lab.populations.real_data import REAL, real_data

__all__ = ["MAX_SIMULATED_VALUES", "NAMED", "frequencies"]

Floats = NDArray[np.float64]

MAX_FILE: Final = 2**30
"""Most characters of a text file of frequencies."""

MAX_SIMULATED_VALUES: Final = 2**26
"""Largest domain of a simulation: truth, counts and estimates are vectors of half a GiB each, some ten at once."""

GEOMETRIC_RATIO: Final = 0.95
"""Each value of the geometric distribution is this much rarer than the one before: 90 % lie on the first 45."""

SUM_TOLERANCE: Final = 1e-6
"""How far a file's numbers may sum from one; they are then divided by their sum."""


def _zipf(domain_size: int) -> Floats:
    return 1 / np.arange(1, domain_size + 1, dtype=np.float64)


def _uniform(domain_size: int) -> Floats:
    return np.ones(domain_size)


def _geometric(domain_size: int) -> Floats:
    return GEOMETRIC_RATIO ** np.arange(domain_size, dtype=np.float64)


NAMED: Final[dict[str, Callable[[int], Floats]]] = {
    "zipf": _zipf,
    "uniform": _uniform,
    "geometric": _geometric,
}
"""zipf: p(v) ~ 1/(v+1); uniform; geometric: p(v) ~ 0.95^v. All are scaled to sum to one. Real ones are in `REAL`."""


def frequencies(distribution: str, domain_size: int) -> Floats:
    """The named distribution over `domain_size` values, a real one of `REAL`, or the one in the file of that name.

    A file is text (numbers separated by commas, spaces or line ends) or a one-dimensional `.npy` array; it
    holds one non-negative number a value, and they sum to one. A file called like a named distribution is
    reached as ``./zipf``.

    Examples
    --------
    >>> frequencies("zipf", 4).round(2)
    array([0.48, 0.24, 0.16, 0.12])
    """
    size = check_domain_size(domain_size)
    if size > MAX_SIMULATED_VALUES:
        raise CapacityError(
            f"simulating {size:,} values would take vectors of {8 * size / 2**30:,.0f} GiB; "
            f"simulate at most {MAX_SIMULATED_VALUES:,}"
        )
    if distribution in REAL:
        return real_data(distribution, size).shares
    named = NAMED.get(distribution)
    weights = _from_file(Path(distribution), size) if named is None else named(size)
    return np.asarray(weights / weights.sum())


def _from_file(path: Path, size: int) -> Floats:
    try:
        numbers = _read_array(path) if path.suffix == ".npy" else _read_text(path)
        reason = ""
    except OSError as error:
        numbers, reason = None, f"cannot be read: {error.strerror or 'not an array file'}"
    except ValueError as error:
        numbers, reason = None, str(error)
    if numbers is None:
        raise SimulationError(
            f"population {str(path)!r} {reason}; give {', '.join([*NAMED, *REAL])}, or a file of {size:,} numbers"
        )
    return _checked(numbers, path, size)


def _read_array(path: Path) -> NDArray[np.float64]:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError("is not a NumPy array file of numbers") from error
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "fiu":
        raise ValueError("must hold a one-dimensional array of real numbers")
    return array.astype(np.float64)


def _read_text(path: Path) -> NDArray[np.float64]:
    """Numbers between commas and white space. Contents are never quoted: the name may be a wrong one."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MAX_FILE + 1)
    except UnicodeDecodeError as error:
        raise ValueError("is not a text file (an array's name must end in .npy)") from error
    if len(text) > MAX_FILE:
        raise ValueError(f"holds more than {MAX_FILE:,} characters")
    numbers: list[float] = []
    for position, line in enumerate(text.splitlines(), start=1):
        try:
            numbers.extend(map(float, line.replace(",", " ").split()))
        except ValueError:
            raise ValueError(f"holds something other than numbers in line {position}") from None
    return np.array(numbers, dtype=np.float64)


def _checked(numbers: Floats, path: Path, size: int) -> Floats:
    name = f"distribution file {str(path)!r}"
    if not len(numbers):
        raise SimulationError(f"{name} is empty: it must hold {size:,} non-negative numbers that sum to one")
    if len(numbers) != size:
        raise SimulationError(
            f"{name} holds {len(numbers):,} numbers, but the domain has {size:,} values: give one for each, or change "
            "the domain size"
        )
    bad = ~(np.isfinite(numbers) & (numbers >= 0))
    if bad.any():
        raise SimulationError(
            f"{name}: number {int(np.argmax(bad)) + 1} is negative or not finite; frequencies are numbers from 0 to 1"
        )
    total = float(numbers.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise SimulationError(
            f"{name}: the numbers sum to {total:.6g}; frequencies sum to one (within {SUM_TOLERANCE:g}): "
            "divide each by the sum"
        )
    return numbers
