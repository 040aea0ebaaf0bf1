"""Dense: any matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

from numpy.typing import ArrayLike

from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain
from sottovoce.workloads.base import MAX_ENTRIES
from sottovoce.workloads.table import Table, checked_matrix, decode_numbers

__all__ = ["Dense", "shape_from"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Dense(Table):
    """Any matrix of real numbers, copied as float64; row i asks for the mean over people of matrix[i, value].

    Parameters
    ----------
    matrix
        One row per query, one column per value; integers and booleans are converted.
    domain
        The values of the columns; 0, 1, ... by default.
    names
        Distinct, one per row; "query 0", "query 1", ... by default.

    Examples
    --------
    >>> scores = Dense([[1, 0, 2], [0, 1, 1]], domain=["low", "middle", "high"], names=["points", "bonus"])
    >>> scores.matvec([0.5, 0.25, 0.25]), scores.find("bonus"), round(scores.radius**2)
    (array([1. , 0.5]), 1, 5)
    """

    kind: ClassVar[str] = "dense"

    def __init__(self, matrix: ArrayLike, domain: object = None, names: Sequence[str] | None = None) -> None:
        numbers = checked_matrix(matrix)
        self._fill(numbers, Domain.of(numbers.shape[1] if domain is None else domain), names)

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"shape": shape, "matrix": text, **rest} if not set(rest) - {"names"}:
                queries, values = shape_from(shape)
                return cls(decode_numbers(text, "f8", queries * values).reshape(queries, values), domain, **rest)
        raise WorkloadError("a dense workload must have the fields domain, shape and matrix, and optionally names")


def shape_from(shape: object) -> tuple[int, int]:
    """Rows and columns of a stored matrix, from a statement."""
    match shape:
        case [int(queries), int(values)] if type(queries) is type(values) is int and queries > 0 and values > 0:
            if queries * values <= MAX_ENTRIES:
                return queries, values
    raise WorkloadError(f"shape must be two positive integers whose product is at most {MAX_ENTRIES:,}")
