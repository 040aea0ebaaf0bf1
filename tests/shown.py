"""Random surveys of every kind, and the rule for every number that is shown of them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

import sottovoce as sv
from sottovoce.collector.reading.picture import columns_of
from sottovoce.core.answer import Answer

__all__ = ["KINDS", "Kind", "Row", "check", "drawn_estimate", "rows_of"]

LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999999)
SIZES = (1, 2, 3, 10, 100, 1000)


class Row(NamedTuple):
    """What a door shows of one answer, and the range that the answer must lie in."""

    door: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    least: float
    most: float


class Kind(NamedTuple):
    """A survey, how its people's values are drawn, and what can be asked of its estimates besides their answers."""

    survey: Any
    values: Callable[[np.random.Generator], list[Any]]
    """A few values; people of one draw have one of them each."""
    further: Callable[[Any, float], Iterable[tuple[Answer, float, float]]] = lambda estimate, level: ()
    """Further answers with their ranges."""
    certain: tuple[str, ...] = ()
    """Labels of what is true of everybody."""


def _some(*values: Any) -> Callable[[np.random.Generator], list[Any]]:
    def drawn(rng: np.random.Generator) -> list[Any]:
        return [values[at] for at in rng.permutation(len(values))[: rng.integers(1, len(values) + 1)].tolist()]

    return drawn


def _of_shares(estimate: Any, level: float) -> Iterator[tuple[Answer, float, float]]:
    first, second, *_ = estimate.labels()
    yield estimate.difference(first, second, level=level), -1, 1
    everybody = len(estimate) == 2
    yield estimate.sum([first, second], level=level), int(everybody), 1 if estimate.survey.kind == "shares" else 2
    yield estimate.ratio([first], [first, second], level=level), 0, 1


def _of_number(estimate: Any, level: float) -> Iterator[tuple[Answer, float, float]]:
    yield estimate.mean(level), -5, 45
    if "standard_deviation" in dir(estimate):
        yield estimate.standard_deviation(level), 0, 25
    if "quantile" in dir(estimate):
        yield estimate.quantile(0.5, level), -5, 45
        yield from ((bin_, 0, 1) for bin_ in estimate.histogram(level))


def _of_records(estimate: Any, level: float) -> Iterator[tuple[Answer, float, float]]:
    table = estimate.table("country", "plan")
    yield from ((cell, 0, 1) for cell in table.answers(level))
    yield from ((share, 0, 1) for share in table.conditional("plan", level))
    yield estimate.mean("minutes", level=level), 0, 60
    yield from ((mean, 0, 60) for mean in estimate.mean("minutes", by="plan", level=level))


def _of_words(estimate: Any, level: float) -> Iterator[tuple[Answer, float, float]]:
    yield from ((answer, 0, 1) for answer in estimate.of_many(["tea", "milk"], level))


_FORM = sv.records(
    {"country": ["AT", "DE", "IT"], "plan": ["free", "pro"], "minutes": sv.number(0, 60, "minutes", points=3)}, tables=2
)
_RECORDS = _some(
    {"country": "AT", "plan": "free", "minutes": 0.0},
    {"country": "DE", "plan": "free", "minutes": 60.0},
    {"country": "DE", "plan": "pro", "minutes": 12.0},
)
_DRINKS = ["tea", "coffee", "water", "juice"]
_SUBSETS = _some([], ["tea"], ["tea", "coffee"], _DRINKS)
_NUMBERS = _some(-5.0, 0.0, 7.25, 45.0, 100.0)

KINDS: Mapping[str, Kind] = {
    "two values": Kind(sv.Survey(["yes", "no"], epsilon=1.0), _some("yes", "no"), _of_shares),
    "four values": Kind(sv.Survey(_DRINKS, epsilon=4.0), _some(*_DRINKS), _of_shares),
    "a hundred values": Kind(sv.Survey(sv.shares(range(100)), epsilon=1.0), _some(0, 1, 50, 99), _of_shares),
    "hadamard": Kind(sv.Survey(sv.shares(range(24)), epsilon=1.0, mechanism="hadamard"), _some(0, 3, 23), _of_shares),
    "unary": Kind(sv.Survey(_DRINKS, epsilon=2.0, mechanism="unary_optimized"), _some(*_DRINKS), _of_shares),
    "cumulative": Kind(
        sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="haar"),
        _some(0, 7, 15),
        certain=("<= 15",),
    ),
    "choices": Kind(sv.Survey(sv.choices(_DRINKS), epsilon=2.0), _SUBSETS, _of_shares),
    "mean": Kind(sv.Survey(sv.number(-5, 45, "minutes"), epsilon=1.0), _NUMBERS, _of_number),
    "spread": Kind(sv.Survey(sv.number(-5, 45, "minutes", wants="spread"), epsilon=2.0), _NUMBERS, _of_number),
    "distribution": Kind(
        sv.Survey(sv.number(-5, 45, "minutes", wants="distribution", points=10), epsilon=2.0),
        _NUMBERS,
        _of_number,
        ("<= 45 minutes",),
    ),
    "records": Kind(sv.Survey(_FORM, epsilon=4.0), _RECORDS, _of_records),
    "vector": Kind(
        sv.Survey(sv.vector(4, 1.0), epsilon=2.0), lambda rng: [*np.eye(4)[: rng.integers(1, 5)], np.zeros(4)]
    ),
    "words": Kind(
        sv.Survey(sv.words(6, "latin"), epsilon=6.0, people=1000), _some("tea", "milk", "coffee", "no word!"), _of_words
    ),
}


def drawn_estimate(kind: Kind, rng: np.random.Generator) -> tuple[Any, Any]:
    """An aggregate of people who answer at random, half of the time all alike, and its estimate."""
    values = kind.values(rng)
    if rng.random() < 0.5:
        values = values[:1]
    people = [values[at] for at in rng.integers(len(values), size=int(rng.choice(SIZES))).tolist()]
    given = np.array(people) if isinstance(people[0], np.ndarray) else people
    aggregate = kind.survey.simulate_aggregate(given, seed=int(rng.integers(2**31)))
    return aggregate, kind.survey.estimate(aggregate)


def rows_of(kind: Kind, estimate: Any, level: float, further: bool = True) -> Iterator[Row]:
    """Every number that Python, files and pages show of an estimate."""
    least, most = (np.broadcast_to(end, len(estimate)).tolist() for end in kind.survey.answer_range)
    ends = dict(zip(estimate.labels(), zip(least, most, strict=True), strict=True))
    ends |= dict.fromkeys(kind.certain, (1.0, 1.0))
    for answer in estimate.answers(level):
        yield Row("answers", answer.label, answer.value, answer.low, answer.high, *ends[answer.label])
    for row in json.loads(estimate.to_json(level), parse_constant=_odd)["answers"]:
        yield Row("json", row["label"], row["value"], row["low"], row["high"], *ends[row["label"]])
    for row in csv.DictReader(io.StringIO(estimate.to_csv(level=level))):
        numbers = (float(row[name]) for name in ("value", "low", "high"))
        yield Row("csv", row["label"], *numbers, *ends[row["label"]])
    page = columns_of(estimate, level, most=10)
    for label, *numbers in zip(page.labels, page.value, page.low, page.high, strict=True):
        yield Row("page", label, *numbers, *ends[label])
    for answer, lowest, largest in kind.further(estimate, level) if further else ():
        yield Row("further", answer.label, answer.value, answer.low, answer.high, lowest, largest)
        told = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
        yield Row("further", answer.label, told["value"], told["low"], told["high"], lowest, largest)


def _odd(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


def check(row: Row) -> None:
    """The rule: a value lies in its interval, the interval in its range, and no interval is a point."""
    low = -math.inf if row.low is None else row.low
    high = math.inf if row.high is None else row.high
    slack = 1e-9 * (1 + abs(row.most) + abs(row.least))
    assert row.least == row.most or low < high, f"no width: {row}"
    assert low >= row.least - slack or row.low is None, f"below its range: {row}"
    assert high <= row.most + slack or row.high is None, f"above its range: {row}"
    if row.value is not None and not math.isnan(row.value):
        assert low <= row.value <= high, f"outside its interval: {row}"
