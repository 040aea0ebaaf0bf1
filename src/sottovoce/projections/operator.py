"""The interface of a query matrix for projections: its shape, single columns, and two products."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ProjectionError

__all__ = ["GramOperator", "Operator", "as_operator"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@runtime_checkable
class Operator(Protocol):
    """A query matrix A of d rows and J columns that need not be stored. Workloads are operators."""

    @property
    def shape(self) -> tuple[int, int]:
        """(d, J): the number of queries and of possible values."""

    def column(self, j: int, /) -> Floats:
        """Return the answers a person with value j contributes: d entries."""

    def matvec(self, x: Floats, /) -> Floats:
        """Return A x: d entries."""

    def rmatvec(self, y: Floats, /) -> Floats:
        """Return A^T y: J entries."""


@runtime_checkable
class GramOperator(Operator, Protocol):
    """A query matrix that knows the inner products of its columns without their entries; not all need to.

    Where columns are long and these products cheap, a projection on the hull of the columns then neither makes nor
    stores them. Its certificate does not use these products.
    """

    def gram(self, first: Indices, second: Indices, /) -> Floats:
        """Return <a_i, a_j>, a row for each i of `first` and a column for each j of `second`."""


def as_operator(matrix: Operator | NDArray[np.float64]) -> Operator:
    """Return an operator as it is, and a plain matrix as an operator.

    Raises
    ------
    ProjectionError
        If it is neither, or empty, or the matrix does not hold real numbers.

    Examples
    --------
    >>> as_operator(np.array([[1.0, 2.0], [0.0, 3.0]])).column(1)
    array([2., 3.])
    """
    if isinstance(matrix, np.ndarray):
        return _Dense(_checked_matrix(matrix))
    if not isinstance(matrix, Operator):
        raise ProjectionError(
            f"An object of type {type(matrix).__name__} is not a query matrix; it needs shape, column, matvec and "
            "rmatvec; pass a workload, or a two-dimensional NumPy array."
        ).at("operator")
    if len(matrix.shape) != 2 or min(matrix.shape) < 1:
        raise ProjectionError(
            f"The query matrix has shape {matrix.shape}; a hull needs one column or more, of one entry or more."
        ).at("operator")
    return matrix


class _Dense:
    """A matrix in memory."""

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    def column(self, j: int, /) -> Floats:
        return self.matrix[:, j]

    def matvec(self, x: Floats, /) -> Floats:
        product: Floats = self.matrix @ x
        return product

    def rmatvec(self, y: Floats, /) -> Floats:
        product: Floats = self.matrix.T @ y
        return product


def _checked_matrix(matrix: NDArray[np.float64]) -> Floats:
    if matrix.dtype.kind not in "fiu":
        raise ProjectionError(
            f"The matrix's entries are of type {matrix.dtype}; a hull needs real numbers; convert it to float64 first."
        ).at("operator")
    if matrix.ndim != 2 or matrix.size == 0:
        raise ProjectionError(
            f"The query matrix has shape {matrix.shape}; a hull needs two dimensions, neither of them empty."
        ).at("operator")
    return np.asarray(matrix, dtype=np.float64)
