"""Errors after projection, measured on simulated people: what is left of a strategy's lead when answers are projected.

Two projections: by the noise's own measure, in the strategy's coordinates (`Strategy.project`), and of the raw answers
as they stand, all directions alike (`project_hull`). The paper's Gaussian, which needs a delta, stands beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.limits import check_epsilon
from sottovoce.lab.simulation.repeats import seeds_of
from sottovoce.lab.simulation.strategy_table import family
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.projections.hull import project_hull
from sottovoce.questions.queries import Queries
from sottovoce.strategies.coordinates import CoordinateStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.search.optimize import optimize
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Workload

__all__ = ["DELTA", "PEOPLE", "POPULATIONS", "MeasuredStrategy", "measure_strategies", "measure_strategy"]

Floats = NDArray[np.float64]

PEOPLE: Final = (10_000, 100_000, 1_000_000)
DELTA: Final = 1e-6
"""Delta of the Gaussian mechanism."""
REPEATS: Final = 3
SEED: Final = 7


def _bimodal(size: int) -> Floats:
    at = np.arange(size) / size
    return np.asarray(np.exp(-(((at - 0.3) / 0.06) ** 2) / 2) + 0.6 * np.exp(-(((at - 0.7) / 0.1) ** 2) / 2))


POPULATIONS: Final[dict[str, Callable[[int], Floats]]] = {
    "zipf": lambda size: np.asarray(1 / np.arange(1, size + 1)),
    "bimodal": _bimodal,
    "point": lambda size: np.asarray(np.arange(size) == size // 3, dtype=np.float64),
}
"""Zipf's law; two normal curves, around three and seven tenths of the line; everybody at one third of it."""


@dataclass(frozen=True)
class MeasuredStrategy:
    """Root mean square L2 errors over the repeats, against the answers of the distribution people are drawn from."""

    workload: str
    values: int
    epsilon: float
    population: str
    strategy: str
    mechanism: str
    people: int
    l2_raw: float
    l2_weighted: float
    l2_plain: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def measure_strategies(
    families: Sequence[str] = ("prefix",),
    values: Sequence[int] = (128,),
    epsilons: Sequence[float] = (1.0,),
    *,
    people: Sequence[int] = PEOPLE,
    repeats: int = REPEATS,
    time_limit: float | None = None,
    progress: Callable[[str], object] | None = None,
) -> Iterator[MeasuredStrategy]:
    """The optimized, the automatic and the direct strategy, and the Gaussian, for every population and crowd."""
    asked = [
        (name, size, family(name, size), check_epsilon(e)) for size in values for name in families for e in epsilons
    ]
    for name, size, workload, epsilon in asked:
        what = f"{name} of {size:,} values at epsilon {epsilon:g}"
        if progress is not None:
            progress(f"{what}: searching")
        optimized = optimize(workload, epsilon, time_limit=time_limit)
        searched = OptimizedStrategy.of(workload, epsilon, optimized.matrix, optimized.weights)
        for crowd in people:
            for label, survey in _surveys(searched, epsilon, crowd):
                for population in POPULATIONS:
                    if progress is not None:
                        progress(f"{what}: {label}, {population}, {crowd:,} people")
                    yield measure_strategy(survey, population, crowd, label=label, name=name, repeats=repeats)


def _surveys(searched: OptimizedStrategy, epsilon: float, people: int) -> Iterator[tuple[str, Survey]]:
    workload = searched.workload
    yield "optimized", Survey(Queries(workload), epsilon=epsilon, strategy=searched, people=people)
    yield "auto", Survey(Queries(workload), epsilon=epsilon, strategy="auto", people=people)
    yield "direct", Survey(Queries(workload), epsilon=epsilon, strategy="direct", people=people)
    yield (
        "gaussian",
        Survey(Queries(workload), epsilon=epsilon, delta=DELTA, mechanism="gaussian", strategy="direct", people=people),
    )


def measure_strategy(
    survey: Survey, population: str, people: int, *, label: str = "", name: str = "", repeats: int = REPEATS
) -> MeasuredStrategy:
    """One survey, one population, one crowd.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.workloads import Prefix
    >>> survey = Survey(sv.queries(Prefix(16)), epsilon=1.0, strategy="haar")
    >>> found = measure_strategy(survey, "bimodal", 2_000)
    >>> found.l2_weighted < found.l2_raw
    True
    """
    design = cast(CoordinateStrategy, survey.design)
    workload: Workload = design.workload
    weights = POPULATIONS[population](workload.n_values)
    weights = weights / weights.sum()
    truth = workload.matvec(weights)
    squares = []
    seeds = seeds_of(SEED, 2 * repeats)
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        raw = _coordinates(survey, histogram_of(weights, people, people_seed), report_seed)
        answers = design.answers(raw)
        estimates = (answers, design.project_coordinates(raw).values, project_hull(workload, answers).values)
        squares.append([float(np.sum((estimate - truth) ** 2)) for estimate in estimates])
    errors = np.sqrt(np.mean(squares, axis=0)).tolist()
    return MeasuredStrategy(
        name or workload.kind,
        workload.n_values,
        survey.epsilon,
        population,
        label or design.name,
        survey.mechanism.name,
        people,
        *errors,
    )


def _coordinates(survey: Survey, histogram: NDArray[np.int64], seed: int) -> Floats:
    mechanism = survey.mechanism
    people = int(histogram.sum())
    if isinstance(mechanism, VectorMechanism) and mechanism.name == "gaussian":
        # The sum of all discrete Gaussians is drawn at once: a million of them in every coordinate take minutes.
        rng = np.random.default_rng(seed)
        mean = survey.design.workload.matvec(histogram / people)
        return np.asarray(mean + np.sqrt(mechanism.noise / people) * rng.standard_normal(len(mean)))
    counts = survey.simulate_aggregate(histogram=histogram, seed=seed).counts
    return cast(CoordinateStrategy, survey.design).raw_coordinates(counts, people)
