"""`sottovoce plan ... --cost`: predicted cost of counting, on this machine and on Spark."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sottovoce.cli.arguments import add_integer
from sottovoce.cli.output import console, titled_table
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.engines.cost import Cost
    from sottovoce.planning.plan import Plan

__all__ = ["add_cost", "costs_of", "show_costs"]

_WORKERS: Final = 8
_WORKER_CORES: Final = 4


def add_cost(parser: Parser) -> None:
    """`--cost`, and the machines that it is about."""
    group = parser.add_argument_group("cost of counting the reports")
    group.add_argument(
        "--cost", action="store_true", help="predict time, memory and storage from what 'sottovoce calibrate' measured"
    )
    group.add_argument("--rates", type=Path, metavar="FILE", help="rates written by 'sottovoce calibrate --out'")
    add_integer(group, "--workers", "K", "number of Spark workers", _WORKERS)
    add_integer(group, "--worker-cores", "C", "cores per Spark worker", _WORKER_CORES)


def costs_of(found: Plan, arguments: argparse.Namespace) -> list[Cost]:
    """Predictions for the best design of a plan: here, and on Spark if that was measured."""
    from sottovoce.engines.cost import cost_here, cost_on_spark
    from sottovoce.engines.rates import Rates, place

    rates = Rates.load(arguments.rates or place())
    mechanism, users = found.design.mechanism, found.users
    costs = [cost_here(mechanism, users, rates)]
    if rates.spark_rows is not None:
        costs.append(cost_on_spark(mechanism, users, rates, arguments.workers, arguments.worker_cores))
    return costs


def show_costs(costs: list[Cost]) -> None:
    """Print them as a table."""
    table = titled_table(
        f"counting {plural(costs[0].reports, 'report')}",
        "from rates measured on this machine; assumes disks and networks as fast as here",
    )
    table.add_column("where")
    for heading in ("stored", "counting", "estimate", "memory", "shuffled"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cost in costs:
        table.add_row(
            cost.where,
            size(cost.storage_bytes),
            duration(cost.count_seconds),
            duration(cost.estimate_seconds),
            size(cost.memory_bytes),
            size(cost.shuffle_bytes) if cost.shuffle_bytes else "",
        )
    out = console()
    out.print(table)
    if len(costs) == 1:
        out.print("Spark was not measured; run: sottovoce calibrate --spark")


def size(n: float) -> str:
    """Bytes with a unit.

    Examples
    --------
    >>> size(512), size(21e9), size(3e15)
    ('512 B', '21 GB', '3,000 TB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} TB" if n < 999.5 else f"{n:,.0f} TB"


def duration(seconds: float) -> str:
    """Time with a unit.

    Examples
    --------
    >>> duration(1e-5), duration(0.0123), duration(75), duration(7300), duration(400_000)
    ('below 1 ms', '12 ms', '75 s', '2.0 h', '4.6 days')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else "below 1 ms"
    if seconds < 120:
        return f"{seconds:.2g} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86400:.1f} days"
