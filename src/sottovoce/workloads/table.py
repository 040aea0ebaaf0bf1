"""Workloads with a stored matrix: any matrix, features, and moments of a number."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.core.limits import check_radius
from sottovoce.domain import Domain, NumberGrid
from sottovoce.workloads.base import MAX_ENTRIES, Floats, Indices, Workload
from sottovoce.workloads.naming import Names, value_at

__all__ = ["Dense", "Features", "Moments", "Table", "check_norm", "decode_numbers", "encode_numbers"]


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
            ).at("matrix")
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


def _checked_matrix(matrix: object) -> Floats:
    """A read-only float64 copy of a matrix of real numbers; anything else raises `WorkloadError`."""
    try:
        array = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    remedy = "give a two-dimensional array of finite real numbers, one row per query and one column per value"
    if array.dtype.kind not in "fiub":
        raise WorkloadError(f"the matrix has {array.dtype.name} entries: {remedy}")
    if array.ndim != 2 or array.size == 0:
        raise WorkloadError(f"the matrix is empty or not two-dimensional: {remedy}").at("matrix")
    if array.size > MAX_ENTRIES:
        raise WorkloadError(
            f"the matrix has {array.size:,} entries; at most {MAX_ENTRIES:,} can be stored: "
            "use a structured workload such as Prefix or Marginals, or Sparse"
        )
    with np.errstate(over="ignore"):  # a wider float may not fit; it is refused below
        copy = array.astype(np.float64, order="C", copy=True)
    if not np.isfinite(copy).all():
        raise WorkloadError(f"the matrix has entries that are infinite or not a number: {remedy}").at("matrix")
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
        numbers = _checked_matrix(matrix)
        self._fill(numbers, Domain.of(numbers.shape[1] if domain is None else domain), names)

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"shape": shape, "matrix": text, **rest} if not set(rest) - {"names"}:
                queries, values = _shape_from(shape)
                return cls(decode_numbers(text, "f8", queries * values).reshape(queries, values), domain, **rest)
        raise WorkloadError("a dense workload must have the fields domain, shape and matrix, and optionally names")


def _shape_from(shape: object) -> tuple[int, int]:
    """Rows and columns of a stored matrix, from a statement."""
    match shape:
        case [int(queries), int(values)] if type(queries) is type(values) is int and queries > 0 and values > 0:
            if queries * values <= MAX_ENTRIES:
                return queries, values
    raise WorkloadError(f"shape must be two positive integers whose product is at most {MAX_ENTRIES:,}")


_MAX_VALUES: Final = 2**20


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Features(Table):
    """The mean over people of each number that a function computes from a value.

    The function is called once for every value, in the constructor. It is not part of the JSON: its table of numbers
    is. Two functions with the same table give the same workload.

    Parameters
    ----------
    domain
        At most 2**20 values.
    function
        Called with a label, an integer, or a dict of a record's attributes; returns one number per name,
        or a plain number if there is a single name.
    names
        Distinct, one per number.

    Examples
    --------
    >>> moments = Features(range(10), lambda hours: (hours, hours**2), names=["hours", "hours squared"])
    >>> moments.column(3), moments.name(1)
    (array([3., 9.]), 'hours squared')
    """

    kind: ClassVar[str] = "features"

    def __init__(self, domain: object, function: Callable[[Any], Any], names: Sequence[str]) -> None:
        values = Domain.of(domain)
        if not isinstance(names, Sequence) or isinstance(names, str) or not names:
            raise WorkloadError("names must be a list with one string for each number the function returns").at("names")
        Names.of(names, len(names))  # before the function is called, which may be slow
        if values.size > _MAX_VALUES or values.size * len(names) > MAX_ENTRIES:
            raise WorkloadError(
                f"the function would be called for {values.size:,} values and fill {values.size * len(names):,} "
                f"numbers; at most {_MAX_VALUES:,} values and {MAX_ENTRIES:,} numbers are tabulated"
            ).at("domain")
        answers = [_flat(function(value_at(values, index))) for index in range(values.size)]
        if any(len(answer) != len(names) for answer in answers):
            raise WorkloadError(f"the function must return {len(names)} numbers for every value, one per name")
        self._fill(_checked_matrix(np.stack(answers, axis=1)), values, names)

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"shape": shape, "matrix": text, "names": list(names), **rest} if not rest:
                queries, values = _shape_from(shape)
                numbers = decode_numbers(text, "f8", queries * values)
                workload = cls.__new__(cls)
                workload._fill(_checked_matrix(numbers.reshape(queries, values)), domain, names)
                return workload
        raise WorkloadError("a features workload must have the fields domain, shape, matrix and names")


def _flat(answer: Any) -> NDArray[Any]:
    try:
        return np.asarray(answer).reshape(-1)
    except ValueError:  # rows of different lengths
        return np.empty(0)


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Moments(Table):
    """The mean of a number and, with `spread`, the mean of (x - middle)^2 over half the range: both in its unit.

    The columns are the grid points. People's numbers lie between them; devices round these at random, so a population
    of numbers has the answers of the grid points it is rounded to.

    Examples
    --------
    >>> moments = Moments(NumberGrid(0, 600, "minutes", points=3), spread=True)
    >>> moments.dense()
    array([[  0., 300., 600.],
           [300.,   0., 300.]])
    """

    grid: NumberGrid
    spread: bool

    kind: ClassVar[str] = "moments"

    def __init__(self, grid: NumberGrid, spread: bool = False) -> None:
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "spread", spread)
        rows = [grid.values, (grid.values - grid.middle) ** 2 / grid.half][: 1 + spread]
        self._fill(np.stack(rows), Domain.of(grid.points), ["mean", "spread"][: 1 + spread])

    @cached_property
    def centred(self) -> Moments:
        """These moments of a number from -1 to 1, with as many grid points."""
        return Moments(NumberGrid(-1.0, 1.0, "", self.grid.points), self.spread)

    @cached_property
    def rounding_error(self) -> Floats:
        """How far the answers of the grid can be off those of people's own numbers, by positions and by the grid.

        Rounding at random keeps the mean; it makes a square larger by up to a quarter of the spacing's square.
        """
        near, grid = self.grid.position_error, self.grid
        return np.array([near, 2 * near + grid.spacing**2 / (4 * grid.half)][: self.n_queries])

    def _parameters(self) -> dict[str, Any]:
        return {"number": self.grid.to_statement(), "spread": self.spread}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"number": number, "spread": bool(spread), **rest} if not rest:
                made = cls(NumberGrid.from_statement(number), spread)
                if made.domain == domain:
                    return made
        raise WorkloadError("a moments workload must have a number and spread, and the domain of its grid points")
