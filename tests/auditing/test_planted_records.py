"""Faults planted in devices that answer records: the audit must call each of them unsound."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.tables import TableResponse, Tables


def made(kind: type[Tables]) -> Tables:
    tables = (
        TableResponse((0,), 2, RandomizedResponse(4, 1.0)),
        TableResponse((1,), 1, RandomizedResponse(3, 1.0)),
        TableResponse((0, 1), 3, RandomizedResponse(12, 1.0)),
    )
    return kind(sizes=(4, 3), steps=(1, 2**16), epsilon=1.0, tables=tables)


def found(kind: type[Tables]) -> Any:
    return sv.audit(made(kind), samples=100, seconds=1)


class Replayed:
    """A source whose first draws are given."""

    def __init__(self, source: Any, *first: int) -> None:
        self._source, self._first = source, list(first)

    def below(self, n: int) -> int:
        drawn = self._source.below(n)
        return self._first.pop(0) if self._first else drawn

    def bernoulli(self, threshold: int) -> bool:
        return self._source.bernoulli(threshold)


@dataclass(frozen=True)
class TableByValue(Tables):
    """Whoever has the last value answers its own table."""

    def randomize(self, record, source):
        return super().randomize(record, Replayed(source, 0) if record[0] == 3 else source)


@dataclass(frozen=True)
class RoundedDown(Tables):
    """Numbers are rounded down, so that the mean is biased."""

    def randomize(self, record, source):
        return super().randomize((record[0], record[1] // 2**16 * 2**16), source)


@dataclass(frozen=True)
class RoundedWhenAsked(Tables):
    """A number is rounded only where it lies between two grid points: the draws tell that it does."""

    def randomize(self, record, source):
        if record[1] % self.steps[1]:
            return super().randomize(record, source)
        return Tables(self.sizes, (1, 1), self.epsilon, self.tables).randomize(
            (record[0], record[1] // self.steps[1]), source
        )


@dataclass(frozen=True)
class Neighbour(Tables):
    """The cell is numbered with the wrong attribute fastest."""

    def _cell(self, table, cells):
        number = 0
        for place in reversed(self.tables[table].attributes):
            number = number * self.sizes[place] + cells[place]
        return number


@dataclass(frozen=True)
class Truthful(Tables):
    """One record answers as it is."""

    def randomize(self, record, source):
        report = super().randomize(record, source)
        return (report[0], 3) if report[0] == 0 and record[0] == 3 else report


def test_without_a_fault_tables_are_sound() -> None:
    result = found(Tables)
    assert result.sound
    assert result.exact_epsilon <= 1.0


@pytest.mark.parametrize("kind", [TableByValue, RoundedDown, RoundedWhenAsked, Neighbour, Truthful])
def test_every_fault_is_found(kind: type[Tables]) -> None:
    assert not found(kind).sound


def test_a_survey_is_audited_with_all_that_its_device_runs() -> None:
    survey = sv.Survey(sv.records({"a": ["x", "y", "z"], "b": sv.number(-1, 1)}), epsilon=2.0)
    result = sv.audit(survey, samples=200, seconds=1)
    assert result.verdict == "sampled"
    assert result.survey == survey.id


@dataclass(frozen=True)
class OneTableSilent(Tables):
    """The last record never sends one of the reports on one of the tables, at the deployed size alone."""

    def randomize(self, record, source):
        report = super().randomize(record, source)
        last = all(int(value) == most - 1 for value, most in zip(record, self.inputs, strict=True))
        return (1, 2) if len(self.tables) == 6 and last and report == (1, 0) else report


def test_a_fault_of_the_last_record_on_one_table_is_found() -> None:
    small = Tables.typical(16, 1.0)
    planted = OneTableSilent(small.sizes, small.steps, small.epsilon, small.tables)
    assert [sv.audit(planted, samples=100, seconds=0.5).verdict for _ in range(4)] == ["broken"] * 4


def test_the_ends_are_run_on_every_table_with_coins_down_and_up() -> None:
    reference = Tables.typical(16, 1.0).audit_reference()
    scripts = list(reference.edge_scripts(np.random.default_rng(1)))
    assert len(scripts) >= 32
    coins = set()
    for script in scripts:
        requests = reference.requests(script)
        table = bisect_right(reference.ends, script[0])
        coins |= {(table, up) for request, up in zip(requests, script, strict=True) if request <= 0}
    assert coins == {(table, up) for table in range(len(reference.ends)) for up in (0, 1)}


@dataclass(frozen=True)
class Overstated(Tables):
    """States a slightly larger ratio than two records of a miniature have, within e^epsilon all the same."""

    def privacy_ratio(self):
        ratio = super().privacy_ratio()
        return ratio if self.sizes == (4, 3) else ratio * (1 + Fraction(1, 2**80))


def test_the_ratio_of_a_miniature_must_be_attained() -> None:
    assert "miniature" in found(Overstated).witness
