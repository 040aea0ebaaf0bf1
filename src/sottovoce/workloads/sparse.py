"""Sparse: a matrix stored by its nonzero entries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import WorkloadError
from sottovoce.core.extras import full_install
from sottovoce.core.limits import MAX_PRODUCT_SIZE
from sottovoce.domain import Domain
from sottovoce.workloads.base import MAX_ENTRIES, Floats, Indices, Workload
from sottovoce.workloads.naming import Names
from sottovoce.workloads.table import check_norm, decode_numbers, encode_numbers

__all__ = ["Sparse"]

_REMEDY = (
    "give a two-dimensional sparse matrix of finite real numbers, or (rows, columns, values, shape) with "
    "one entry of the first three for each nonzero number"
)


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Sparse(Workload):
    """A matrix given by its nonzero entries, sorted by column, then by row. Duplicate entries are added.

    Reading columns, as devices do, needs no SciPy; products with A use its compressed columns.

    Parameters
    ----------
    matrix
        Anything `scipy.sparse` reads, or a tuple (rows, columns, values, shape).
    domain
        The values of the columns; 0, 1, ... by default.
    names
        Distinct, one per row; "query 0", "query 1", ... by default.

    Examples
    --------
    >>> likes = Sparse(([0, 1, 1], [2, 0, 2], [1, 1, 0.5], (2, 1000)))
    >>> likes, likes.column(2)
    (<sparse workload: 2 queries over 1,000 values, radius 1.118>, array([1. , 0.5]))
    """

    rows: Indices
    cols: Indices
    values: Floats
    n_rows: int
    query_names: Names

    kind: ClassVar[str] = "sparse"

    def __init__(self, matrix: Any, domain: object = None, names: Sequence[str] | None = None) -> None:
        given = matrix if isinstance(matrix, tuple) and len(matrix) == 4 else _read(matrix)
        rows, cols, values, n_rows, n_cols = _checked(*given)
        over = Domain.of(n_cols if domain is None else domain)
        if n_cols != over.size:
            raise WorkloadError(
                f"the matrix has {n_cols:,} columns and the domain {over.size:,} values; they must be equal"
            ).at("matrix")
        self._freeze(over, rows=rows, cols=cols, values=values, n_rows=n_rows, query_names=Names.of(names, n_rows))
        check_norm(self.radius)

    @property
    def n_queries(self) -> int:
        return self.n_rows

    @cached_property
    def _filled(self) -> tuple[Indices, Floats]:
        """Nonzero columns and their squared norms, summed in order: the same rounding on every machine."""
        filled, which = np.unique(self.cols, return_inverse=True)
        with np.errstate(over="ignore"):
            return filled, np.bincount(which, weights=self.values**2).astype(np.float64, copy=False)

    @cached_property
    def radius(self) -> float:
        """The largest norm of a column."""
        return math.sqrt(self._filled[1].max())

    @cached_property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        """The least and largest entry of every row, zeros included."""
        low, high = np.zeros(self.n_rows), np.zeros(self.n_rows)
        np.minimum.at(low, self.rows, self.values)
        np.maximum.at(high, self.rows, self.values)
        return low, high

    @property
    def _same_norm(self) -> bool:
        return False

    def _squared_norms(self, indices: Indices) -> Floats:
        filled, norms = self._filled
        index = np.searchsorted(filled, indices).clip(max=len(filled) - 1)
        return np.where(filled[index] == indices, norms[index], 0.0)

    def _columns(self, indices: Indices) -> Floats:
        first, stop = np.searchsorted(self.cols, indices, "left"), np.searchsorted(self.cols, indices, "right")
        entries = stop - first
        person = np.repeat(np.arange(len(indices)), entries)
        index = np.arange(len(person)) + np.repeat(first - np.cumsum(entries) + entries, entries)
        answers = np.zeros((len(indices), self.n_queries))
        answers[person, self.rows[index]] = self.values[index]
        return answers

    @cached_property
    def _compressed(self) -> Any:
        with full_install:
            from scipy.sparse import csc_array

        return csc_array((self.values, (self.rows, self.cols)), shape=self.shape)

    def _matvec(self, x: Floats) -> Floats:
        answers: Floats = self._compressed @ x
        return answers

    def _rmatvec(self, y: Floats) -> Floats:
        totals: Floats = self._compressed.T @ y
        return totals

    def _name(self, query: int) -> str:
        return self.query_names.name(query)

    def _find(self, name: str) -> int:
        return self.query_names.find(name)

    def _parameters(self) -> dict[str, Any]:
        return {
            "queries": self.n_rows,
            "rows": encode_numbers(self.rows),
            "columns": encode_numbers(self.cols),
            "values": encode_numbers(self.values),
            **self.query_names.to_statement(),
        }

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"queries": queries, "rows": rows, "columns": cols, "values": values, **rest} if not set(rest) - {
                "names"
            }:
                places = decode_numbers(rows, "i8"), decode_numbers(cols, "i8")
                return cls((*places, decode_numbers(values, "f8"), (queries, domain.size)), domain, **rest)
        raise WorkloadError(
            "a sparse workload must have the fields domain, queries, rows, columns and values, and optionally names"
        )


def _read(matrix: Any) -> tuple[Any, Any, Any, Any]:
    """Rows, columns, values and shape of anything SciPy reads."""
    with full_install:
        from scipy.sparse import coo_array

    try:
        read = coo_array(matrix)
    except (TypeError, ValueError, IndexError):
        read = None
    if read is None or read.ndim != 2:
        raise WorkloadError(f"SciPy cannot read a two-dimensional matrix from {type(matrix).__name__}: {_REMEDY}")
    return (*read.coords, read.data, read.shape)


def _checked(rows: Any, cols: Any, values: Any, shape: Any) -> tuple[Indices, Indices, Floats, int, int]:
    """Entries sorted by column and row, duplicates added and zeros removed; then the shape."""
    n_rows, n_cols = map(as_integer, shape) if isinstance(shape, (tuple, list)) and len(shape) == 2 else (None, None)
    if n_rows is None or n_cols is None or not 0 < n_rows <= MAX_ENTRIES or not 0 < n_cols <= MAX_PRODUCT_SIZE:
        raise WorkloadError(f"the shape must be two positive integers, at most {MAX_ENTRIES:,} rows: {_REMEDY}")
    row, col, value = _vector(rows, "iu"), _vector(cols, "iu"), _vector(values, "fiub")
    if not len(row) == len(col) == len(value) <= MAX_ENTRIES:
        raise WorkloadError(
            f"rows, columns and values have different lengths, or more than {MAX_ENTRIES:,} entries: {_REMEDY}"
        )
    for places, size in ((row, n_rows), (col, n_cols)):
        if len(places) and not 0 <= places.min() <= places.max() < size:
            raise WorkloadError(f"an entry lies outside the matrix of {n_rows:,} x {n_cols:,}: {_REMEDY}")
    order = np.lexsort((row, col))
    row, col = row[order].astype(np.int64), col[order].astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        value = value[order].astype(np.float64)
        start = np.flatnonzero(np.r_[True, (np.diff(row) != 0) | (np.diff(col) != 0)][: len(row)])
        value = np.add.reduceat(value, start) if len(start) else value
    if not np.isfinite(value).all():
        raise WorkloadError(f"the matrix has entries that are infinite or not a number: {_REMEDY}")
    kept = np.flatnonzero(value)
    if not len(kept):
        raise WorkloadError("the matrix is all zeros: there is nothing to ask")
    return row[start][kept], col[start][kept], value[kept], n_rows, n_cols


def _vector(entries: Any, kinds: str) -> NDArray[Any]:
    try:
        array = np.asarray(entries)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1 or (array.dtype.kind not in kinds and array.size):
        raise WorkloadError(f"the matrix has entries of type {array.dtype.name} or the wrong shape: {_REMEDY}")
    return array
