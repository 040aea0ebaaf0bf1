"""Write docs/contributors/coverage.md: how often intervals hold, and how wide they are, from a run of the command.

Run `python -m evidence reproduce coverage --out DIR`, copy DIR/coverage.json to docs/coverage.json and DIR/coverage.png
to docs/images/reproduce/, and `python -m evidence.experiments.interval_cases --beside REVISION --out
docs/interval_cases.json`; then run this. A test keeps the page equal to what this writes from the file beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evidence.experiments.coverage import MANY
from evidence.experiments.interval_cases import LOOKED
from evidence.reproduce.coverage import FAMILIES, WIDEST

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, MEASURED = DOCS / "contributors" / "coverage.md", DOCS / "coverage.json"
CASES = DOCS / "interval_cases.json"

_HEAD = """\
# Intervals, measured

A 95 % interval should hold the truth in at least 95 of 100 surveys, for any number of people. Why ours do is
[proved](theory/intervals.md); here it is measured, over every mechanism and strategy:

```console
$ python -m evidence reproduce coverage --out coverage
```

It writes `reproduction.html`, one page with everything below, `coverage.csv` with every cell, and the picture.

## What is measured

A cell is a design, a number of people n (1, 20, 50, 500, 10,000 and a million), an epsilon (0.1, 1 and 5) and a
population (uniform; everybody has the same value; Zipf's law). Shares are asked over 16, 1,000 and 100,000 values;
queries are prefix sums, ranges, two-way tables and one mean. In every run people are drawn anew from the population,
each sends a report, and the single and the simultaneous 95 % intervals are compared with two truths: the answers of the
population, and those of these very people.

* **Single coverage** is the fraction of answers inside their intervals. Answers of one run depend on each other, so its
  standard error is that of the runs.
* **Simultaneous coverage** is the fraction of runs in which no answer lies outside.
* **Evidence** against 95 % is a number k, reached with probability 10^-k at most if the coverage is 95 % or more. It
  comes from a test by betting, valid for any distribution and any number of runs, and, for the worst answer of a
  cell, from an exact binomial tail.
* **Width** is half of the interval over 1.96 *true* standard deviations, from the exact variance of the design. Ends
  that any run clipped to the range of the answers are left out. It should be at most {widest:g} where reports are many:
  where a standard deviation is at least {many} times what one report can change. With fewer, counts are rare.

The number of runs follows from the size of a cell: as many as take about 0.2 s, at least 10 and at most 200. Cells of
which 10 runs would take more than about 6 s are skipped. Reports of unary encodings are not drawn one by one: their
bits are independent, so every count is a sum of two binomial numbers.

## What was found

"""

_PICTURE = """
![Fractions missed by intervals, and half-widths, against people, for three epsilons](../images/reproduce/coverage.png)

One mark per design, epsilon and number of people, over all sizes and populations; marks without a miss are at the
bottom. Simultaneous intervals are at Bonferroni's level, and cover more than 95 % where answers depend on each other.
With few people, intervals that hold are wide: at epsilon 5 and n = 50 most values are supported by no report at all.

"""

_CASES = """
## Ends, combinations and looks

Case by case, before and after the limits of counts, differences and bounded reports were sharpened, in one run over the
same people and the same reports; people are drawn anew from a population in each of {runs} runs. *Width* is half of the
interval over 1.96 empirical standard deviations of the raw answer, and less than 1 where the range cuts it off.
*Points* are intervals of no width, *outside* values that lay outside their own interval, *unknown* ratios whose
denominator may be zero. In so few runs a coverage of 95 % has a standard error of {error:.1%}. The grid above is of the
limits before.

| | | covered, before | after | width, before | after | points, outside before | after | unknown after |
|---|---|---:|---:|---:|---:|---:|---:|---:|
"""

_LOOKS = """
The change from everybody in one period to nobody in the next, 200 people each: the interval held in {before:.1%} of the
runs before, and in {after:.1%} after.

Looking {looks} times at a survey that grows from 30 to 10,000 reports, 30 % of the people saying yes: the interval of
one look excluded the truth at some time in {fixed:.0%} of {looks} surveys, the one of every look (`always=True`) in
{always:.0%}. At the last look it was {wider:.2f} times as wide.
"""

_END = """
## In Python

```python
>>> import numpy as np
>>> import sottovoce as sv
>>> from evidence.experiments.coverage import measure_coverage
>>> survey = sv.Survey(sv.shares(1000), epsilon=5.0, mechanism="randomized_response")
>>> everybody_alike = np.full(1000, 1 / 1000)
>>> coverage = measure_coverage(survey, everybody_alike, people=50, repeats=100, seed=1)
>>> coverage.simultaneous >= 0.95, coverage.single >= 0.95, coverage.evidence < 3
(True, True, True)
```
"""


def page(found: dict[str, Any], cases: dict[str, Any]) -> str:
    """The whole page, from the grid and from the cases."""
    designs = found["designs"]
    skipped = sum(found["skipped"].values())
    lines = [_HEAD.format(widest=WIDEST, many=MANY)]
    lines.append(
        f"Seed {found['seed']}: {found['cells'] - skipped:,} cells, {found['runs']:,} runs; {skipped} cells were "
        "[skipped](#what-was-skipped). "
        f"{found['made']['system']}, Python {found['made']['Python']}, NumPy {found['made']['NumPy']}.\n\n"
    )
    lines.append("| expected | found | |\n|---|---|---|\n")
    for check in found["checks"]:
        lines.append(f"| {check['expected']} | {check['found']} | {'yes' if check['holds'] else '**no**'} |\n")
    lines.append(
        f"\nCells in which single coverage is more than two standard errors below 95 %, of the population or of these "
        f"very people:\n{found['low']} of {found['cells'] - skipped:,}.\n"
    )
    lines.append(_PICTURE)
    lines.append(
        "Single and simultaneous: the mean of all cells or runs, for the population; *least*: the cell with the least "
        "coverage,\nof the population or of these very people, with its standard error or its number of runs. One of "
        "hundreds of cells is a\nfew standard errors low by chance.\n"
    )
    for family, words in FAMILIES.items():
        lines.append(f"\n### {words[0].upper()}{words[1:]}\n\n")
        lines.append(
            "| design | values | cells | runs per cell | single | least | simultaneous | least | width, n = 10^6 | "
            "widest, many reports |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        )
        lines.extend(_row(one) for one in designs if one["family"] == family)
    lines.append(_skipped(found["skipped"]))
    return "".join([*lines, _cases(cases), _END])


def _cases(found: dict[str, Any]) -> str:
    before, after = found["before"], found["after"]
    rows = []
    for old, new in zip(before["cases"], after["cases"], strict=True):
        faults = (f"{one['points']:.1%}, {one['outside']:.1%}" for one in (old, new))
        widths = (f"{one['width']:.2f}" if one["width"] else "" for one in (old, new))
        covered = (f"{one['covered']:.1%}" for one in (old, new))
        unknown = f"{new['unknown']:.1%}" if new["unknown"] else ""
        rows.append(f"| {new['group']} | {' | '.join([new['name'], *covered, *widths, *faults, unknown])} |\n")
    looks = after["looks"]
    told = _LOOKS.format(
        before=before["periods"]["covered"],
        after=after["periods"]["covered"],
        looks=LOOKED,
        fixed=looks["one look, ever wrong"],
        always=looks["every look, ever wrong"],
        wider=looks["every look, half-width"] / looks["one look, half-width"],
    )
    return _CASES.format(runs=after["runs"], error=(0.95 * 0.05 / after["runs"]) ** 0.5) + "".join(rows) + told


def _row(one: dict[str, Any]) -> str:
    cells = (
        one["name"],
        one["values"],
        f"{one['cells'] - one['skipped']} of {one['cells']}" if one["skipped"] else str(one["cells"]),
        one["repeats"],
        f"{100 * one['single']:.2f} ± {100 * one['single_error']:.2f} %",
        f"{100 * one['single_least']:.1f} ± {100 * one['single_least_error']:.1f} %",
        f"{100 * one['simultaneous']:.2f} %",
        f"{100 * one['simultaneous_least']:.1f} % of {one['simultaneous_least_repeats']}",
        "" if one["width"] is None else f"{one['width']:.3f}",
        "" if one["widest"] is None else f"{one['widest']:.3f}",
    )
    return f"| {' | '.join(cells)} |\n"


def _skipped(reasons: dict[str, int]) -> str:
    if not reasons:
        return ""
    listed = "".join(f"* {words} ({number} cells)\n" for words, number in reasons.items())
    return f"\n## What was skipped\n\n{listed}"


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(MEASURED.read_text()), json.loads(CASES.read_text())))
    print(f"wrote {PAGE.name}")  # noqa: T201
