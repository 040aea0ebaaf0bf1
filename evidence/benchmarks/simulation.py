"""Simulated people a second beside the peers', and what bounded memory and start-up cost.

A peer's figure is people a second of processor time on one core, from randomizing, counting and
estimating a million people; ours is the same work end to end on all cores, and on one core beside it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from time import perf_counter, process_time

import numpy as np

import sottovoce as sv
from evidence.benchmarks.peers import PeersUnavailable, accuracy_sample, measure

__all__ = ["run"]

Row = dict[str, object]

DOMAIN_SIZES = (1024, 1_000_000)
TARGETS = {("pure-ldp", "HR"): ("hadamard", 400.0), ("multi-freq-ldpy", "GRR"): ("randomized_response", 50.0)}


def run() -> list[Row]:
    """Every comparison, one row each."""
    return [*_against_peers(), *_memory_rows(), *_import_rows()]


def _ours(mechanism: str, domain_size: int, people: int = 20_000_000) -> tuple[float, float]:
    """People a second through randomize, count, estimate and project: by the clock, and per core's time."""
    survey = sv.Survey(sv.shares(domain_size), epsilon=1.0, mechanism=mechanism)
    crowd = np.random.default_rng(1).multinomial(people, np.full(domain_size, 1 / domain_size))
    survey.estimate(survey.simulate_aggregate(histogram=crowd // 100 + 1, seed=1))
    clock, cpu = [], []
    for seed in range(3):
        started, spent = perf_counter(), process_time()
        survey.estimate(survey.simulate_aggregate(histogram=crowd, seed=seed))
        clock.append(perf_counter() - started)
        cpu.append(process_time() - spent)
    return people / min(clock), people / min(cpu)


def _against_peers() -> list[Row]:
    try:
        peers = measure(DOMAIN_SIZES)
    except PeersUnavailable as reason:
        return [{"name": "peers", "note": f"not measured: {reason}"}]
    rows: list[Row] = []
    for theirs in peers["throughput"]:
        known = TARGETS.get((theirs["package"], theirs["mechanism"]))
        if known is None:
            continue
        ours, target = known
        clock, cpu = _ours(ours, theirs["domain_size"])
        name = f"{ours} people/s, J = {theirs['domain_size']:,}"
        against = f"{theirs['package']} {theirs['mechanism']}"
        rate = theirs["people_per_second"]
        rows.append(_row(name, clock / rate, target, against, ours=clock, theirs=rate))
        rows.append(_row(f"{name}, one core", cpu / rate, None, against, ours=cpu, theirs=rate))
    return rows + _accuracy_rows(peers["accuracy"])


def _accuracy_rows(peers: Sequence[Mapping[str, object]]) -> list[Row]:
    """L2 error on the peers' own sample, ours over theirs: below one is better."""
    sample = accuracy_sample()
    truth = np.bincount(sample, minlength=1024) / len(sample)
    survey = sv.Survey(sv.shares(1024), epsilon=1.0)
    runs = [survey.estimate(survey.simulate(sample, seed=seed)) for seed in range(10)]
    error = float(np.mean([np.linalg.norm(e.values - truth) for e in runs]))
    return [
        {
            "name": f"L2 error, {survey.mechanism.name} projected, J = 1,024, n = 20,000",
            "ratio": error / float(str(theirs["l2_error_mean"])),
            "against": f"{theirs['package']} {theirs['mechanism']}, {theirs['post_processing']}",
            "ours": error,
            "theirs": theirs["l2_error_mean"],
        }
        for theirs in peers
    ]


_PEAK = """
import resource, sys, numpy as np, sottovoce as sv
people, size = int(sys.argv[1]), int(sys.argv[2])
survey = sv.Survey(sv.shares(size), epsilon=1.0, mechanism="hadamard")
people = np.random.default_rng(1).multinomial(people, np.full(size, 1 / size))
survey.estimate(survey.simulate_aggregate(histogram=people, seed=1))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def _memory_rows() -> list[Row]:
    """Peak memory of a process of its own, Hadamard Response, as a part of one GiB."""
    unit = 1024 if sys.platform == "darwin" else 1
    rows = []
    for people, size in ((10**9, 1024), (10**7, 10**6)):
        started = perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, str(people), str(size)], capture_output=True, text=True, check=True
        )
        peak = int(done.stdout) / unit / 2**20
        row = _row(f"peak memory, {people:.0e} people, J = {size:,}", peak, None, "1 GiB")
        rows.append({**row, "target": "<= 1", "met": peak <= 1, "seconds": perf_counter() - started})
    return rows


def _import_rows() -> list[Row]:
    """`import sottovoce` in a fresh process, best of seven, as a part of half a second; and beside NumPy alone."""

    def best(statement: str) -> float:
        times = []
        for _ in range(7):
            started = perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            times.append(perf_counter() - started)
        return min(times)

    empty, numpy, ours = best("pass"), best("import numpy"), best("import sottovoce")
    row = _row("import sottovoce", (ours - empty) / 0.5, None, "half a second", seconds=ours - empty)
    return [
        {**row, "target": "<= 1", "met": ours - empty <= 0.5},
        _row("import sottovoce", (ours - empty) / (numpy - empty), None, "import numpy"),
    ]


def _row(name: str, ratio: float, target: float | None, against: str, **more: object) -> Row:
    row: Row = {"name": name, "ratio": ratio, "against": against, **more}
    if target is not None:
        row |= {"target": f">= {target:g}", "met": ratio >= target}
    return row


if __name__ == "__main__":
    for found in run():
        print(found)
