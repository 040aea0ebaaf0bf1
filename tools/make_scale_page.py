"""Write the last section of docs/engines.md: what counting 10^9, 10^10 and 10^12 reports takes, by measured rates.

Run `sottovoce calibrate --spark --reports 2e7 --out docs/rates.json` on a quiet machine, then this. A test keeps the
page equal to what this writes from the rates beside it.
"""

from __future__ import annotations

from pathlib import Path

from sottovoce.cli.plan_table import duration, size
from sottovoce.engines.cost import Cost, Rates, cost_here, cost_on_spark
from sottovoce.mechanisms import create
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.codebook import Codebook

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, MEASURED = DOCS / "engines.md", DOCS / "rates.json"

NUMBERS = (10**9, 10**10, 10**12)
WORKERS = (10, 100)
CORES = 16

_HEAD = """\
## What a billion reports cost

Aggregates are integers that merge by addition, so reports can be counted on one machine or on many
[with Spark](spark.md), with the same result. The time follows from the measured speed of a machine:

```console
$ sottovoce calibrate --spark
$ sottovoce plan shares --values 1e6 --epsilon 1 --people 1e9 --cost --workers 20
```

The figures below are predictions from such a measurement, `docs/rates.json`, on a small machine; 10^12 reports were not
counted. Measure your own machine.

| measured there | per second |
|---|---:|
"""

_ASSUMED = f"""\
### What is assumed

* **Time grows with the reports**, divided by the number of parallel tasks. Below 10^7 reports per task the start-up
  of Spark and small tasks dominate.
* **Every core of a worker is as fast as the one measured**, with the same memory bandwidth. On machines of many
  cores that share it, counting into a million counters is slower.
* **Disks and networks are fast enough.** A task reads a hundred megabytes per second or more and sends half of that
  through the shuffle that finds duplicates; {CORES} tasks of a worker need a disk and a network that carry {CORES}
  times that.
* **No id comes twice.** Where some do, the parts of files that hold them are read once more.
* **Reports are spread evenly** over files and tasks, and nobody else uses the machines. No task is run twice.
* **Merging** adds every task's counts once. Where a survey has more than 2^22 counters and a report moves one of them,
  reports travel to the counters instead, and no machine ever holds all counts.
* **The estimate** is computed on one machine from the counts; its time does not depend on the number of reports.
* **Storage** is that of Parquet with zstd. Most of it is the reports' ids: 16 random bytes each, which do not
  compress. If duplicates cannot occur, or have been removed, ids need not be stored.

Not included: the collector's work to receive the reports ([operations](operations.md)), and copies in a storage
service.
"""


def kinds() -> list[tuple[str, Mechanism]]:
    """Surveys of three sizes: counters that stay near a core, that do not, and that exceed memory."""
    usual = Codebook.best(1000, 1.0, 1.0, 0.0, NUMBERS[0])
    return [
        ("a distribution over 1,000 values", create("hadamard", 1000, 1.0)),
        ("a distribution over 1,000,000 values", create("hadamard", 10**6, 1.0)),
        ("1,000 queries by the codebook, at most 2^27 counters", usual),
        ("1,000 queries by the codebook, as many counters as people need", usual.for_people(NUMBERS[-1], 2**40)),
    ]


def page(rates: Rates) -> str:
    """The page, with this section as its last one."""
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(_HEAD.partition("\n")[0])
    lines = [before, _HEAD, _rates(rates), "\n"]
    for title, mechanism in kinds():
        lines.append(f"### {title[0].upper()}{title[1:]}\n\nEpsilon 1, {mechanism.report_bytes} bytes per report, ")
        lines.append(f"{mechanism.cells:,} counters.\n\n")
        lines.append("| reports | where | stored | counting | estimate | memory | shuffled |\n")
        lines.append("|---:|---|---:|---:|---:|---:|---:|\n")
        for n in NUMBERS:
            lines.extend(_row(n, cost) for cost in _costs(mechanism, n, rates))
        lines.append("\n")
    return "".join([*lines, _ASSUMED])


def _costs(mechanism: Mechanism, n: int, rates: Rates) -> list[Cost]:
    return [
        cost_here(mechanism, n, rates),
        *(cost_on_spark(mechanism, n, rates, workers, CORES) for workers in WORKERS),
    ]


def _row(n: int, cost: Cost) -> str:
    shuffled = size(cost.shuffle_bytes) if cost.shuffle_bytes else ""
    power = f"10^{len(str(n)) - 1}"
    told = (size(cost.storage_bytes), duration(cost.count_seconds), duration(cost.estimate_seconds))
    return f"| {power} | {cost.where} | {' | '.join(told)} | {size(cost.memory_bytes)} | {shuffled} |\n"


def _rates(rates: Rates) -> str:
    listed = [
        (f"reports from Parquet, duplicates taken out, {rates.cores} cores, 2,048 counters", rates.near_rows),
        ("the same, 1,048,576 counters", rates.far_rows),
        ("reports for one Spark task, duplicates taken out", rates.spark_rows or 0.0),
        (f"counters of a codebook folded, {rates.cores} cores", rates.folded_cells),
        ("counters of a distribution transformed and projected", rates.decoded_cells),
    ]
    return "".join(f"| {work} | {_rounded(rate)} |\n" for work, rate in listed)


def _rounded(rate: float) -> str:
    """Two digits: a machine repeats itself no better."""
    return f"{float(f'{rate:.1e}'):,.0f}"


if __name__ == "__main__":
    PAGE.write_text(page(Rates.load(MEASURED)))
    print(f"wrote {PAGE.name}")  # noqa: T201
