"""How many people each strategy takes for the same accuracy: known mechanisms, ours, and what none can beat.

*Samples* is the published measure (McKenna, Maity, Mazumdar, Miklau 2020): the people it takes until the variance of a
query's answer, on average over the d queries, is `ALPHA` = 0.01. With V the noise of one report summed over the queries
that is V/(0.01 d). V is the worst value's, or, by the objective "total", the mean over all values.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError, SurveyError, WorkloadError
from sottovoce.core.limits import DEFAULT_PEOPLE, check_epsilon
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.questions.queries import Queries
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.laws.roots import gram_of
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.registry import STRATEGIES
from sottovoce.strategies.search.optimize import OBJECTIVES, optimize
from sottovoce.strategies.search.reconstruction import user_noise, worst_case_weights
from sottovoce.strategies.search.starts import analytic_starts
from sottovoce.strategies.setting import Setting
from sottovoce.workloads import Identity, Marginals, Parities, Prefix, Ranges, Stack, Workload

__all__ = [
    "ALPHA",
    "CHANNELS",
    "COLUMNS",
    "FAMILIES",
    "StrategyRow",
    "analytic_noise",
    "channel_noise",
    "evaluate",
    "family",
    "strategy_table",
]

Floats = NDArray[np.float64]
Progress = Callable[[str], object]

ALPHA: Final = 0.01
"""The variance of an answer, on average over the queries, that samples are counted for."""

CHANNELS: Final = ("randomized_response", "hadamard", "subset_selection", "projective_geometry")
"""Mechanisms for single values, read by the best linear reconstruction for the queries."""

_UNSEARCHED: Final = tuple(name for name in Queries.strategies if not STRATEGIES[name].searched)
COLUMNS: Final = (*CHANNELS, *_UNSEARCHED, OptimizedStrategy.name, "auto", "lower_bound")

_MOST_ENTRIES: Final = 2**22
"""Largest number of entries of a channel that is written out."""
_ROUNDS: Final = 12
"""Rounds of the search for the weights that serve the worst value best."""


def _bits(values: int) -> dict[str, int]:
    bits = values.bit_length() - 1
    if values != 1 << bits or bits < 3:
        raise WorkloadError(
            f"{values:,} values are not binary records: give a power of two, 8 or more, or other workloads"
        )
    return {f"bit{i}": 2 for i in range(bits)}


def _all_marginals(values: int) -> Workload:
    bits = _bits(values)
    return Stack([Marginals(bits, k) for k in range(1, len(bits) + 1)])


FAMILIES: Final[dict[str, Callable[[int], Workload]]] = {
    "histogram": Identity,
    "prefix": Prefix,
    "ranges": Ranges,
    "marginals": _all_marginals,
    "3way": lambda values: Marginals(_bits(values), 3),
    "parities": lambda values: Parities(len(_bits(values)), 3),
}
"""Query sets by the number of values: each value's share; cumulative; every interval; the tables of any attributes, of
any three; the parities of up to three. The last three are over records of yes and no."""


def family(name: str, values: int) -> Workload:
    """The query set of that name.

    Examples
    --------
    >>> family("marginals", 128).shape  # 3^7 - 1 cells of 127 tables
    (2186, 128)
    """
    made = FAMILIES.get(name)
    if made is None:
        raise WorkloadError(f"{name!r} is not a query set of this table; choose among {', '.join(FAMILIES)}")
    return made(values)


@dataclass(frozen=True)
class StrategyRow:
    """One query set at one epsilon.

    Attributes
    ----------
    noise
        V of every column, or None where it cannot serve.
    finished
        Whether the search for a channel ended by itself.
    """

    workload: str
    values: int
    n_queries: int
    epsilon: float
    objective: str
    noise: dict[str, float | None]
    finished: bool
    seconds: float

    def samples(self, column: str) -> float | None:
        """People it takes until the mean variance of an answer is `ALPHA`."""
        noise = self.noise[column]
        return None if noise is None else noise / (ALPHA * self.n_queries)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "workload": self.workload,
            "values": self.values,
            "n_queries": self.n_queries,
            "epsilon": self.epsilon,
            "objective": self.objective,
            "variance": dict(self.noise),
            "samples": {column: self.samples(column) for column in self.noise},
            "finished": self.finished,
            "seconds": self.seconds,
        }


def strategy_table(
    families: Sequence[str] = tuple(FAMILIES),
    values: Sequence[int] = (128,),
    epsilons: Sequence[float] = (1.0,),
    *,
    objective: str = "worst",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Iterator[StrategyRow]:
    """One row after another, each when it is ready.

    Parameters
    ----------
    time_limit
        Seconds for one search; without it a search of 128 values takes about half a minute and is kept for next time.
    progress
        Called with words that say what is being worked on.
    """
    if objective not in OBJECTIVES:
        raise SurveyError(f"the objective must be one of {', '.join(map(repr, OBJECTIVES))}")
    asked = [
        (name, size, family(name, size), check_epsilon(epsilon))
        for size in values
        for name in families
        for epsilon in epsilons
    ]
    for number, (name, size, workload, epsilon) in enumerate(asked, start=1):
        what = f"{number} of {len(asked)}: {name} of {size:,} values at epsilon {epsilon:g}"
        yield evaluate(
            workload,
            epsilon,
            name=name,
            objective=objective,
            time_limit=time_limit,
            progress=None if progress is None else _prefixed(progress, what),
        )


def _prefixed(progress: Progress, what: str) -> Progress:
    return lambda words: progress(f"{what}, {words}")


def evaluate(
    workload: Workload,
    epsilon: float,
    *,
    name: str = "",
    objective: str = "worst",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> StrategyRow:
    """Every column for one query set.

    "auto" is the best strategy that a survey can use, the optimized one included.

    Examples
    --------
    >>> row = evaluate(Prefix(8), 1.0)
    >>> row.noise["lower_bound"] < row.noise["auto"] <= row.noise["optimized"] < row.noise["haar"]
    True
    """
    began = time.perf_counter()
    tell = progress or (lambda words: None)
    tell("known mechanisms")
    noise: dict[str, float | None] = dict.fromkeys(COLUMNS)
    noise.update(channel_noise(workload, epsilon, objective))
    strategies = analytic_noise(workload, epsilon, objective, progress)
    tell("searching")

    def searched(steps: int, value: float) -> None:
        tell(f"searching, {value:,.4g} after {steps} steps")

    began_search = time.monotonic()
    optimized = optimize(
        workload,
        epsilon,
        objective=objective,
        time_limit=time_limit,
        progress=searched,
    )
    if not optimized.finished and time.monotonic() - began_search < (time_limit or math.inf):
        raise KeyboardInterrupt  # a search keeps its best and goes on; a table ends
    strategies[OptimizedStrategy.name] = optimized.value
    noise.update(strategies)
    noise["auto"] = min(strategies.values())
    noise["lower_bound"] = optimized.lower_bound
    return StrategyRow(
        workload=name or workload.kind,
        values=workload.domain.size,
        n_queries=workload.n_queries,
        epsilon=epsilon,
        objective=objective,
        noise=noise,
        finished=optimized.finished,
        seconds=time.perf_counter() - began,
    )


def channel_noise(workload: Workload, epsilon: float, objective: str = "worst") -> dict[str, float]:
    """V of the known mechanisms for single values, each with the best linear reconstruction for these queries.

    Channels are written out and reconstructed for the objective. Subset selection has too many reports for that beyond
    a few values; its own estimate, then multiplied by the queries, is the best reconstruction for the mean over values.

    Examples
    --------
    >>> {name: round(noise) for name, noise in channel_noise(Prefix(32), 1.0).items()}
    {'randomized_response': 2137, 'hadamard': 1070, 'projective_geometry': 975, 'subset_selection': 608}
    """
    size = workload.domain.size
    gram, even = gram_of(workload), np.full(size, 1 / size)
    variances: dict[str, float] = {}
    for start in analytic_starts(size, epsilon, max(1, _MOST_ENTRIES // size)):
        if start.name in CHANNELS:
            channel = start.channel(epsilon)
            weights = worst_case_weights(channel, gram, even, rounds=_ROUNDS) if objective == "worst" else even
            each = user_noise(channel, gram, weights)
            variances[start.name] = float(each.max() if objective == "worst" else each.mean())
    if SubsetSelection.name not in variances:
        subsets = Histogram(workload, SubsetSelection.best(size, epsilon))
        variances[SubsetSelection.name] = subsets.worst if objective == "worst" else subsets.total
    return {name: noise for name, noise in variances.items() if math.isfinite(noise)}


def analytic_noise(
    workload: Workload, epsilon: float, objective: str = "worst", progress: Progress | None = None
) -> dict[str, float]:
    """V of every strategy that needs no search and can serve, by its best mechanism."""
    setting = Setting(workload, epsilon, 0.0, DEFAULT_PEOPLE)
    noise: dict[str, float] = {}
    for name in _UNSEARCHED:
        if progress is not None:
            progress(name)
        try:
            designs = STRATEGIES[name].designs(setting)
            noise[name] = min(design.worst if objective == "worst" else design.total for design in designs)
        except (SurveyError, CapacityError):
            continue
    return noise
