"""Made-up records and relations from forms: how near the records come to the tables, and how well intervals hold.

Seeded simulation, written as a page of the documentation:

    python -m evidence.experiments.forms --out docs/contributors/forms.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.core.files import write_file
from sottovoce.workloads.record_tables import input_columns

__all__ = ["MADE_UP", "POPULATIONS", "RELATED", "MadeUp", "Related", "made_up", "page", "related"]

Floats = NDArray[np.float64]

SEED: Final = 20_270_401
RUNS: Final = 100
RECORDS: Final = 10_000

# --- made-up records ----------------------------------------------------------------------------------


class Form(NamedTuple):
    """A form of lists and numbers, all of which depend on three things that are not asked."""

    name: str
    lists: int
    values: int
    numbers: int
    epsilon: float
    reports: int

    @property
    def fields(self) -> dict[str, Any]:
        lists = {f"list{at}": [f"v{value}" for value in range(self.values)] for at in range(self.lists)}
        return {**lists, **{f"number{at}": sv.number(-3, 3, points=7) for at in range(self.numbers)}}

    def people(self, rng: np.random.Generator) -> dict[str, Any]:
        size = self.lists + self.numbers
        loads = np.random.default_rng(SEED).normal(size=(3, size)) / 1.5
        hidden = rng.normal(size=(self.reports, 3)) @ loads + rng.normal(size=(self.reports, size))
        hidden /= np.sqrt(1 + np.square(loads).sum(axis=0))
        edges = np.linspace(-1.2, 1.2, self.values - 1)
        columns: dict[str, Any] = {}
        for at in range(self.lists):
            columns[f"list{at}"] = np.array([f"v{v}" for v in range(self.values)])[np.digitize(hidden[:, at], edges)]
        for at in range(self.numbers):
            columns[f"number{at}"] = np.clip(hidden[:, self.lists + at], -3, 3)
        return columns


MADE_UP: Final = (
    Form("4 lists of 4", 4, 4, 0, 4.0, 100_000),
    Form("2 lists of 3, 2 numbers", 2, 3, 2, 4.0, 100_000),
    Form("10 lists of 4", 10, 4, 0, 4.0, 200_000),
    Form("20 lists of 4", 20, 4, 0, 4.0, 200_000),
    Form("15 lists of 3, 5 numbers", 15, 3, 5, 4.0, 200_000),
)


class MadeUp(NamedTuple):
    """Mean distances of tables, as shares of people, and the seconds that `synthesize` takes of one core.

    `alone` and `pairs`: of made-up records from the estimate; `independent`: of independent columns from it, pairs;
    `estimated`, `true`, `true_independent`: of the estimate, of the records and of independent columns from the truth,
    pairs.
    """

    alone: float
    pairs: float
    independent: float
    estimated: float
    true: float
    true_independent: float
    seconds: float


def made_up(form: Form, records: int = RECORDS) -> MadeUp:
    """Estimate a form, make records up, and compare their tables."""
    columns = form.people(np.random.default_rng((SEED, form.lists, form.numbers)))
    survey = sv.Survey(sv.records(form.fields), epsilon=form.epsilon, people=form.reports)
    estimate: Any = survey.estimate(survey.simulate_aggregate(columns, seed=1))
    started = process_time()
    made = estimate.synthesize(records, seed=1)
    seconds = process_time() - started
    by_order = {order: [error.distance for error in made.errors if len(error.names) == order] for order in (1, 2)}
    workload: Any = survey.design.workload
    truth = _true_answers(workload, columns)
    drawn = _true_answers(workload, made.columns)
    apart, known, near, far = [], [], [], []
    for pair in combinations(form.fields, 2):
        wanted, true, got = (workload.table(answers, *pair) for answers in (estimate.values, truth, drawn))
        margins = np.outer(*(workload.table(estimate.values, name) for name in pair))
        apart.append(_distance(margins, wanted))
        known.append(_distance(wanted, true))
        near.append(_distance(got, true))
        far.append(_distance(margins, true))
    alone, pairs = (float(np.mean(by_order[order])) for order in (1, 2))
    estimated, true, true_independent = (float(np.mean(one)) for one in (known, near, far))
    return MadeUp(alone, pairs, float(np.mean(apart)), estimated, true, true_independent, seconds)


def _true_answers(workload: Any, columns: dict[str, Any]) -> Floats:
    """The shares of all cells among people, numbers between grid points counting for both."""
    rows = input_columns(workload.fields, columns)
    blocks = np.array_split(rows, max(1, len(rows) // 4_096))
    return np.asarray(sum(workload.columns(block).sum(axis=0) for block in blocks) / len(rows))


def _distance(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).sum()) / 2


# --- relations -----------------------------------------------------------------------------------------


def _normal(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    x = rng.normal(size=n)
    return x, 0.5 * x + np.sqrt(0.75) * rng.normal(size=n)


def _skewed(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    x = rng.gamma(4, 0.5, n) - 2
    return x, 0.5 * x + 0.8 * (rng.gamma(4, 0.5, n) - 2)


def _bounded(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    x = rng.uniform(-2, 2, n)
    return x, 0.5 * x + rng.uniform(-1, 1, n)


def _heteroscedastic(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    x = rng.normal(size=n)
    return x, 0.5 * x + (0.3 + 0.4 * np.abs(x)) * rng.normal(size=n)


def _weak(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    x = 0.6 * rng.normal(size=n)
    return x, 0.1 * x + rng.normal(size=n)


POPULATIONS: Final[dict[str, Callable[[np.random.Generator, int], tuple[Floats, Floats]]]] = {
    "normal": _normal,
    "skewed": _skewed,
    "bounded": _bounded,
    "heteroscedastic": _heteroscedastic,
    "weak x": _weak,
}

RELATED: Final = tuple(
    (name, epsilon, n) for name in POPULATIONS for epsilon, n in ((1.0, 300_000), (2.0, 200_000), (4.0, 30_000))
)


class Related(NamedTuple):
    """How often 95 % intervals hold the truth, the mean slope, its true value, and the widths of its intervals.

    `width` is the median from a form, `asked` that from as many people who were asked for the relation.
    """

    slope: float
    correlation: float
    mean: float
    true: float
    width: float
    asked: float


def related(name: str, epsilon: float, n: int, runs: int) -> Related:
    """Slopes and correlations from the tables of a form of two numbers of seven points, range +-3."""
    draw = POPULATIONS[name]
    x, y = (np.clip(one, -3, 3) for one in draw(np.random.default_rng(SEED), 4_000_000))
    true = float(np.cov(x, y)[0, 1] / x.var()), float(np.corrcoef(x, y)[0, 1])
    form = sv.Survey(
        sv.records({"x": sv.number(-3, 3, points=7), "y": sv.number(-3, 3, points=7)}), epsilon=epsilon, people=n
    )
    asked = sv.Survey(sv.relation({"x": sv.number(-3, 3)}, outcome={"y": sv.number(-3, 3)}), epsilon=epsilon, people=n)
    held, slopes, widths, others = [], [], [], []
    for run in range(runs):
        rng = np.random.default_rng((SEED, run))
        x, y = draw(rng, n)
        columns = {"x": x, "y": y}
        estimate: Any = form.estimate(form.simulate_aggregate(columns, seed=run))
        slope, correlation = estimate.regression("y", on="x").slope("x"), estimate.correlation("x", "y")
        held.append([one.low <= truth <= one.high for one, truth in zip((slope, correlation), true, strict=True)])
        slopes.append(slope.raw)
        widths.append(slope.high - slope.low)
        if run < max(3, runs // 10):
            other: Any = asked.estimate(asked.simulate_aggregate(columns, seed=run))
            answer = other.slope("x")
            others.append(answer.high - answer.low)
    cover = np.mean(held, axis=0)
    return Related(
        float(cover[0]),
        float(cover[1]),
        float(np.median(slopes)),
        true[0],
        float(np.median(widths)),
        float(np.median(others)),
    )


# --- the page --------------------------------------------------------------------------------------------


def page(runs: int = RUNS) -> str:
    """The page of the documentation, measured anew, by as many processes as there are cores."""
    with ProcessPoolExecutor() as pool:
        return "\n".join([*_lines(runs, pool), ""])


def _lines(runs: int, pool: Executor) -> Iterator[str]:
    forms = [pool.submit(made_up, form) for form in MADE_UP]
    cases = [pool.submit(related, *case, runs) for case in RELATED]
    yield from _HEAD.strip("\n").split("\n")
    headings = (
        *("form", "epsilon", "reports", "seconds", "alone", "pairs", "independent: pairs", "estimate to truth"),
        *("records to truth", "independent to truth"),
    )
    yield from _table(
        headings, [_made_up_row(form, found.result()) for form, found in zip(MADE_UP, forms, strict=True)]
    )
    yield from ("", *_RELATIONS.format(runs=runs).strip("\n").split("\n"))
    rows = [_related_row(case, found.result()) for case, found in zip(RELATED, cases, strict=True)]
    first = "population", "epsilon", "reports", "slope holds", "correlation holds", "slope: median", "truth"
    yield from _table((*first, "width from the form", "width if asked"), rows)


def _made_up_row(form: Form, found: MadeUp) -> list[str]:
    shares = (found.alone, found.pairs, found.independent, found.estimated, found.true, found.true_independent)
    head = [form.name, f"{form.epsilon:g}", f"{form.reports:,}", f"{found.seconds:.1f}"]
    return [*head, *(f"{100 * share:.2f} %" for share in shares)]


def _related_row(case: tuple[str, float, int], found: Related) -> list[str]:
    name, epsilon, n = case
    numbers = (found.mean, found.true, found.width, found.asked)
    cover = [f"{100 * share:.1f} %" for share in (found.slope, found.correlation)]
    return [name, f"{epsilon:g}", f"{n:,}", *cover, *(f"{number:.3f}" for number in numbers)]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    yield f"| {' | '.join(headings)} |"
    yield "|---" * len(headings) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


_HEAD: Final = """
# Forms: made-up records and relations, measured

This page is written by its measurement, which is seeded, but for the seconds of one core, and takes some minutes:

```console
$ python -m evidence.experiments.forms --out docs/contributors/forms.md
```

## Made-up records

10,000 [made-up records](../synthetic.md) of forms whose attributes all depend on three things that are not asked, so
that any two are related. Distances are half the sum of absolute differences of a table, the share of people who would
have to move, averaged over tables: *alone*, tables of one attribute, and *pairs*, of records from the estimate;
*independent*, of independent columns from it. The last three are of pairs from the truth. Forms of few attributes are
listed; the others are drawn from a tree and moved.
"""

_RELATIONS: Final = """
## Relations

Slopes and correlations [from a form](../relations.md#from-a-form) of two numbers of seven points, range +-3, in {runs}
surveys each: how often 95 % intervals hold the truth (standard error 2 points), the median slope beside the true one,
and the median width of its interval, beside that of as many people who were asked for the relation itself.
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the page to write")
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated surveys of each case")
    arguments = parser.parse_args()
    write_file(arguments.out, page(arguments.runs).encode())


if __name__ == "__main__":
    main()
