"""How well weighted estimates hold: bias, coverage of intervals, stated against empirical errors and sample sizes.

Respondents are skewed by age and sex, people and reports are drawn anew in every run, seeded. Written as a page of the
documentation:

    python -m evidence.experiments.weighting --out docs/contributors/weighting.md
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import sottovoce as sv
from sottovoce.core.errors import SurveyError
from sottovoce.core.files import write_file

__all__ = ["CASES", "Case", "Measured", "measure", "page", "skewed_people"]

SEED: Final = 20_270_201

AGES: Final = ("18-39", "40-64", "65+")
SEXES: Final = ("f", "m")
DRINKS: Final = ("tea", "coffee")

POPULATION: Final = {"age": dict(zip(AGES, (0.35, 0.4, 0.25), strict=True)), "sex": {"f": 0.5, "m": 0.5}}
ANSWERING: Final = np.array([[0.33, 0.22], [0.2, 0.12], [0.08, 0.05]])
"""Shares of the respondents by age and sex: many young people and women, few old men."""

TEA: Final = np.array([[0.8, 0.7], [0.5, 0.4], [0.25, 0.15]])
"""The share of tea by age and sex: effects of both add up, so that both margins together mend the bias."""


class Case(NamedTuple):
    """What is weighed, and how."""

    name: str
    public: tuple[str, ...]
    margins: tuple[str, ...]
    method: str | None
    epsilon: float
    people: int
    tables: int = 2

    @property
    def asked(self) -> Any:
        """The drink alone where nothing else is private, else a form."""
        values = {"age": AGES, "sex": SEXES}
        private = {name: [*values[name]] for name in values if name not in self.public and name in self.margins}
        if not private:
            return sv.shares([*DRINKS])
        return sv.records({**private, "drink": [*DRINKS]}, tables=self.tables)

    @property
    def survey(self) -> sv.Survey:
        """The survey of the case."""
        values = {"age": AGES, "sex": SEXES}
        groups = {name: [*values[name]] for name in self.public} or None
        return sv.Survey(self.asked, epsilon=self.epsilon, groups=groups)

    @property
    def truth(self) -> float:
        """The share of tea in the population that has these margins; sexes as they answer where only age is known."""
        ages = np.array([*POPULATION["age"].values()])
        within = ANSWERING / ANSWERING.sum(axis=1, keepdims=True)
        sexes = np.array([0.5, 0.5]) if "sex" in self.margins else None
        shares = within if sexes is None else np.tile(sexes, (len(AGES), 1))
        return float((ages[:, None] * shares * TEA).sum())


def _cases() -> Iterator[Case]:
    for epsilon, few, many in ((0.5, 10_000, 200_000), (1.0, 5_000, 50_000), (2.0, 2_000, 20_000), (4.0, 1_000, 5_000)):
        yield Case("groups of age", ("age",), ("age",), None, epsilon, few)
        yield Case("groups of age and sex", ("age", "sex"), ("age", "sex"), None, epsilon, few)
        yield Case("field age", (), ("age",), "greg", epsilon, many)
        yield Case("fields age and sex", (), ("age", "sex"), "greg", epsilon, many)
        yield Case("fields age and sex", (), ("age", "sex"), "rake", epsilon, 2 * many, 3)
        yield Case("groups of age, field sex", ("age",), ("age", "sex"), "greg", epsilon, many)
        yield Case("groups of age, field sex", ("age",), ("age", "sex"), "rake", epsilon, many)


CASES: Final = tuple(_cases())


def skewed_people(case: Case, survey: sv.Survey, rng: np.random.Generator) -> Any:
    """Respondents of one run: columns of a form, or values, by public group where there are any."""
    cell = rng.choice(ANSWERING.size, case.people, p=ANSWERING.ravel())
    age, sex = np.divmod(cell, 2)
    columns = {
        "age": np.array(AGES)[age],
        "sex": np.array(SEXES)[sex],
        "drink": np.where(rng.random(case.people) < TEA[age, sex], *DRINKS),
    }
    names = survey.question.field_names
    if survey.groups is None:
        return {name: columns[name] for name in names}
    people = {}
    for group in survey.groups:
        mine = np.all([columns[name] == value for name, value in group.values.items()], axis=0)
        own = {name: column[mine] for name, column in columns.items()}
        people[group.label] = {name: own[name] for name in names} if names else own["drink"].tolist()
    return people


class Measured(NamedTuple):
    """What the runs of a case gave: figures of the share of tea, in points, and shares of runs."""

    case: Case
    refused: int
    before: float
    bias: float
    uncertain: float
    stated: float
    empirical: float
    held: float
    worth: float
    worth_empirical: float


def measure(case: Case, runs: int, seed: int = SEED) -> Measured:
    """Run a case; refused runs are counted and left out."""
    rng = np.random.default_rng([seed, *map(ord, case.name + str(case.method)), int(10 * case.epsilon)])
    survey, rows, refused = case.survey, [], 0
    population = {name: POPULATION[name] for name in case.margins}
    for _ in range(runs):
        people, own = skewed_people(case, survey, rng), int(rng.integers(2**31))
        draw = survey.simulate_groups if survey.groups else survey.simulate_aggregate
        estimate = survey.estimate(draw(people, seed=own))
        name = "drink=tea" if survey.question.field_names else "tea"
        try:
            weighted = estimate.weighted(population, answers=[name], method=case.method)
        except SurveyError:
            refused += 1
            continue
        answer = weighted[name]
        held = answer.low <= case.truth <= answer.high
        before = float(estimate.raw[survey.answer_index(name)])
        rows.append((before, answer.raw, weighted.standard_errors[0], held, weighted.effective_reports))
    if len(rows) < 2:
        return Measured(case, refused, *(float("nan"),) * 8)
    before, raw, errors, hits, worth = np.array(rows, dtype=np.float64).T
    return Measured(
        case,
        refused,
        float(before.mean() - case.truth),
        float(raw.mean() - case.truth),
        float(raw.std(ddof=1) / np.sqrt(len(raw))),
        float(np.sqrt((errors**2).mean())),
        float(raw.std(ddof=1)),
        float(hits.mean()),
        float(np.median(worth)),
        float(case.people * before.var(ddof=1) / raw.var(ddof=1)),
    )


def _row(found: Measured) -> str:
    case = found.case
    points = [f"{100 * number:+.1f}".replace("-0.0", "+0.0") for number in (found.before, found.bias)]
    cells = [
        case.name,
        case.method or "rake",
        f"{case.epsilon:g}",
        f"{case.people:,}",
        f"{points[0]}",
        f"{points[1]} ± {200 * found.uncertain:.1f}",
        f"{100 * found.stated:.2f}",
        f"{100 * found.empirical:.2f}",
        f"{100 * found.held:.1f} %",
        f"{found.worth:,.0f}",
        f"{found.worth_empirical:,.0f}",
        f"{found.refused}",
    ]
    return f"| {' | '.join(cells)} |"


_HEAD: Final = """# Weighting, measured

How well [weighted estimates](../weighting.md) hold. This page is written by its measurement, which is seeded and takes
about half an hour:

```console
$ python -m evidence.experiments.weighting --out docs/contributors/weighting.md
```

The question is the share of tea. Respondents are mostly young and female, and the young and women drink more tea:
{truth} of the population do, and {answering} of the respondents. People and their reports are drawn anew in each of
{runs:,} runs.

*Bias*: the mean error of the share, in points, before and after weighting, the latter with two standard errors of the
simulation. *Stated* and *empirical*: the standard error, in points, that the estimate states and that the runs had.
*Held*: how often the 95 % interval held the truth. *Worth*: `effective_reports`, and the same from the variances of the
runs. *Refused*: runs in which a share of respondents was below three standard errors, which are left out. With age
alone, the truth is that of a population with the sexes that answer: weights mend what they show.

"""

_COLUMNS: Final = (
    *("weighed by", "method", "epsilon", "reports", "bias before", "bias after", "stated", "empirical", "held"),
    *("worth", "empirically", "refused"),
)


def page(runs: int, cases: Sequence[Case] = CASES) -> str:
    """The page of the documentation."""
    with ProcessPoolExecutor(2) as pool:
        rows = [_row(found) for found in pool.map(measure, cases, [runs] * len(cases))]
    both = Case("", (), ("age", "sex"), None, 1.0, 1)
    truth, answering = (f"{100 * share:.1f} %" for share in (both.truth, float((ANSWERING * TEA).sum())))
    head = _HEAD.format(truth=truth, answering=answering, runs=runs)
    return head + "\n".join([f"| {' | '.join(_COLUMNS)} |", "|---" * len(_COLUMNS) + "|", *rows, ""])


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=250)
    arguments = parser.parse_args()
    write_file(arguments.out, page(arguments.runs).encode())


if __name__ == "__main__":
    main()
