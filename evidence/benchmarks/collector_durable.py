"""Durable reports beside the least that keeps them: one INSERT a request, on the same database, in the same run.

The reference is given the better of two forms: one that waits for the database in the event loop, and one with threads
where there are several connections. Also how evenly requests are answered, and what a second service brings.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from evidence.benchmarks.collector_servers import (
    Target,
    all_counted,
    collector,
    drive,
    family,
    one_insert,
    postgres,
    say,
)
from evidence.benchmarks.load import Outcome, processor_seconds
from sottovoce.surveys.survey import Survey

__all__ = ["run", "services"]

Row = dict[str, object]

_CASES = ((1, 1, 0.7), (100, 1, None), (1000, 1, None), (100, 8, 0.8), (1000, 8, 0.8), (1, 64, None))
"""Reports a request, connections, and what is asked of the ratio."""

_THREADS = 4


def run(survey: Survey, seconds: float, turns: int) -> list[Row]:
    """Rows for both databases."""
    return _on("SQLite", survey, seconds, turns) + _on("PostgreSQL", survey, seconds, turns)


@contextmanager
def _databases(name: str) -> Iterator[tuple[Path, list[str], str]]:
    """A data folder, the collector's flags for the database, and the reference's database on the same disk."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if name == "SQLite":
            yield folder / "data", [], str(folder / "one_insert.db")
        else:
            url = stack.enter_context(postgres()).url
            yield folder / "data", ["--database", url], url


def _on(database: str, survey: Survey, seconds: float, turns: int) -> list[Row]:
    rows: list[Row] = []
    with _databases(database) as (data, flags, theirs), collector(survey, data, *flags) as ours:
        drive(ours, 100, seconds=30, requests=200)
        all_counted(ours, survey)
        for batch, connections, target in _CASES:
            with ExitStack() as stack:
                threads = (0, _THREADS) if connections > 1 else (0,)
                references = [stack.enter_context(one_insert(ours, batch, theirs, n)) for n in threads]
                best = _best([*references, ours], batch, connections, survey, seconds, turns)
            mine = best.pop(ours.name)
            other = max(best.values(), key=lambda outcome: outcome.rate)
            name = f"{database}, durable requests/s of {batch:,}, connections: {connections}"
            rows.append(_row(name, "one INSERT a request", mine.rate / other.rate, target, mine, other))
        spread = mine.p99 / mine.p50  # the last case is that of many connections
        name = f"{database}, p99 of single reports, connections: {connections}"
        rows.append(
            {"name": name, "against": "p50", "ratio": spread, "target": "< 5", "met": spread < 5, "p50": mine.p50}
        )
    return rows


def _best(
    servers: list[Target], batch: int, connections: int, survey: Survey, seconds: float, turns: int
) -> dict[str, Outcome]:
    """Each server's best turn; nobody's counting is left over from the turn before."""
    best: dict[str, Outcome] = {}
    for turn in range(turns + 1):
        for server in servers:
            outcome = drive(server, batch, seconds=seconds if turn else seconds / 3, connections=connections)
            all_counted(servers[-1], survey)
            if turn and (server.name not in best or outcome.rate > best[server.name].rate):
                best[server.name] = outcome
    for name, outcome in best.items():
        say(
            f"{name}: {outcome.rate:,.0f} requests/s of {batch}, connections {connections}, "
            f"p50 {1000 * outcome.p50:.2f} ms, p99 {1000 * outcome.p99:.2f} ms"
        )
    return best


def _row(name: str, against: str, ratio: float, target: float | None, ours: Outcome, theirs: Outcome) -> Row:
    more = {"ours": ours.rate, "theirs": theirs.rate, "p50": ours.p50, "p99": ours.p99}
    row: Row = {"name": name, "against": against, "ratio": ratio, **more}
    return row if target is None else row | {"target": f">= {target:g}", "met": ratio >= target}


# --- several services on one PostgreSQL ---------------------------------------------------------


def services(survey: Survey, seconds: float) -> list[Row]:
    """Single reports to one, two and four services on one PostgreSQL, with the processor time of each side.

    On a machine with fewer cores than processes they all wait for each other, so that the measured rate cannot show
    what a service brings. Its own cost can: while a report costs a service the same however many services there are,
    each brings its whole rate once it has a core of its own, until the database's processes are busy.
    """
    rows: list[Row] = []
    first: tuple[float, float] = 0.0, 0.0
    for n in (1, 2, 4):
        rate, ours, theirs = _together(survey, seconds, n)
        say(
            f"services: {n}: {rate:,.0f} reports/s; a second of processor time takes {1 / ours:,.0f} reports in a "
            f"service and {1 / theirs:,.0f} in PostgreSQL"
        )
        if n == 1:
            first = rate, ours
            continue
        more: Row = {"reports_per_service_second": 1 / ours, "reports_per_database_second": 1 / theirs}
        against = f"one service, on {os.cpu_count()} cores for everything"
        rows.append({"name": f"PostgreSQL, reports/s of {n} services", "against": against, "ratio": rate / first[0]})
        ratio = n * first[1] / ours
        row: Row = {"name": f"PostgreSQL, reports/s of {n} services with a core each, by processor time"}
        row |= {"against": "one service", "ratio": ratio, **more}
        rows.append(row | ({"target": ">= 1.6", "met": ratio >= 1.6} if n == 2 else {}))
    return rows


def _together(survey: Survey, seconds: float, n: int) -> tuple[float, float, float]:
    """Reports a second, and processor seconds for a report of all services and of the database."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        database = stack.enter_context(postgres())
        flags = ("--database", database.url, "--workers", "0")
        running: list[Target] = []
        for number in range(n):
            token = running[0].token if running else ""
            running.append(stack.enter_context(collector(survey, Path(folder, str(number)), *flags, token=token)))
        for one in running:
            drive(one, 1, seconds=seconds / 4, connections=16)
        sides = [process for one in running for process in one.processes()], family(database.process)
        before = [sum(map(processor_seconds, side)) for side in sides]
        with ThreadPoolExecutor(n) as pool:
            outcomes = list(pool.map(lambda one: drive(one, 1, seconds=seconds, connections=16), running))
        after = [sum(map(processor_seconds, side)) for side in sides]
    answered = sum(outcome.answered for outcome in outcomes)
    rate = sum(outcome.rate for outcome in outcomes)
    return rate, (after[0] - before[0]) / answered, (after[1] - before[1]) / answered
