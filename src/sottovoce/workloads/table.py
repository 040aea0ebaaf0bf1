"""Workloads with a stored matrix, shared by `Dense` and `Features`, and the encoding of numbers in JSON."""

from __future__ import annotations

import base64
import binascii
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.core.limits import check_radius
from sottovoce.domain import Domain
from sottovoce.workloads.base import MAX_ENTRIES, Floats, Indices, Workload
from sottovoce.workloads.naming import Names

__all__ = ["Table", "check_norm", "checked_matrix", "decode_numbers", "encode_numbers"]

_BLOCK: Final = 2**16


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Table(Workload):
    """A workload whose matrix is stored: float64, one row per query, read-only."""

    matrix: Floats
    query_names: Names

    @final
    def _fill(self, matrix: Floats, domain: Domain, names: object) -> None:
        if matrix.shape[1] != domain.size:
            raise WorkloadError(
                f"the matrix has {matrix.shape[1]:,} columns and the domain {domain.size:,} values; they must be equal"
            )
        self._freeze(domain, matrix=matrix, query_names=Names.of(names, len(matrix)))
        check_norm(self.radius)

    @property
    def n_queries(self) -> int:
        return len(self.matrix)

    @cached_property
    def _all_squared_norms(self) -> Floats:
        # Summed in row order, block by block: the same rounding on every machine.
        total = np.zeros(self.matrix.shape[1])
        rows = max(1, _BLOCK // self.matrix.shape[1])
        with np.errstate(over="ignore"):
            for first in range(0, len(self.matrix), rows):
                squares = np.square(self.matrix[first : first + rows])
                squares[0] += total
                total = np.add.accumulate(squares, axis=0)[-1]
        return total

    @cached_property
    def radius(self) -> float:
        """The largest norm of a column, computed from all of them."""
        return math.sqrt(self._all_squared_norms.max())

    @cached_property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        """The least and largest entry of every row."""
        return self.matrix.min(axis=1), self.matrix.max(axis=1)

    @property
    def _same_norm(self) -> bool:
        return False

    def _squared_norms(self, indices: Indices) -> Floats:
        return self._all_squared_norms[indices]

    def _columns(self, indices: Indices) -> Floats:
        return np.take(self.matrix.T, indices, axis=0)

    def _matvec(self, x: Floats) -> Floats:
        return self.matrix @ x

    def _rmatvec(self, y: Floats) -> Floats:
        return y @ self.matrix

    def _name(self, query: int) -> str:
        return self.query_names.name(query)

    def _find(self, name: str) -> int:
        return self.query_names.find(name)

    def _parameters(self) -> dict[str, Any]:
        return {
            "shape": list(self.matrix.shape),
            "matrix": encode_numbers(self.matrix),
            **self.query_names.to_statement(),
        }


def checked_matrix(matrix: object) -> Floats:
    """A read-only float64 copy of a matrix of real numbers; anything else raises `WorkloadError`."""
    try:
        array = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    remedy = "give a two-dimensional array of finite real numbers, one row per query and one column per value"
    if array.dtype.kind not in "fiub":
        raise WorkloadError(f"the matrix has {array.dtype.name} entries: {remedy}")
    if array.ndim != 2 or array.size == 0:
        raise WorkloadError(f"the matrix is empty or not two-dimensional: {remedy}")
    if array.size > MAX_ENTRIES:
        raise WorkloadError(
            f"the matrix has {array.size:,} entries; at most {MAX_ENTRIES:,} can be stored: "
            "use a structured workload such as Prefix or Marginals, or Sparse"
        )
    with np.errstate(over="ignore"):  # a wider float may not fit; it is refused below
        copy = array.astype(np.float64, order="C", copy=True)
    if not np.isfinite(copy).all():
        raise WorkloadError(f"the matrix has entries that are infinite or not a number: {remedy}")
    copy += 0.0  # removes negative zeros: equal matrices have equal JSON
    copy.flags.writeable = False
    return copy


def check_norm(radius: float) -> None:
    """Refuse matrices of zeros, or with a norm that float64 cannot square safely."""
    try:
        check_radius(radius)
    except SurveyError:
        raise WorkloadError(
            f"the largest column has norm {radius:g}; it must lie between 1e-100 and 1e100: "
            "rescale the matrix, or give one that is not all zeros"
        ) from None


def encode_numbers(numbers: NDArray[Any]) -> str:
    """Base64 of the entries in row order, eight bytes each, little-endian."""
    kind = "<f8" if numbers.dtype.kind == "f" else "<i8"
    return base64.b64encode(numbers.astype(kind).tobytes()).decode()


def decode_numbers(text: object, kind: str, count: int | None = None) -> NDArray[Any]:
    """What `encode_numbers` wrote: "f8" or "i8" entries, `count` of them if given; raises `WorkloadError` otherwise."""
    try:
        raw = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        raw = b""
    if not raw or len(raw) % 8 or count not in (None, len(raw) // 8):
        many = "" if count is None else f"{count:,} "
        raise WorkloadError(f"the statement's numbers must be base64 of {many}little-endian eight-byte entries")
    return np.frombuffer(raw, dtype="<" + kind).astype(kind)
