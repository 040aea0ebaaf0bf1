"""The collector under load: beside a bare server, the least that keeps a report, a plain service, and itself with
readers beside it and after ten million reports.

Servers take turns within one run and the best of several turns counts, so that what else the machine does falls out of
the ratios as far as it can. The load comes from a process of its own beside the server, whose share of a core is told.
`python -m evidence.benchmarks.collector --quick` sends a tenth of the reports; `--only NAME` runs a part.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import sottovoce as sv
from evidence.benchmarks import collector_durable, collector_readers
from evidence.benchmarks.collector_servers import Target, all_counted, baseline, collector, drive, one_insert, say
from evidence.benchmarks.load import Outcome
from evidence.benchmarks.peers import PeersUnavailable
from sottovoce.formats.aggregate_bytes import from_bytes

__all__ = ["run"]

Row = dict[str, object]

BATCHES = (1, 100)
SURVEY = sv.Survey(sv.shares(1024), epsilon=1.0, title="benchmark")

_NAMES = {1: "requests/s of one report", 100: "requests/s of 100 reports"}


@dataclass(frozen=True)
class Size:
    """How long and how much."""

    seconds: float = 3.0
    turns: int = 4
    reports: int = 10_000_000
    load_seconds: float = 600.0


QUICK = Size(seconds=1.0, turns=2, reports=1_000_000)


def run(size: Size = Size(), only: str = "") -> list[Row]:  # noqa: B008 - frozen
    """Every comparison, or those of one part; one row each."""
    return [row for name, part in PARTS.items() if not only or name == only for row in part(size)]


def _http(size: Size) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, collector(SURVEY, Path(folder) / "data") as ours:
        return _against_bare(_warm(ours), size) + _latency(ours, size)


def _peers(size: Size) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, collector(SURVEY, Path(folder) / "data") as ours:
        return _against_baseline(_warm(ours), size)


def _scale(size: Size) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, collector(SURVEY, Path(folder) / "data") as ours:
        return _flatness(_warm(ours), size) + _estimates(ours)


def _warm(ours: Target) -> Target:
    """Whatever is loaded or compiled only once, the counting process's share too."""
    drive(ours, 100, seconds=30, requests=200)
    all_counted(ours, SURVEY)
    return ours


def _against_bare(ours: Target, size: Size) -> list[Row]:
    rows: list[Row] = []
    for batch in BATCHES:
        with one_insert(ours, batch) as theirs:
            best = _turns([theirs, ours], batch, size)
        rows.append(_row(_NAMES[batch], theirs.name, best[ours.name], best[theirs.name], batch, None))
    return rows


def _against_baseline(ours: Target, size: Size) -> list[Row]:
    rows: list[Row] = []
    for style, target in (("plain", 10.0), ("tuned", None)):
        try:
            with baseline(ours, style) as theirs:
                for batch in BATCHES:
                    best = _turns([theirs, ours], batch, replace(size, turns=2))
                    against = f"FastAPI + SQLAlchemy, {style}"
                    rows.append(_row(_NAMES[batch], against, best[ours.name], best[theirs.name], batch, target))
        except PeersUnavailable as reason:
            return [{"name": "FastAPI + SQLAlchemy", "note": f"not measured: {reason}"}]
    return rows


def _turns(servers: list[Target], batch: int, size: Size) -> dict[str, Outcome]:
    """Each server's best turn; nobody's counting is left over from the turn before."""
    best: dict[str, Outcome] = {}
    for turn in range(size.turns):
        for server in servers:
            if not turn:
                drive(server, batch, seconds=size.seconds / 2, connections=server.connections)
                all_counted(servers[-1], SURVEY)
            outcome = drive(server, batch, seconds=size.seconds, connections=server.connections)
            all_counted(servers[-1], SURVEY)
            if server.name not in best or outcome.rate > best[server.name].rate:
                best[server.name] = outcome
    for name, outcome in best.items():
        say(
            f"{name}: {outcome.rate:,.0f} requests/s of {batch}, p99 {1000 * outcome.p99:.0f} ms, "
            f"generator {outcome.core_share:.0%} of a core"
        )
    return best


def _latency(ours: Target, size: Size) -> list[Row]:
    """Requests arrive at 80 % of the peak, whatever the server does; latency from when each was due.

    The peak is measured anew before each turn, for the machine has others to serve; a turn whose peak was a tenth
    below the best does not count.
    """
    rows: list[Row] = []
    for batch in BATCHES:
        turns = []
        for _ in range(size.turns):
            peak = drive(ours, batch, seconds=size.seconds).rate
            all_counted(ours, SURVEY)
            turns.append((peak, drive(ours, batch, seconds=2 * size.seconds, connections=512, rate=0.8 * peak)))
            all_counted(ours, SURVEY)
        highest = max(peak for peak, _ in turns)
        peak, best = min((turn for turn in turns if turn[0] >= 0.9 * highest), key=lambda turn: turn[1].p99)
        say(
            f"at {0.8 * peak:,.0f} requests/s of {batch}: p50 {1000 * best.p50:.1f} ms, p99 {1000 * best.p99:.1f} ms, "
            f"worst {1000 * best.worst:.0f} ms; p99 of all turns "
            + ", ".join(f"{1000 * outcome.p99:.0f}" for _, outcome in turns)
        )
        row = {"name": f"p99 at 80 % of the peak, {_NAMES[batch]}", "against": "250 ms", "ratio": best.p99 / 0.25}
        more = {"p50_seconds": best.p50, "p99_seconds": best.p99, "worst_seconds": best.worst, "rate": best.rate}
        rows.append({**row, **more, "peak": peak, "target": "<= 1", "met": best.p99 <= 0.25})
    return rows


def _flatness(ours: Target, size: Size) -> list[Row]:
    """Ten million reports in batches while they are counted: the rate at the end beside that of the beginning."""
    known = ours.get(f"/v1/surveys/{SURVEY.id}/status")["n_reports"]
    before = drive(ours, 1, seconds=size.seconds)
    part = size.reports // 10
    requests = (size.reports + part // 5) // 100  # what comes before the first full part is the warm-up
    whole = drive(
        ours, 100, requests=requests, seconds=size.load_seconds, mark_every=part // 500, watched=ours.processes()
    )
    sent = known + before.answered + 100 * whole.answered
    rates, costs = (
        [part / (marks[i + 5] - marks[i]) for i in range(0, len(marks) - 5, 5)]
        for marks in (whole.marks, whole.cpu_marks)
    )
    say("reports/s, a tenth of all at a time: " + ", ".join(f"{rate:,.0f}" for rate in rates))
    say("reports a second of processor time: " + ", ".join(f"{rate:,.0f}" for rate in costs))
    began = perf_counter()
    waiting = ours.get(f"/v1/surveys/{SURVEY.id}/status")["waiting"]
    all_counted(ours, SURVEY)
    drained = perf_counter() - began
    counted = ours.get(f"/v1/surveys/{SURVEY.id}/status")["n_reports"]
    if counted != sent:
        raise RuntimeError(f"{sent:,} reports were acknowledged and {counted:,} counted")
    say(
        f"{counted:,} reports acknowledged and counted; {waiting:,} were waiting at the end, counted {drained:.1f} s on"
    )
    after = drive(ours, 1, seconds=size.seconds)
    all_counted(ours, SURVEY)
    name = f"reports/s in batches, last tenth of {size.reports:,}"
    ratio = rates[-1] / rates[0]
    more = {"rates": rates, "waiting_at_end": waiting, "drain_seconds": drained}
    return [
        {"name": name, "against": "first tenth", "ratio": ratio, "target": ">= 0.8", "met": ratio >= 0.8, **more},
        {"name": f"{name}, by processor time", "against": "first tenth", "ratio": costs[-1] / costs[0]},
        {"name": f"{_NAMES[1]}, after {size.reports:,}", "against": "before them", "ratio": after.rate / before.rate},
    ]


def _estimates(ours: Target) -> list[Row]:
    """An estimate of everything so far over HTTP, each time after one more report; less its own transform."""
    whole, transform = [], []
    for _ in range(7):
        drive(ours, 1, seconds=10, requests=1, connections=1)
        all_counted(ours, SURVEY)
        began = perf_counter()
        told = ours.get(f"/v1/surveys/{SURVEY.id}/estimate")
        whole.append(perf_counter() - began)
        aggregate = from_bytes(SURVEY, ours.raw(f"/v1/surveys/{SURVEY.id}/aggregate"))
        began = perf_counter()
        SURVEY.estimate(aggregate).to_dict(0.95)
        transform.append(perf_counter() - began)
    rest = min(whole) - min(transform)
    say(
        f"estimate of {told['n_reports']:,} reports: {1000 * min(whole):.1f} ms over HTTP, of which the transform "
        f"{1000 * min(transform):.1f} ms"
    )
    row: Row = {"name": f"estimate from {told['n_reports']:,} reports, less the transform", "against": "100 ms"}
    more = {"seconds": min(whole), "transform_seconds": min(transform), "target": "<= 1", "met": rest <= 0.1}
    return [{**row, "ratio": max(rest, 0.0) / 0.1, **more}]


def _row(name: str, against: str, ours: Outcome, theirs: Outcome, batch: int, target: float | None) -> Row:
    ratio = ours.rate / theirs.rate
    more = {"ours": ours.rate * batch, "theirs": theirs.rate * batch, "generator_core_share": ours.core_share}
    row: Row = {"name": name, "against": against, "ratio": ratio, **more}
    return row if target is None else row | {"target": f">= {target:g}", "met": ratio >= target}


PARTS: dict[str, Callable[[Size], list[Row]]] = {
    "http": _http,
    "durable": lambda size: collector_durable.run(SURVEY, size.seconds, size.turns),
    "readers": lambda size: collector_readers.run(SURVEY, 2 * size.seconds, size.turns),
    "services": lambda size: collector_durable.services(SURVEY, 2 * size.seconds),
    "peers": _peers,
    "scale": _scale,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evidence.benchmarks.collector", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the reports, shorter turns")
    parser.add_argument("--only", choices=PARTS, default="", help="one part")
    given = parser.parse_args()
    for found in run(QUICK if given.quick else Size(), given.only):
        print(found)
