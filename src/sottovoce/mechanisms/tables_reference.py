"""What an audit holds tables to: the drawn table, the rounding of numbers, and the cell's own reference."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, Final, NamedTuple, final

import numpy as np

from sottovoce.domain.trials import Trial, Trials
from sottovoce.mechanisms.reference import MOST_SWEPT, ChannelReference, ExactReference, Values, index_rows
from sottovoce.randomness.scripts import Request, random_below

__all__ = ["AnsweredTable", "TablesReference"]

_EDGE_CELLS: Final = 8
"""Outcomes of a table's integers that an audit runs the first and the last record with, for either fall of coins."""


class AnsweredTable(NamedTuple):
    """One table: the places of its attributes, its weight among the tables, and the reference of its cells."""

    attributes: tuple[int, ...]
    weight: int
    reference: ChannelReference


@final
class RecordTrials(Trials):
    """Records as the mechanism takes them: one integer per attribute."""

    def __init__(self, inputs: Sequence[int]) -> None:
        self.inputs = inputs

    def _trial(self, record: list[int]) -> Trial:
        return Trial(f"the record {record}", record, tuple(record))

    def edges(self) -> Iterator[Trial]:
        """The first and the last value of every attribute."""
        return map(self._trial, ([0 for _ in self.inputs], [most - 1 for most in self.inputs]))

    def random(self, rng: np.random.Generator) -> Trial:
        return self._trial([random_below(most, rng) for most in self.inputs])

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """Two records that differ in every attribute."""
        return list(self.edges())


@final
class TablesReference(ExactReference):
    """The table by its weight, all numbers rounded, and what the table's own reference says of the cell."""

    noun = "records"
    samples: ClassVar[int] = 20_000
    least = 400_000
    sure_scripts: ClassVar[int] = 32
    attained: ClassVar[bool] = True

    def __init__(
        self,
        sizes: tuple[int, ...],
        steps: tuple[int, ...],
        epsilon: float,
        stated_ratio: Fraction,
        tables: Sequence[AnsweredTable],
    ) -> None:
        inputs = [(size - 1) * each + 1 for size, each in zip(sizes, steps, strict=True)]
        super().__init__(RecordTrials(inputs), sum(inputs), epsilon, stated_ratio)
        self.sizes, self.steps, self.tables = sizes, steps, tables
        self.inner = [table.reference for table in tables]
        self.ends = list(accumulate(table.weight for table in tables))
        self.rounded = [each for each in steps if each > 1]
        zero = np.zeros((1, 1), dtype=np.int64)
        rows = [
            reference.payloads(zero[0], zero.repeat(len(reference.requests(0)), axis=1)) for reference in self.inner
        ]
        self.width = index_rows(zero[0], len(tables)).shape[1] + max(row.shape[1] for row in rows)

    def ratio(self) -> Fraction:
        return max(reference.ratio() for reference in self.inner)

    def wrong_law(self) -> str:
        return next(filter(None, (reference.wrong_law() for reference in self.inner)), "")

    def _table(self, outcomes: Sequence[int]) -> int:
        return bisect_right(self.ends, outcomes[0]) if outcomes else 0

    def requests(self, outcomes: Sequence[int]) -> list[Request]:
        return [self.ends[-1], *self.rounded, *self.inner[self._table(outcomes)].requests(0)]

    def script(self, number: int, rng: np.random.Generator) -> list[int]:
        first = random_below(self.ends[-1], rng)
        rest = self.requests([first])[1:]
        return [first, *(random_below(request, rng) if request > 0 else int(rng.integers(2)) for request in rest)]

    def edge_scripts(self, rng: np.random.Generator) -> Iterator[list[int]]:
        """Random ones; then every table with coins down and up, and all outcomes of its integers where they are few."""
        yield from (self.script(number, rng) for number in range(self.sure_scripts))
        for table, inner in enumerate(self.inner):
            cells = max(1, inner.cells)
            yield from self._cells(table, rng.choice(cells, size=min(_EDGE_CELLS, cells), replace=False), rng)

    def swept(self) -> int:
        cells = 2 * sum(max(1, inner.cells) for inner in self.inner)
        return cells if cells <= MOST_SWEPT else 0

    def sweep(self, rng: np.random.Generator) -> Iterator[list[int]]:
        """Every outcome of every table's integers; the table itself is drawn from its first, its last or any number."""
        for table in rng.permutation(len(self.inner)).tolist():
            yield from self._cells(table, rng.permutation(max(1, self.inner[table].cells)), rng)

    def _cells(self, table: int, numbers: Values, rng: np.random.Generator) -> Iterator[list[int]]:
        """Scripts that end in one table, with these of its reference's cells and coins down and up."""
        inner, start, end = self.inner[table], (0, *self.ends)[table], self.ends[table]
        for index, draws in enumerate(inner.sweep(numbers, rng)[1].tolist()):
            first = (start, end - 1, start + random_below(end - start, rng))[index % 3]
            ups = [random_below(each, rng) for each in self.rounded]
            for coin in (0, 1):
                asked = zip(inner.requests(0), draws, strict=True)
                yield [first, *ups, *(drawn if request > 0 else coin for request, drawn in asked)]

    def payloads(self, inputs: Sequence[Any], played: Sequence[list[int]]) -> list[bytes]:
        return [self._payload(record, draws) for record, draws in zip(inputs, played, strict=True)]

    def _payload(self, record: Any, draws: list[int]) -> bytes:
        table, ups = self._table(draws), iter(draws[1:])
        cells = []
        for value, steps in zip(record, self.steps, strict=True):
            up = next(ups) if steps > 1 else 0
            cells.append(int(value) // steps + (int(value) % steps + up >= steps))
        number = 0
        for attribute in self.tables[table].attributes:
            number = number * self.sizes[attribute] + cells[attribute]
        inner: bytes = self.inner[table].payloads(np.array([number]), np.array([list(ups)], dtype=np.int64)).tobytes()
        return (index_rows(np.array([table]), len(self.tables)).tobytes() + inner).ljust(self.width, b"\0")
