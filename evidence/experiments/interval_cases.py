"""How often intervals hold and how wide they are, case by case: ends of ranges, few people, combinations, and looks.

Beside another revision of this package, on the same people and the same reports:

    python -m evidence.experiments.interval_cases --beside REVISION --out docs/interval_cases.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import sottovoce as sv
from sottovoce.core.errors import SottovoceError

__all__ = ["CASES", "Case", "measure", "measure_looks"]

RUNS: Final = 40
LOOKED: Final = 40
"""Surveys that are watched, and the number of looks at each."""

SEED: Final = 11
NORMAL: Final = 1.959963984540054


class Case(NamedTuple):
    """A survey, its people, one answer of its estimates, and the truth."""

    group: str
    name: str
    survey: Any
    people: Any
    answer: Callable[[Any], Any]
    truth: float


class Measured(NamedTuple):
    """Of one case: the share of intervals with the truth, their half-width over 1.96 standard deviations, and so on."""

    covered: float
    width: float
    """0 where it is not told."""
    unknown: float
    """The share of answers that are unknown."""
    outside: float
    """The share of values that lie outside their interval."""
    points: float
    """The share of intervals that are a point."""


def _cases() -> Iterator[Case]:
    yes_no = sv.Survey(["yes", "no"], epsilon=1.0)
    for share in (0.0, 0.1, 0.5, 1.0):
        for n in (20, 500, 10_000):
            people = _mixed(n, {"yes": share, "no": 1 - share})
            yield Case("one share", f"{share:g}, n = {n:,}", yes_no, people, lambda e: e["yes"], share)
    drinks = sv.Survey(["tea", "coffee", "milk", "water"], epsilon=1.0, mechanism="randomized_response")
    shares = {"tea": 0.35, "coffee": 0.2, "milk": 0.25, "water": 0.2}
    for n in (30, 500, 3000):
        people = _mixed(n, shares)
        yield Case(
            "difference of two shares", f"n = {n:,}", drinks, people, _difference, _held(people, "tea", "coffee")
        )
    for n in (500, 3000):
        people = _mixed(n, shares)
        truth = people.count("tea") / (people.count("tea") + people.count("coffee"))
        yield Case("ratio", f"n = {n:,}", drinks, people, lambda e: e.ratio(["tea"], ["tea", "coffee"]), truth)
    alike = ["water"] * 500
    yield Case("ratio over nobody", "n = 500", drinks, alike, lambda e: e.ratio(["tea"], ["tea", "coffee"]), np.nan)
    for epsilon in (1.0, 4.0):
        number = sv.Survey(sv.number(0, 60, "minutes"), epsilon=epsilon)
        for n in (500, 2000, 10_000):
            minutes = np.linspace(5, 40, n)
            yield Case(
                "mean of a number", f"epsilon {epsilon:g}, n = {n:,}", number, minutes, _mean, float(minutes.mean())
            )
    spread = sv.Survey(sv.number(0, 60, "minutes", wants="spread"), epsilon=2.0)
    for n in (2000, 20_000):
        minutes = np.linspace(5, 40, n)
        yield Case("standard deviation", f"n = {n:,}", spread, minutes, _deviation, float(minutes.std()))
    chosen = sv.Survey(sv.choices(["tea", "coffee", "milk", "water"]), epsilon=2.0)
    for n in (100, 3000):
        sets = [["tea"], ["tea", "milk"], [], ["water", "tea"]] * (n // 4)
        yield Case("ticked options", f"n = {n:,}", chosen, sets, lambda e: e["tea"], 0.75)
    form = sv.Survey(sv.records({"country": ["AT", "DE", "IT"], "plan": ["free", "pro"]}, tables=2), epsilon=2.0)
    for n in (600, 6000):
        records = [{"country": c, "plan": p} for c in ("AT", "DE", "IT") for p in ("free", "pro")] * (n // 6)
        yield Case("cell of a form", f"n = {n:,}", form, records, lambda e: e["country=AT, plan=pro"], 1 / 6)
        yield Case("conditional share", f"n = {n:,}", form, records, _conditional, 0.5)


def _mixed(n: int, shares: dict[str, float]) -> list[str]:
    """People in these shares, as nearly as their number allows."""
    return [label for label, share in shares.items() for _ in range(round(n * share))]


def _held(people: list[str], first: str, second: str) -> float:
    return (people.count(first) - people.count(second)) / len(people)


def _difference(estimate: Any) -> Any:
    return estimate.difference("tea", "coffee")


def _mean(estimate: Any) -> Any:
    return estimate.mean()


def _deviation(estimate: Any) -> Any:
    return estimate.standard_deviation()


def _conditional(estimate: Any) -> Any:
    return estimate.table("country", "plan").share({"plan": "pro"}, given={"country": "AT"})


CASES: Final = tuple(_cases())


def measure(case: Case, runs: int = RUNS) -> Measured:
    """The answers of surveys whose people are drawn anew from a population, each with a report."""
    answers = []
    for run in range(runs):
        drawn = np.random.default_rng([SEED, run]).integers(len(case.people), size=len(case.people))
        people = [case.people[at] for at in drawn.tolist()]
        estimate = case.survey.estimate(case.survey.simulate_aggregate(people, seed=SEED + run))
        with suppress(SottovoceError):  # earlier revisions refuse a ratio over what seems to be nobody
            answers.append(case.answer(estimate))
    low, high, raw, value = (
        np.array([getattr(answer, name) for answer in answers]) for name in ("low", "high", "raw", "value")
    )
    true = np.isnan(case.truth) | ((low <= case.truth) & (case.truth <= high))
    spread = float(np.std(raw))
    width = float(np.mean(high - low)) / 2 / (NORMAL * spread) if spread > 0 else 0.0
    shares = true, np.isnan(value), (value < low) | (value > high), low == high
    covered, unknown, outside, points = (float(np.mean(share)) for share in shares)
    # The raw ratio of two numbers near zero can be any, so no width is told of it.
    return Measured(covered, width if unknown < 1 and not np.isnan(case.truth) else 0.0, unknown, outside, points)


def measure_periods(runs: int = RUNS) -> dict[str, float]:
    """The share of intervals of a difference of two periods that hold, from everybody to nobody."""
    tracking = sv.Tracking(["yes", "no"], periods=2, every="month", starts="2027-01-01", epsilon=1.0)
    covered = 0
    for run in range(runs):
        reports = tracking.simulate(lambda month: ["no" if month == 2 else "yes"] * 200, seed=SEED + run)
        change = tracking.estimate(reports).difference(2, 1, "yes")
        covered += change.low <= -1 <= change.high
    return {"covered": covered / runs}


def measure_looks(surveys: int = LOOKED, looks: int = LOOKED) -> dict[str, float]:
    """The share of surveys whose interval excludes the truth at any of the looks, and widths at the last one."""
    survey = sv.Survey(["yes", "no"], epsilon=1.0)
    ends = np.unique(np.geomspace(30, 10_000, looks).astype(int))
    wrong, widths = {"one look": 0, "every look": 0}, {"one look": 0.0, "every look": 0.0}
    for run in range(surveys):
        missed, aggregate, before = dict.fromkeys(wrong, False), survey.aggregate(), 0
        rng = np.random.default_rng([SEED, run])
        for end in ends.tolist():
            people = np.where(rng.random(end - before) < 0.3, "yes", "no")
            aggregate = aggregate.merge(survey.simulate_aggregate(people, seed=int(rng.integers(2**31))))
            before, estimate = end, survey.estimate(aggregate)
            for kind, given in (("one look", {}), ("every look", {"always": True})):
                try:
                    low, high = (float(side[0]) for side in estimate.interval(0.95, **given))
                except TypeError:  # a revision that has no such intervals
                    low, high = np.nan, np.nan
                missed[kind] |= not low <= 0.3 <= high
                widths[kind] += (high - low) / 2 / surveys if end == ends[-1] else 0.0
        wrong = {kind: wrong[kind] + missed[kind] for kind in wrong}
    found = {f"{kind}, ever wrong": wrong[kind] / surveys for kind in wrong}
    return found | {f"{kind}, half-width": widths[kind] if widths[kind] > 0 else 0.0 for kind in widths}


def _all() -> dict[str, Any]:
    cases = [{"group": case.group, "name": case.name, **measure(case)._asdict()} for case in CASES]
    return {"runs": RUNS, "cases": cases, "periods": measure_periods(), "looks": measure_looks()}


def _at(revision: str) -> Any:
    """The same measurement by the package of another revision."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", revision, "src"], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(folder, "src")), os.getcwd()])}
        command = [sys.executable, "-m", __spec__.name]
        found = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
        return json.loads(found.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", metavar="REVISION", help="measure this revision of the package too")
    parser.add_argument("--out", metavar="PATH", help="write JSON to this file; to standard output by default")
    arguments = parser.parse_args()
    found = _all()
    if arguments.beside:
        found = {"after": found, "before": _at(arguments.beside)}
    text = json.dumps(found, indent=1)
    if arguments.out:
        Path(arguments.out).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
