"""Measure every mechanism, and other packages, on the user's own data: error, report size, time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from evidence.compare.peers import ON_THE_SIMPLEX, Peer
from sottovoce.core.errors import CapacityError, SimulationError, SurveyError
from sottovoce.figures.style import STYLE, finish_axes, new_figure, require_matplotlib
from sottovoce.lab.simulation.repeats import check_repeats, mean_and_error, seeds_of
from sottovoce.mechanisms import FiniteMechanism, candidates
from sottovoce.questions.queries import Queries
from sottovoce.surveys.survey import Survey
from sottovoce.workloads.base import Workload

__all__ = ["ON_THE_SIMPLEX", "PEER_PEOPLE", "Compared", "compare", "compare_strategies", "comparison_figure", "sampled"]

PEER_PEOPLE: Final = 20_000
"""Default number of people with other packages, which process them one by one in Python."""

MOST_BITS: Final = 2.5e9
"""Largest number of bits that one mechanism draws for its row, about a minute.

The limits of other packages are in `evidence.compare.peers`.
"""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """The result of one mechanism, averaged over the repeats.

    Attributes
    ----------
    l2, l2_standard_error
        Distance of the projected estimate from the shares in the data themselves.
    l2_raw, l2_raw_standard_error
        The same before projecting; None for other packages.
    largest, largest_standard_error
        The largest error of one value's share, projected.
    report_bytes
        For other packages, which have no encoding, the bytes that hold what their client returns.
    seconds, seconds_standard_error
        For all reports, counting and estimating, once; without importing, compiling and filling caches.
    projection
        How the estimate is made a distribution; other packages differ.
    problem
        Why there is no figure: another package failed, or it would take too long.
    """

    package: str
    mechanism: str
    epsilon: float
    people: int
    values: int
    repeats: int
    l2: float | None = None
    l2_standard_error: float | None = None
    l2_raw: float | None = None
    l2_raw_standard_error: float | None = None
    largest: float | None = None
    largest_standard_error: float | None = None
    report_bytes: int | None = None
    seconds: float | None = None
    seconds_standard_error: float | None = None
    projection: str = ON_THE_SIMPLEX
    problem: str = ""

    @property
    def name(self) -> str:
        """The mechanism, with its package where that is another."""
        return self.mechanism if self.package == "sottovoce" else f"{self.package} {self.mechanism}"

    def to_dict(self) -> dict[str, Any]:
        """A row of the table."""
        return asdict(self)


def sampled(values: Integers, people: int | None, seed: int) -> Integers:
    """Sample people without replacement; deterministic for a seed."""
    if people is None or people >= len(values):
        return values
    if people < 1:
        raise SimulationError(f"sample is {people}: it must be 1 or more; leave it out to take everybody").at("sample")
    return np.random.default_rng(seed).choice(values, size=people, replace=False)


def compare(
    values: Integers,
    size: int,
    epsilons: Sequence[float],
    *,
    peers: Sequence[Peer] = (),
    repeats: int = 10,
    seed: int = 7,
    advance: Callable[[int], object] = lambda done: None,
) -> tuple[Compared, ...]:
    """Randomize the values `repeats` times with each mechanism, and measure the errors.

    Parameters
    ----------
    values
        Everybody's value, as an index below `size`.
    advance
        Called with 1 for each mechanism done at each epsilon.

    Examples
    --------
    >>> people = np.random.default_rng(1).integers(0, 8, size=5000)
    >>> found = compare(people, 8, [1.0], repeats=3)
    >>> min(found, key=lambda one: one.l2).package, len(found)
    ('sottovoce', 7)
    """
    check_repeats(repeats, fewest=2)
    counts = np.bincount(values, minlength=size)
    truth = counts / len(values)
    found = []
    for epsilon in dict.fromkeys(epsilons):
        for mechanism in candidates(FiniteMechanism, size, epsilon):
            survey = Survey(sv.shares(size), epsilon=epsilon, mechanism=mechanism.name)
            found.append(_ours(survey, counts, truth, repeats, seed))
            advance(1)
        for peer in peers:
            found.append(_theirs(peer, values, truth, epsilon, repeats))
            advance(1)
    return tuple(found)


def compare_strategies(
    values: Integers,
    workload: Workload,
    epsilons: Sequence[float],
    *,
    repeats: int = 10,
    seed: int = 7,
    advance: Callable[[int], object] = lambda done: None,
) -> tuple[Compared, ...]:
    """The same for a set of queries about the values: every strategy that can answer them, each with its mechanism.

    Parameters
    ----------
    values
        Everybody's value, as an index into the workload's domain.
    advance
        Called with 1 for each strategy done at each epsilon.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> people = np.random.default_rng(1).integers(0, 8, size=5000)
    >>> found = compare_strategies(people, Prefix(8), [1.0], repeats=2)
    >>> [one.mechanism for one in found if one.problem]
    ['fourier', 'tables']
    """
    check_repeats(repeats, fewest=2)
    counts = np.bincount(values, minlength=workload.n_values)
    truth = workload.matvec(counts / len(values))
    found = []
    for epsilon in dict.fromkeys(epsilons):
        for name in Queries.strategies:
            about = Compared("sottovoce", name, epsilon, len(values), workload.n_values, repeats)
            try:
                survey = Survey(sv.queries(workload), epsilon=epsilon, strategy=name, people=len(values))
            except (SurveyError, CapacityError):
                found.append(replace(about, problem="not for these queries"))
            else:
                found.append(_ours(survey, counts, truth, repeats, seed, f"{name} ({survey.mechanism.name})"))
            advance(1)
    return tuple(found)


def _ours(survey: Survey, counts: Integers, truth: Floats, repeats: int, seed: int, name: str = "") -> Compared:
    people, bits = int(counts.sum()), survey.mechanism.report_bits
    about = Compared(
        *("sottovoce", name or survey.mechanism.name, survey.epsilon, people, len(counts), repeats),
        report_bytes=survey.mechanism.report_bytes,
    )
    if people * bits * repeats > MOST_BITS:
        fewer = int(MOST_BITS // (bits * repeats))
        return replace(about, problem=f"left out above {fewer:,} people")
    # Compile and fill caches before timing.
    survey.estimate(survey.simulate_aggregate(histogram=(np.arange(len(counts)) < 2).astype(np.int64), seed=seed))
    projected, raw, largest, seconds = [], [], [], []
    for report_seed in seeds_of(seed, repeats):
        began = time.perf_counter()
        estimate = survey.estimate(survey.simulate_aggregate(histogram=counts, seed=report_seed))
        seconds.append(time.perf_counter() - began)
        projected.append(float(np.linalg.norm(estimate.values - truth)))
        raw.append(float(np.linalg.norm(estimate.raw - truth)))
        largest.append(float(np.abs(estimate.values - truth).max()))
    return replace(
        about,
        **_with_error("l2", projected),
        **_with_error("l2_raw", raw),
        **_with_error("largest", largest),
        **_with_error("seconds", seconds),
    )


def _theirs(peer: Peer, values: Integers, truth: Floats, epsilon: float, repeats: int) -> Compared:
    size = len(truth)
    about = Compared(
        *(peer.package, peer.mechanism, epsilon, len(values), size, repeats),
        report_bytes=-(-peer.report_bits(size, epsilon) // 8),
        projection=peer.projects,
    )
    most = peer.work(size, epsilon).most_people(repeats)
    if len(values) > most:
        return replace(
            about, problem=f"left out above {most:,} people" if most else "left out for any number of people"
        )
    errors, largest, seconds = [], [], []
    try:
        peer.estimate(np.arange(2), size, epsilon)  # import, compile and fill caches before timing
        for _ in range(repeats):
            began = time.perf_counter()
            estimate = peer.estimate(values, size, epsilon)
            seconds.append(time.perf_counter() - began)
            errors.append(float(np.linalg.norm(estimate - truth)))
            largest.append(float(np.abs(estimate - truth).max()))
    except Exception as error:  # a failure of another package is a row of the table
        return replace(about, problem=f"it raised {type(error).__name__}")
    return replace(
        about, **_with_error("l2", errors), **_with_error("largest", largest), **_with_error("seconds", seconds)
    )


def _with_error(name: str, figures: Sequence[float]) -> dict[str, Any]:
    """The fields of a mean and its standard error."""
    mean, error = mean_and_error(figures)
    return {name: mean, f"{name}_standard_error": error}


def comparison_figure(found: Sequence[Compared]) -> Any:
    """A panel for each epsilon, the least error on top; other packages in another colour."""
    require_matplotlib()
    epsilons = list(dict.fromkeys(one.epsilon for one in found))
    most = max(sum(one.epsilon == epsilon and one.l2 is not None for one in found) for epsilon in epsilons)
    figure = new_figure(9, 0.9 + (0.9 + 0.34 * most) * len(epsilons))
    for ax, epsilon in zip(figure.subplots(len(epsilons), squeeze=False)[:, 0], epsilons, strict=True):
        rows = sorted(
            (one for one in found if one.epsilon == epsilon and one.l2 is not None), key=lambda one: -(one.l2 or 0.0)
        )
        ax.barh(
            [one.name for one in rows],
            [one.l2 for one in rows],
            xerr=[one.l2_standard_error for one in rows],
            color=[STYLE["bar"] if one.package == "sottovoce" else STYLE["line"] for one in rows],
            error_kw={"ecolor": STYLE["ink"], "capsize": 2},
        )
        ax.set_xlim(left=0)
        finish_axes(ax, f"L2 error, projected{_otherwise(rows)}, ± one standard error", "")
        ax.set_title(
            f"{rows[0].people:,} people, {rows[0].values:,} values, epsilon {epsilon:g}",
            loc="left",
            fontsize=13,
            color=STYLE["ink"],
        )
    return figure


def _otherwise(rows: Sequence[Compared]) -> str:
    """Which packages do not project, and what they do."""
    told = dict.fromkeys(f"{one.package}: {one.projection}" for one in rows if one.projection != ON_THE_SIMPLEX)
    return f" ({', '.join(told)})" if told else ""
