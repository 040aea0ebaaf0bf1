"""Tables: one table of a record's attributes, drawn in public, answered by a mechanism for its cells."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, product
from typing import Any, ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.core.limits import check_epsilon, check_integer
from sottovoce.mechanisms.base import Batch, Counts, Mechanism, Report, log_of
from sottovoce.mechanisms.codecs import TablesCodec, rows_of
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.reference import ChannelReference
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.support import SupportMechanism
from sottovoce.mechanisms.tables_reference import AnsweredTable, TablesReference
from sottovoce.randomness import Source, epsilon_of
from sottovoce.theory.blanket import Blanket, MixedCover, PairLaw

__all__ = ["CELL_MECHANISMS", "MAX_TABLES", "MAX_WEIGHT", "TableResponse", "Tables"]

CELL_MECHANISMS: Final[dict[str, type[SupportMechanism]]] = {
    kind.name: kind for kind in (RandomizedResponse, ProjectiveGeometry, SubsetSelection)
}
"""Mechanisms that may answer a table."""

MAX_ATTRIBUTES: Final = 256
MAX_TABLES: Final = 2**14
MAX_WEIGHT: Final = 2**20
MAX_TABLE_CELLS: Final = 2**20
MAX_STEPS: Final = 2**20


@final
@dataclass(frozen=True)
class TableResponse:
    """One table: the places of its attributes, its weight among the tables, and the mechanism for its cells."""

    attributes: tuple[int, ...]
    weight: int
    mechanism: SupportMechanism

    @classmethod
    def restore(cls, stated: object, sizes: tuple[int, ...], epsilon: float) -> Self:
        """The table that `to_statement` wrote; anything else is refused."""
        match stated:
            case {"attributes": list() | tuple() as places, "weight": weight, "mechanism": dict() as named, **rest} if (
                not rest and places
            ):
                attributes = tuple(check_integer("attributes", entry, 0, len(sizes) - 1) for entry in places)
                kind = CELL_MECHANISMS.get(named["name"]) if isinstance(named.get("name"), str) else None
                if kind is None:
                    raise SurveyError(f"a table's mechanism must be one of {', '.join(CELL_MECHANISMS)}").at(
                        "mechanism"
                    )
                own = {name: value for name, value in named.items() if name != "name"}
                cells = math.prod(sizes[attribute] for attribute in attributes)
                if not 2 <= cells <= MAX_TABLE_CELLS:
                    raise SurveyError(f"a table has {cells:,} cells; from 2 to {MAX_TABLE_CELLS:,} are allowed")
                return cls(attributes, weight, kind.restore(own, cells, epsilon))
        raise SurveyError("a table must have exactly attributes, weight and mechanism").at("tables")

    def to_statement(self) -> dict[str, Any]:
        """The table as plain JSON values."""
        mechanism = {"name": self.mechanism.name, **self.mechanism.parameters()}
        return {"attributes": list(self.attributes), "weight": self.weight, "mechanism": mechanism}


@final
@dataclass(frozen=True)
class Tables(Mechanism):
    """A table drawn in public by integer weights, and the report of its own mechanism on the record's cell.

    Guarantee
        Pure epsilon-LDP: the table is drawn alike for all; given it, and the random rounding of numbers, a report is
        one of an epsilon-LDP mechanism, and a mixture over roundings keeps the ratio.
    Error
        Given how many reports are on each table, a table's error is that of its mechanism from its reports.
    Symbols
        `sizes` are the numbers of cells of the attributes. An attribute's input is an integer from 0 to
        (size - 1) steps: the number of its value where `steps` is 1, else a position that is rounded at random to one
        of the two neighbouring multiples of `steps`. The last attribute of a table is the fastest in its cells.
    Deviations
        Sampling one attribute with the whole budget is the baseline SMP of Arcolezi et al.; here tables have weights,
        and may be of several attributes.
    Raises
        `SurveyError` for tables that do not fit the attributes.
    """

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    epsilon: float
    tables: tuple[TableResponse, ...]

    name: ClassVar[str] = "tables"
    summary: ClassVar[str] = "one table of attributes, drawn in public, and a report on its cell"
    use_when: ClassVar[str] = "records of several attributes: single attributes, pairs and other tables of a few"
    serves: ClassVar[str] = "records"
    deployed_size: ClassVar[int] = 24
    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"sizes", "steps", "epsilon"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._check_parameters()
        self._check_report_size()

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Labels with overlapping tables of every mechanism; numbers that are rounded; a single table."""
        return (
            cls((2, 3), (1, 1), epsilon, _spread((2, 3), epsilon, {(0,): 2, (1,): 1, (0, 1): 3})),
            cls((2, 3), (1, 4), epsilon, _spread((2, 3), epsilon, {(1,): 1, (0, 1): 2})),
            cls((2, 2), (2, 3), epsilon, _spread((2, 2), epsilon, {(0, 1): 1})),
            cls((7, 2), (1, 1), epsilon, (_projective((7, 2), epsilon), *_spread((7, 2), epsilon, {(1,): 1}))),
        )

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """An attribute of `size` values, one of three, and a number, alone and in pairs."""
        sizes = (size, 3, 3)
        places = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
        return cls(sizes, (1, 1, 2**16), epsilon, _spread(sizes, epsilon, dict.fromkeys(places, 1)))

    def _check_parameters(self) -> None:
        sizes = tuple(check_integer(f"sizes[{i}]", size, 1, MAX_TABLE_CELLS) for i, size in enumerate(self.sizes))
        if not 1 <= len(sizes) <= MAX_ATTRIBUTES or len(self.steps) != len(sizes):
            raise SurveyError(f"a record must have from 1 to {MAX_ATTRIBUTES} attributes, each with its steps")
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "steps", tuple(check_integer("steps", each, 1, MAX_STEPS) for each in self.steps))
        if not isinstance(self.tables, tuple | list) or not 1 <= len(self.tables) <= MAX_TABLES:
            raise SurveyError(f"tables must be a list of 1 to {MAX_TABLES:,} tables")
        read = (
            given if isinstance(given, TableResponse) else TableResponse.restore(given, sizes, self.epsilon)
            for given in self.tables
        )
        tables = tuple(read)
        object.__setattr__(self, "tables", tables)
        for table in tables:
            attributes, inner = table.attributes, table.mechanism
            check_integer("weight", table.weight, 1, MAX_WEIGHT)
            if type(inner) not in CELL_MECHANISMS.values():
                raise SurveyError(f"a table's mechanism must be one of {', '.join(CELL_MECHANISMS)}").at("mechanism")
            if list(attributes) != sorted(set(attributes)) or not attributes or attributes[-1] >= len(sizes):
                raise SurveyError("a table's attributes must be different places in increasing order").at("attributes")
            if (
                inner.domain_size != math.prod(sizes[attribute] for attribute in attributes)
                or inner.epsilon != self.epsilon
            ):
                raise SurveyError("a table's mechanism must be for its cells, at the survey's epsilon").at("mechanism")
        if len({table.attributes for table in tables}) < len(tables):
            raise SurveyError("two tables have the same attributes: state each once").at("tables")

    @cached_property
    def codec(self) -> TablesCodec:
        """The table's number, then the report of its mechanism."""
        return TablesCodec(tuple(table.mechanism.codec for table in self.tables))

    # --- the device -------------------------------------------------------------------------

    @cached_property
    def _drawn(self) -> tuple[int, ...]:
        """Running sums of the tables' weights."""
        return tuple(accumulate(table.weight for table in self.tables))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The probability that each table is drawn."""
        return np.array([table.weight for table in self.tables]) / self._drawn[-1]

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """How many inputs each attribute has."""
        return tuple((size - 1) * steps + 1 for size, steps in zip(self.sizes, self.steps, strict=True))

    def randomize(self, record: Any, source: Source) -> Report:
        """One device's report on its record, one integer per attribute. An error never names the record."""
        entries = list(record.tolist() if isinstance(record, np.ndarray) else record)
        known = [type(entry) is int and 0 <= entry < most for entry, most in zip(entries, self.inputs, strict=False)]
        if len(entries) != len(self.inputs) or not all(known):
            raise ValueOutsideDomainError(
                f"the record is not {len(self.inputs)} integers, one within the range of each attribute"
            )
        table = bisect_right(self._drawn, source.below(self._drawn[-1]))
        # Every number is rounded, also those that are not in the table.
        cells = [
            (entry + source.below(steps)) // steps if steps > 1 else entry
            for entry, steps in zip(entries, self.steps, strict=True)
        ]
        inner = self.tables[table].mechanism.randomize(self._cell(table, cells), source)
        return (table, inner) if isinstance(inner, int) else (table, *inner)

    def _cell(self, table: int, cells: Any) -> Any:
        """The number of a table's cell, the last attribute fastest."""
        number = 0
        for attribute in self.tables[table].attributes:
            number = number * self.sizes[attribute] + cells[attribute]
        return number

    # --- the collector ----------------------------------------------------------------------

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the counts of each table begin: its number of reports, then its mechanism's; and where the last end."""
        return tuple(accumulate((1 + table.mechanism.cells for table in self.tables), initial=0))

    @property
    def cells(self) -> int:
        """For every table the number of its reports, and the counts of its mechanism."""
        return self.starts[-1]

    @property
    def largest_step(self) -> int:
        """A report is counted at most once in every cell."""
        return 1

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Table by table."""
        start = self.codec.start
        for table, rows in self.codec.groups(batch):
            inner = self.tables[table].mechanism
            first, last = self.starts[table], self.starts[table + 1]
            payloads = np.ascontiguousarray(batch[rows, start : start + inner.report_bytes])
            counts[first] += len(rows)
            inner.count_encoded(counts[first + 1 : last], payloads)

    def reports_on(self, counts: Counts) -> NDArray[np.int64]:
        """How many of the counted reports are on each table."""
        return counts[list(self.starts[:-1])]

    # --- the simulation ---------------------------------------------------------------------

    def randomize_many(self, records: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        """Encoded reports of many people at once, by the same law. Records are trusted."""
        n = len(records)
        drawn = np.searchsorted(self._drawn, rng.integers(0, self._drawn[-1], size=n), "right")
        cells = [
            (records[:, attribute] + rng.integers(0, steps, size=n)) // steps if steps > 1 else records[:, attribute]
            for attribute, steps in enumerate(self.steps)
        ]
        batch, start = np.zeros((n, self.codec.width), dtype=np.uint8), self.codec.start
        batch[:, :start] = self.codec.numbers.encode_many(drawn)
        for table, rows in rows_of(drawn, len(self.tables)):
            inner = self.tables[table].mechanism
            held = [column[rows] for column in cells]
            reports = inner.randomize_many(np.ascontiguousarray(self._cell(table, held)), rng)
            batch[rows, start : start + inner.report_bytes] = inner.codec.encode_many(reports)
        return batch

    @property
    def simulation_words(self) -> int:
        """Numbers held for one simulated report."""
        return max(1, len(self.sizes) // 8 + self.report_bytes // 64)

    # --- the auditor ------------------------------------------------------------------------

    def probability(self, report: Report, record: Any) -> Fraction:
        """The table's share, times the mean of its mechanism's probability over the ways to round the record."""
        table, *rest = cast(tuple[int, ...], report)
        chosen = self.tables[table]
        inner = rest[0] if isinstance(chosen.mechanism.codec, type(self.codec.numbers)) else tuple(rest)
        chance = Fraction()
        for cell, share in self._roundings(chosen.attributes, record):
            chance += share * chosen.mechanism.probability(inner, cell)
        return chance * Fraction(chosen.weight, self._drawn[-1])

    def _roundings(self, attributes: tuple[int, ...], record: Any) -> Iterator[tuple[int, Fraction]]:
        """The cells of a table that a record can be rounded to, with their probabilities."""
        ways = []
        for attribute in attributes:
            low, rest = divmod(int(record[attribute]), self.steps[attribute])
            up = Fraction(rest, self.steps[attribute])
            ways.append([(low, 1 - up), (low + 1, up)] if rest else [(low, Fraction(1))])
        for way in product(*ways):
            cell, share = 0, Fraction(1)
            for attribute, (number, part) in zip(attributes, way, strict=True):
                cell, share = cell * self.sizes[attribute] + number, share * part
            yield cell, share

    def log_prob(self, report: Report, record: Any) -> float:
        return log_of(self.probability(report, record))

    def privacy_ratio(self) -> Fraction:
        """The largest of the tables': two records in different cells of a table attain its mechanism's ratio.

        Rounded numbers are mixtures of cells, and a ratio of mixtures is at most the largest of their parts.
        """
        return max(table.mechanism.privacy_ratio() for table in self.tables)

    def blanket(self) -> Blanket | None:
        """The tables' own, mixed: records may be in the worst pair of cells of every table at once.

        Rounded numbers are mixtures of cells, and L is linear in the chances of each of the pair, so it is the mean
        of that of pairs of cells: no convex function of it has a larger mean than the worst of these.
        """
        blankets = {table.mechanism: table.mechanism.blanket() for table in self.tables}
        shares: Counter[SupportMechanism] = Counter()
        laws = []
        for table, share in zip(self.tables, self.shares.tolist(), strict=True):
            blanket = blankets[table.mechanism]
            if blanket is None:
                return None
            shares[table.mechanism] += share
            laws.append(self._table_law(table, blanket).scaled(share))
        cover = MixedCover(tuple((shares[mechanism], blanket) for mechanism, blanket in blankets.items() if blanket))
        return Blanket((PairLaw.joined(laws),), "records can differ in the cells of every table at once", cover)

    def _table_law(self, table: TableResponse, blanket: Blanket) -> PairLaw:
        """The law of two records, the first and the second cell of every attribute, on a table.

        The bystander is in the third cell where there is one, else in the first. Three cells of a projective space
        have different laws: where there are any, the bystander is the second record.
        """
        law = blanket.laws[0]
        if any(isinstance(other.mechanism, ProjectiveGeometry) for other in self.tables):
            return PairLaw(law.blanket, law.one, law.other, law.other)
        apart = any(self.sizes[attribute] > 2 for attribute in table.attributes)
        return law if apart else PairLaw(law.blanket, law.one, law.other, law.one)

    @property
    def delta(self) -> float:
        """None: the guarantee is pure."""
        return 0.0

    @property
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(self.privacy_ratio())

    def miniature_inputs(self) -> Iterator[tuple[int, ...]]:
        """Every possible input, in a fixed order. Only for miniatures."""
        return product(*(range(inputs) for inputs in self.inputs))

    def outputs(self) -> Iterator[Report]:
        """Every possible report, in a fixed order. Only for miniatures."""
        for number, table in enumerate(self.tables):
            for inner in table.mechanism.outputs():
                yield (number, inner) if isinstance(inner, int) else (number, *inner)

    def audit_reference(self) -> TablesReference:
        answered = [
            AnsweredTable(table.attributes, table.weight, cast(ChannelReference, table.mechanism.audit_reference()))
            for table in self.tables
        ]
        return TablesReference(self.sizes, self.steps, self.epsilon, self.privacy_ratio(), answered)

    def citation(self) -> str:
        """Sampling one attribute: Arcolezi, Couchot, Al Bouna and Xiao 2021, Sec. 3."""
        return (
            "@inproceedings{arcolezi2021random, author={Arcolezi, Héber H. and Couchot, Jean-François and "
            "Al Bouna, Bechara and Xiao, Xiaokui}, title={Random Sampling Plus Fake Data: Multidimensional Frequency "
            "Estimates With Local Differential Privacy}, booktitle={CIKM}, year={2021}}"
        )


def _spread(
    sizes: tuple[int, ...], epsilon: float, weights: Mapping[tuple[int, ...], int]
) -> tuple[TableResponse, ...]:
    """Tables with these weights; subset selection where a table has several attributes, else randomized response."""
    tables = []
    for places, weight in weights.items():
        kind = SubsetSelection if len(places) > 1 else RandomizedResponse
        tables.append(TableResponse(places, weight, kind.best(math.prod(sizes[p] for p in places), epsilon)))
    return tuple(tables)


def _projective(sizes: tuple[int, ...], epsilon: float) -> TableResponse:
    """The first attribute, of seven values, by the Fano plane."""
    return TableResponse((0,), 2, ProjectiveGeometry(sizes[0], epsilon, 2, 3))
