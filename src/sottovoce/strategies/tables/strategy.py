"""The tables strategy: a device answers one table of its record, drawn in public; tables that overlap are combined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, SurveyError, WorkloadError
from sottovoce.core.words import plural
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.mechanisms.tables import TableResponse, Tables
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.laws.variance import Population, Status, Variance, listed_variance
from sottovoce.strategies.linear import LinearStrategy
from sottovoce.strategies.reading import Projection
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.strategies.tables.allocation import best_mechanism, best_shares, contrast_noise, integer_weights
from sottovoce.strategies.tables.combination import TableCombination
from sottovoce.strategies.tables.components import Components, Table, subsets
from sottovoce.strategies.tables.law import law_of_tables, mean_squares_of_reports, spread_of_tables
from sottovoce.workloads.base import Body
from sottovoce.workloads.marginals import Marginals
from sottovoce.workloads.record_tables import RecordTables

__all__ = ["TablesStrategy"]

_EXPECTED = "for the expected number of reports on every table"
_BLOCK = 2**21
_MOST_TABLES = 2**11
_MOST_CELLS = 2**12
_MOST_ANSWERS = 2**17
"""Tables, cells of one table and cells of all, so that plans and intervals take seconds."""

_MOST_LISTED = 2**22
"""Records up to which their shares are listed."""

_FEW = 20
"""Reports on a table below which its errors are larger than planned."""


@final
@dataclass(frozen=True)
class TablesStrategy(LinearStrategy):
    """Components of all measured tables, each the mean of what the tables say, weighted by their precision.

    Weights depend on the number of reports on each table alone, which is public and independent of people's values, so
    the answers are unbiased whatever the numbers are.

    Examples
    --------
    >>> from sottovoce.workloads import Marginals
    >>> people = Marginals(k=2, country=8, plan=4, age=10)
    >>> (design,) = TablesStrategy.designs(Setting(people, 4.0, 0.0, 100_000))
    >>> [table.attributes for table in design.mechanism.tables]
    [(0, 1), (0, 2), (1, 2)]
    >>> round(design.margin(100_000), 4)
    0.0089
    """

    workload: RecordTables | Marginals
    mechanism: Tables

    name: ClassVar[str] = "tables"
    summary: ClassVar[str] = "one table of attributes, drawn in public, by the best mechanism for its cells"
    answers_tell_variances: ClassVar[bool] = True

    def __post_init__(self) -> None:
        sizes, steps, tables = _layout(self.workload)
        if (self.mechanism.sizes, self.mechanism.steps) != (sizes, steps):
            raise WorkloadError("the mechanism is for other attributes than the workload")
        known = {part for table in self.combination.measured.tables for part in subsets(table)}
        if not {part for table in tables for part in subsets(table)} == known:
            raise MechanismError("the mechanism's tables do not tell all that is asked for, or tell more")

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """One design: for each table the best mechanism whose report is short enough, and the best allocation."""
        setting.check_mechanism(cls.name, Tables.name)
        workload = setting.workload
        if not isinstance(workload, RecordTables | Marginals):
            raise WorkloadError("the tables strategy answers tables of records: use Marginals, or ask for records").at(
                "strategy"
            )
        if isinstance(workload, RecordTables):
            # Before they are listed: there may be millions.
            count = sum(math.comb(len(workload.sizes), order) for order in range(1, workload.order + 1))
            if count > _MOST_TABLES:
                raise WorkloadError(
                    f"there are {count:,} tables; at most {_MOST_TABLES:,} are allowed: leave attributes out, or ask "
                    "for tables of fewer attributes"
                )
        sizes, steps, asked = _layout(workload)
        components = Components(sizes, asked)
        tables = components.parts
        if min(sizes) < 2:
            raise WorkloadError("an attribute has one value, which everybody has: leave it out")
        cells = max(map(tables.count, asked))
        if cells > _MOST_CELLS or components.answers.cells > _MOST_ANSWERS or len(tables.tables) > _MOST_TABLES:
            raise WorkloadError(
                f"there are {len(tables.tables):,} tables with {components.answers.cells:,} cells, the largest of "
                f"{cells:,}; at most {_MOST_TABLES:,} tables of {_MOST_CELLS:,} cells, {_MOST_ANSWERS:,} in all, are "
                "allowed: merge values, such as ages to bands, or ask for tables of fewer attributes"
            )
        room = setting.max_report_bytes - (len(tables.tables) - 1).bit_length() // 8 - 1
        inner = [best_mechanism(tables.count(table), setting.epsilon, max(1, room)) for table in tables.tables]
        noise = np.array([contrast_noise(mechanism) for mechanism in inner])
        costs = components.dimensions * components.multiplicity
        shares = best_shares(components.incidence(tables) / noise, costs)
        weights = integer_weights(shares, [table in set(asked) and _alone(table, asked) for table in tables.tables])
        listed = zip(tables.tables, weights, inner, strict=True)
        chosen = tuple(TableResponse(table, weight, mechanism) for table, weight, mechanism in listed if weight)
        return [cls(workload, Tables(sizes, steps, setting.epsilon, chosen))]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        stated.check_mechanism(Tables)
        workload = stated.workload
        if not isinstance(workload, RecordTables | Marginals):
            raise SurveyError("the tables strategy answers tables of records only")
        sizes, steps, _ = _layout(workload)
        return cls(workload, Tables(sizes, steps, stated.epsilon, stated.parameters["tables"]))

    def remark(self, people: int) -> str:
        """Where tables get so few reports that errors planned for the expected number are too small."""
        reports = people * float(self.mechanism.shares.min())
        if reports >= _FEW:
            return ""
        return (
            f"With {plural(people, 'person', 'people')} some of the {plural(len(self.mechanism.tables), 'table')} get "
            f"{reports:.2g} reports on average, which tell next to nothing: ask more people, or for fewer tables"
        )

    def inputs(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """One integer per attribute: records bring them; for values that are listed they follow from the number."""
        if isinstance(self.workload, Body):
            return indices
        columns, rest = [], np.asarray(indices, dtype=np.int64)
        for size in reversed(self.mechanism.sizes):
            rest, digit = np.divmod(rest, size)
            columns.append(digit)
        return np.stack(columns[::-1], axis=1)

    def typical_inputs(self, people: int, rng: np.random.Generator, shares: Floats | None) -> NDArray[Any] | None:
        """Records that are not listed have independent and uniformly distributed attributes."""
        if not isinstance(self.workload, Body):
            return super().typical_inputs(people, rng, shares)
        return np.stack([rng.integers(size, size=people) for size in self.mechanism.sizes], axis=1)

    # --- estimation -------------------------------------------------------------------------

    @cached_property
    def combination(self) -> TableCombination:
        return TableCombination(self.mechanism, _layout(self.workload)[2])

    @property
    def _components(self) -> Components:
        return self.combination.components

    def raw_answers(self, counts: Counts, n_reports: int) -> Floats:
        return self._components.rebuild(self.combination.component_means(counts))

    def nearest(self, raw: Floats) -> Projection:
        """The nearest tables that agree, without negative shares; records are not listed."""
        from sottovoce.strategies.tables.components import project_tables

        projected = project_tables(self._components, raw)
        return Projection.without_people(projected.values, projected.gap)

    # --- the variance -------------------------------------------------------------------------

    def _variances(self, number: int, rows: Floats, people: Population) -> Floats:
        """N Var of combinations of one measured table's cells, from reports on that table alone, over their share."""
        table = self.mechanism.tables[number]
        if people.answers is None:
            variances = listed_variance(rows, table.mechanism.second_moments(rows), None)
        else:
            shares = self.combination.shares_of(people.answers, table.attributes)
            variances = mean_squares_of_reports(table.mechanism, rows, shares) - (rows @ shares) ** 2
        return np.asarray(np.maximum(0.0, variances) / self.mechanism.shares[number])

    def _each(self, people: Population) -> Variance:
        variances = np.zeros(self._components.answers.cells)
        for overlap in self.combination.overlaps(self.combination.expected_precision):
            cells, inner = overlap.answers, self.mechanism.tables[overlap.measured].mechanism
            if not people.known:
                # Alike for all cells, and nearly so for projective geometry: a few of its cells are looked at.
                step = len(overlap.rows) if isinstance(inner, SymmetricMechanism) else max(1, len(overlap.rows) // 4)
                variances[cells] += self._variances(overlap.measured, overlap.rows[::step], people).max()
            else:
                variances[cells] += self._variances(overlap.measured, overlap.rows, people)[overlap.row]
        return Variance(variances, self._status("bound", people), self._note)

    def _combined(self, weights: Floats, people: Population) -> Variance:
        variances = np.zeros(len(weights))
        step = max(1, _BLOCK // self.combination.measured.cells)
        for start in range(0, len(weights), step):
            rows = self.combination.row_weights(weights[start : start + step], self.combination.expected_precision)
            for number, table in enumerate(self.combination.measured.tables):
                part = rows[:, self.combination.measured.slice(table)]
                if part.any():
                    variances[start : start + step] += self._variances(number, part, people)
        return Variance(variances, "bound" if people.answers is None else "exact", _EXPECTED)

    @cached_property
    def _alike(self) -> bool:
        """Whether all cells of a table have the same noise."""
        return all(isinstance(table.mechanism, SymmetricMechanism) for table in self.mechanism.tables)

    def _status(self, unknown: Status, people: Population) -> Status:
        """How exact a variance is that was computed for some cells of a table, for an unknown population."""
        return "exact" if people.known else unknown if self._alike else "within"

    @property
    def _note(self) -> str:
        return _EXPECTED if self._alike else f"{_EXPECTED}; cells differ a little, by the geometry of their reports"

    def _total(self, people: Population) -> Variance:
        """Largest where all cells are equally frequent: the noise is then the same, and people differ the most."""
        if people.answers is not None:
            each = self._each(people)
            return each._replace(value=float(each.value.sum()))
        known = self.combination.incidence @ self.combination.expected_precision
        return Variance(float(self._costs @ (1 / known)), self._status("exact", people), self._note)

    @cached_property
    def _costs(self) -> Floats:
        return np.asarray(self._components.dimensions * self._components.multiplicity)

    # --- what one report tells, and can do --------------------------------------------------------

    @cached_property
    def spread(self) -> Spread:
        return spread_of_tables(self.combination)

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        return law_of_tables(self.combination, weights, evidence)

    # --- further error quantities -----------------------------------------------------------------

    def worst_population(self) -> Floats | None:
        """All records equally frequent, so that all cells are; None if they are too many to list."""
        values = self.workload.n_values
        return None if values is None or values > _MOST_LISTED else np.full(values, 1 / values)

    @property
    def worst(self) -> float:
        """Without the sampling of people, whose answers vary by 1 - 1/cells in every table."""
        return max(0.0, float(self._worst_total.value) - float(np.sum(1 - 1 / self._table_cells)))

    @property
    def total(self) -> float:
        """Like `worst`: all records have the same noise."""
        return self.worst

    @cached_property
    def _table_cells(self) -> Floats:
        return np.diff(self._components.answers.starts).astype(np.float64)


def _layout(workload: RecordTables | Marginals) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Table, ...]]:
    """Sizes and steps of the attributes, and the tables that are asked for."""
    if isinstance(workload, RecordTables):
        return workload.sizes, workload.steps, workload.tables
    sizes = tuple(inner.size for _, inner in workload.domain.attributes)
    return sizes, (1,) * len(sizes), tuple(combinations(range(len(sizes)), workload.k))


def _alone(table: Table, asked: tuple[Table, ...]) -> bool:
    """Whether no other table that is asked for holds this one."""
    return not any(set(table) < set(other) for other in asked)
