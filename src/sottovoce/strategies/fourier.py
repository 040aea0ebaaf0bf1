"""The Fourier strategy: tables of attributes, parities and bins from the parities of the values' binary codes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, WorkloadError
from sottovoce.domain import ProductDomain
from sottovoce.mechanisms.base import Counts
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.sampled import MAX_TILT
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.sampled import SampledStrategy, best_tilt
from sottovoce.workloads.base import MAX_ENTRIES, Workload
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.marginals import Marginals
from sottovoce.workloads.parities import Parities

__all__ = ["FourierCoordinates", "FourierStrategy"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_MOST_ENTRIES: Final = 2**24
"""Products of bins and coefficients up to which bins are transformed."""

_MOST_VALUES: Final = 2**22
"""Up to this many values, the answers of each are listed."""


@dataclass(frozen=True)
class FourierCoordinates:
    """V: the parities (-1)^<m, code>, times sqrt(q_m). An `Operator`; products take one Walsh-Hadamard transform."""

    mechanism: Fourier

    @cached_property
    def shape(self) -> tuple[int, int]:
        return len(self.mechanism.coefficients), self.mechanism.domain_size

    @cached_property
    def scales(self) -> Floats:
        """sqrt(q)."""
        return np.sqrt(self.mechanism.shares)

    def columns(self, indices: Indices) -> Floats:
        codes = self.mechanism.codes(np.asarray(indices, dtype=np.int64))
        odd = np.bitwise_count(codes[:, None] & self.mechanism.coefficients) & 1
        return np.asarray(self.scales * (1.0 - 2.0 * odd))

    def column(self, j: int, /) -> Floats:
        column: Floats = self.columns(np.array([j]))[0]
        return column

    def matvec(self, x: Floats, /) -> Floats:
        cube = self.mechanism.code_cube()
        cube[self.mechanism.all_codes] = x
        return self.scales * self._transformed(cube)[self.mechanism.coefficients]

    def rmatvec(self, y: Floats, /) -> Floats:
        cube = self.mechanism.code_cube()
        cube[self.mechanism.coefficients] = self.scales * y
        return self._transformed(cube)[self.mechanism.all_codes]

    @staticmethod
    def _transformed(cube: Floats) -> Floats:
        from sottovoce.kernels.walsh import walsh_hadamard

        walsh_hadamard(cube)
        return cube


@final
@dataclass(frozen=True)
class FourierStrategy(SampledStrategy):
    """Answers by the inverse transform of each table's own coefficients; values are never listed.

    Examples
    --------
    >>> from sottovoce.workloads import Marginals
    >>> habits = Marginals(k=2, **{f"habit{i}": 2 for i in range(16)})
    >>> strategy = FourierStrategy.best(habits, 1.0)
    >>> strategy.coordinates.shape, strategy.mechanism.weights, round(strategy.worst)
    ((136, 65536), (4, 1), 38683)
    """

    mechanism: Fourier

    name: ClassVar[str] = "fourier"
    summary: ClassVar[str] = "parities of the attributes, one drawn in public"
    response: ClassVar[type[Fourier]] = Fourier

    def __post_init__(self) -> None:
        self._check_fit(self.serves)
        sizes, order, only = _layout(self.workload)
        if (self.mechanism.sizes, self.mechanism.order, self.mechanism.only) != (sizes, order, only):
            raise MechanismError(
                "the mechanism's coefficients do not match the workload; use best(workload, epsilon)"
            ).at("mechanism")

    @staticmethod
    def serves(workload: Workload) -> bool:
        """Marginals, Parities, Identity and Bins."""
        return isinstance(workload, Marginals | Parities | Identity | Bins) and workload.n_queries <= MAX_ENTRIES

    @classmethod
    def best(cls, workload: Workload, epsilon: float) -> Self:
        """The coefficients that the workload needs, with the weights of the least exact `moment`."""
        if not cls.serves(workload):
            raise WorkloadError(
                f"a {workload.kind} workload has no Fourier strategy; use Marginals, Parities or Bins"
            ).at("workload")
        size, (sizes, order, only) = workload.shape[1], _layout(workload)
        return best_tilt(
            lambda tilt: cls(workload, Fourier(size, epsilon, sizes, order, only, tilt)),
            lambda made: made.moment,
            MAX_TILT if order > 1 else 0,
        )

    @cached_property
    def coordinates(self) -> FourierCoordinates:
        return FourierCoordinates(self.mechanism)

    def _raw(self, counts: Counts, n_reports: int) -> Floats:
        differences = (counts[::2] - counts[1::2]).astype(np.float64)
        return np.asarray(differences / (n_reports * float(self.mechanism.signal) * self.coordinates.scales))

    @cached_property
    def _tables(self) -> tuple[tuple[int, ...], ...]:
        """The attributes of each table, by position; empty for parities."""
        match self.workload:
            case Marginals():
                return tuple(combinations(range(len(self.mechanism.sizes)), self.workload.k))
            case Bins():
                return ((self.mechanism.only - 1,),)
            case Identity():
                return ((0,),)
        return ()

    @cached_property
    def _starts(self) -> dict[tuple[int, ...], int]:
        """The number of the first coefficient that touches some attributes and no others."""
        attributes = (self.mechanism.only - 1,) if self.mechanism.only else tuple(range(len(self.mechanism.sizes)))
        starts, start = {}, 0
        for touched in range(1, self.mechanism.order + 1):
            for group in combinations(attributes, touched):
                starts[group] = start
                start += math.prod((1 << self.mechanism.bits[attribute]) - 1 for attribute in group)
        return starts

    def _table(self, table: tuple[int, ...], coefficients: Floats) -> Floats:
        """Shares of a table's cells, the last attribute fastest."""
        bits, sizes = self.mechanism.bits, self.mechanism.sizes
        cube = np.zeros([1 << bits[attribute] for attribute in table])
        cube[(0,) * len(table)] = 1.0
        for touched in range(1, len(table) + 1):
            for group in combinations(table, touched):
                shape = [(1 << bits[attribute]) - 1 for attribute in group]
                part = coefficients[self._starts[group] :][: math.prod(shape)].reshape(shape)
                cube[tuple(slice(1, None) if attribute in group else 0 for attribute in table)] = part
        cells = FourierCoordinates._transformed(cube.reshape(-1)).reshape(cube.shape) / cube.size
        return cells[tuple(slice(sizes[attribute]) for attribute in table)].reshape(-1)

    def _answers(self, v: Floats) -> Floats:
        coefficients = v / self.coordinates.scales
        if isinstance(self.workload, Parities):
            answers: Floats = coefficients[self._rows]
            return answers
        tables = [self._table(table, coefficients) for table in self._tables]
        if isinstance(self.workload, Bins):
            bounds = self.workload._bounds
            sums: Floats = np.add.reduceat(tables[0][: bounds[-1]], bounds[:-1])
            return sums
        return np.concatenate(tables)

    @cached_property
    def _rows(self) -> Indices:
        """The coefficient that each parity of the workload is."""
        workload = self.workload
        assert isinstance(workload, Parities)
        order = np.argsort(self.mechanism.coefficients)
        places: Indices = order[np.searchsorted(self.mechanism.coefficients[order], workload._sets)]
        return places

    def central_moments(self) -> Floats:
        """All cells of a table have the same moment; that of a bin follows from Parseval's identity."""
        if isinstance(self.workload, Parities):
            return np.asarray(self._moment_of_coordinates / self.mechanism.shares[self._rows])
        if isinstance(self.workload, Bins):
            parts = self.offset
            return np.asarray(self._moment_of_coordinates * len(self.mechanism.coefficients) * parts * (1 - parts))
        moments = [self._cell_moment(table) for table in self._tables]
        return np.repeat(moments, [self._cells(table) for table in self._tables])

    def _cell_moment(self, table: tuple[int, ...]) -> float:
        """c^2 4^-bits times the sum of 1/q over the table's coefficients."""
        sums = [1.0] + [0.0] * len(table)
        for attribute in table:
            for touched in range(len(table), 0, -1):
                sums[touched] += ((1 << self.mechanism.bits[attribute]) - 1) * sums[touched - 1]
        weights, drawn = self.mechanism.weights, self.mechanism.drawn
        inverse = sum(number * drawn / weight for number, weight in zip(sums[1:], weights, strict=True))
        return self._moment_of_coordinates * inverse / 4.0 ** self._table_bits(table)

    def _table_bits(self, table: tuple[int, ...]) -> int:
        return sum(self.mechanism.bits[attribute] for attribute in table)

    def _cells(self, table: tuple[int, ...]) -> int:
        return math.prod(self.mechanism.sizes[attribute] for attribute in table)

    def _adjoint(self, row: Floats) -> Floats:
        """R^T w, the transpose of `_answers` less its offset, table by table."""
        coefficients = np.zeros(len(self.mechanism.coefficients))
        if isinstance(self.workload, Parities):
            np.add.at(coefficients, self._rows, row)
        elif isinstance(self.workload, Bins):
            bounds = self.workload._bounds
            cells = np.zeros(self._cells(self._tables[0]))
            cells[bounds[0] : bounds[-1]] = np.repeat(row, np.diff(bounds))
            self._add_table(coefficients, self._tables[0], cells)
        else:
            ends = np.cumsum([self._cells(table) for table in self._tables])[:-1]
            for table, cells in zip(self._tables, np.split(row, ends), strict=True):
                if cells.any():
                    self._add_table(coefficients, table, cells)
        return np.asarray(coefficients / self.coordinates.scales)

    def _add_table(self, coefficients: Floats, table: tuple[int, ...], cells: Floats) -> None:
        """Add the cells' weights to the weights of coefficients: the transpose of `_table`."""
        bits, sizes = self.mechanism.bits, self.mechanism.sizes
        cube = np.zeros([1 << bits[attribute] for attribute in table])
        cube[tuple(slice(sizes[attribute]) for attribute in table)] = cells.reshape(
            [sizes[attribute] for attribute in table]
        )
        cube = FourierCoordinates._transformed(cube.reshape(-1)).reshape(cube.shape) / cube.size
        for touched in range(1, len(table) + 1):
            for group in combinations(table, touched):
                part = cube[tuple(slice(1, None) if attribute in group else 0 for attribute in table)].reshape(-1)
                start = self._starts[group]
                coefficients[start : start + len(part)] += part

    def _combined_moments(self, weights: Floats) -> Floats:
        return np.array([self._moment_of_coordinates * float(v @ v) for v in map(self._adjoint, weights)])

    def _distance_to_offset(self, weights: Floats | None) -> Floats | float | None:
        """For sizes that are not powers of two the offset's shares do not sum to one."""
        if weights is None:
            # A share can be any number from 0 to 1, except that of a single bin with everybody.
            everybody = isinstance(self.workload, Bins) and self.workload.n_queries == 1 and self.workload._same_norm
            return 1 - self.offset if everybody else 0.0
        if self.workload.n_values > _MOST_VALUES:
            return None
        ends = np.array([(h.min(), h.max()) for h in map(self.workload.rmatvec, weights)])
        offset = weights @ self.offset
        return np.asarray(np.clip(offset, ends[:, 0], ends[:, 1]) - offset)

    @cached_property
    def _centre_distance(self) -> float:
        """A uniform population is nearest to the offset of tables, by symmetry; bins share the difference evenly."""
        if isinstance(self.workload, Bins):
            missing = 1 - float(self.offset.sum()) if self.workload._same_norm else 0.0
            return missing**2 / self.workload.n_queries
        distance = 0.0
        for table in self._tables:
            cells = self._cells(table)
            distance += cells * (1 / cells - 0.5 ** self._table_bits(table)) ** 2
        return distance

    def worst_population(self) -> Floats | None:
        """Uniform, except for bins: the difference to the offset is spread evenly over them, or outside of all."""
        values = self.workload.n_values
        if values > _MOST_VALUES:
            return None
        if not isinstance(self.workload, Bins):
            return np.full(values, 1 / values)
        missing = 1 - float(self.offset.sum())
        bins = self.workload._bin(np.arange(values))
        inside = (bins >= 0) & (bins < self.workload.n_queries)
        shares = self.offset + (missing / self.workload.n_queries if inside.all() else 0.0)
        numbers = np.where(inside, bins, self.workload.n_queries)
        sizes = np.bincount(numbers, minlength=self.workload.n_queries + 1)
        everyone = np.append(shares, 0.0 if inside.all() else missing)
        return np.asarray((everyone / np.maximum(sizes, 1))[numbers])

    @cached_property
    def moment(self) -> float:
        return float(self.central_moments().sum())

    @cached_property
    def _even_deviation(self) -> float:
        """||a_u - offset||^2, the same for all values, for tables and parities."""
        deviation = float(self.workload.n_queries) if isinstance(self.workload, Parities) else 0.0
        for table in self._tables:
            part = 0.5 ** self._table_bits(table)
            deviation += 1 - 2 * part + self._cells(table) * part**2
        return deviation

    def _bin_deviations(self, bins: Indices) -> Floats:
        inside = (bins >= 0) & (bins < self.workload.n_queries)
        own = np.where(inside, 1 - 2 * self.offset[np.where(inside, bins, 0)], 0.0)
        return np.asarray(own + self.offset @ self.offset)

    @cached_property
    def _deviation_range(self) -> tuple[float, float]:
        if not isinstance(self.workload, Bins):
            return self._even_deviation, self._even_deviation
        _, axis, after = self.workload._place
        deviations = self._bin_deviations(self.workload._bin(np.arange(axis.size) * after))
        return float(deviations.min()), float(deviations.mean())

    # --- what one report tells, and can do --------------------------------------------------------

    def _combined_reach(self, weights: Floats, moments: Floats) -> Floats:
        scale = math.sqrt(self._moment_of_coordinates)
        return np.array([scale * np.abs(self._adjoint(row) / self.coordinates.scales).max() for row in weights])

    @cached_property
    def spread(self) -> Spread:
        """A report moves one coefficient by c/q up or down, and an answer by its weight on that coefficient."""
        m = self.mechanism
        step = 2 * float(1 / m.signal)
        projected = self.operator_norm * step / math.sqrt(float(m.shares.min()))
        if isinstance(self.workload, Parities):
            each = step / m.shares[self._rows]
            return Spread(each, float(each.max()), projected, True, True)
        if isinstance(self.workload, Bins):
            return self._spread_of_bins(step / float(m.shares[0]), projected)
        # Within a table all weights are 2^-bits; the rarest coefficient it needs moves it most.
        rarest = [min(m.weights[: len(table)]) / m.drawn for table in self._tables]
        parts = [step / q * 0.5 ** self._table_bits(table) for q, table in zip(rarest, self._tables, strict=True)]
        each = np.repeat(parts, [self._cells(table) for table in self._tables])
        return Spread(each, self._spread_of_tables(step), projected, True, True)

    def _spread_of_tables(self, step: float) -> float:
        """The farthest that one coefficient carries all tables it belongs to."""
        m = self.mechanism
        squares: dict[tuple[int, ...], float] = {}
        for table in self._tables:
            length = self._cells(table) * 0.25 ** self._table_bits(table)
            for touched in range(1, len(table) + 1):
                for group in combinations(table, touched):
                    squares[group] = squares.get(group, 0.0) + length
        return max(step * m.drawn / m.weights[len(group) - 1] * math.sqrt(square) for group, square in squares.items())

    def _spread_of_bins(self, step: float, projected: float) -> Spread:
        """A bin's weight on a coefficient is a Walsh-Hadamard sum over the bin: all of them, or a bound on all."""
        workload = self.workload
        assert isinstance(workload, Bins)
        bounds: Indices = workload._bounds
        cube = len(self.mechanism.coefficients) + 1
        if workload.n_queries * cube > _MOST_ENTRIES:
            sizes = np.diff(bounds)
            each = step * np.minimum(sizes, cube - sizes) / cube
            return Spread(each, float(np.linalg.norm(each)), projected, False, False)
        each, squares = np.empty(workload.n_queries), np.zeros(cube)
        for number, (first, end) in enumerate(pairwise(bounds.tolist())):
            inside = np.zeros(cube)
            inside[first:end] = step / cube
            FourierCoordinates._transformed(inside)
            inside[0] = 0.0
            each[number] = np.abs(inside).max()
            squares += inside**2
        return Spread(each, math.sqrt(float(squares.max())), projected, True, True)


def _layout(workload: Workload) -> tuple[tuple[int, ...], int, int]:
    """Sizes, order and single attribute of the coefficients that a workload needs, as the mechanism states them."""
    domain = workload.domain
    attributes = domain.attributes if isinstance(domain, ProductDomain) else (("", domain),)
    sizes = tuple(inner.size for _, inner in attributes)
    match workload:
        case Marginals():
            return sizes, workload.k, 0
        case Parities():
            return (2,) * (domain.size.bit_length() - 1), workload.order, 0
        case Bins():
            names = [name for name, _ in attributes]
            return sizes, 1, names.index(workload.attribute or "") + 1
    return (domain.size,), 1, 0
