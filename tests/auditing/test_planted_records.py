"""Faults planted in devices that answer records: the audit must call each of them unsound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    survey = sv.Survey.records({"a": ["x", "y", "z"], "b": sv.number(-1, 1)}, epsilon=2.0)
    result = sv.audit(survey, samples=200, seconds=1)
    assert result.verdict == "sampled"
    assert result.survey == survey.id
