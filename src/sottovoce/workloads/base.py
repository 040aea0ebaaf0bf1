"""`Workload`: a query matrix A, one row per query and one column per value, as an operator.

A device reads one column; the collector multiplies by A and by its transpose; the analyst looks up answers by name.
Only `Dense`, `Sparse` and `Features` store numbers. `Body` holds the possible answers of people whose values cannot be
listed.
"""

from __future__ import annotations

import abc
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias, final

import numpy as np
import rfc8785
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.entries import as_integer, as_integers, entries_of
from sottovoce.core.errors import CapacityError, SurveyError, ValueOutsideDomainError, WorkloadError
from sottovoce.core.limits import MAX_CELLS, check_integer
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.workloads.tabulated import MOST_HELD, HeldPairs, Tabulated

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = [
    "MAX_ENTRIES",
    "Body",
    "Floats",
    "Indices",
    "Workload",
    "check_integer_parameter",
    "check_vector",
    "check_workload",
]


class Body(Tabulated, abc.ABC):
    """The possible answers of one person, whose mean over people is asked: a ball, or all sets of a few items.

    It has the part of `Workload` that strategies and questions use, and no columns: `n_values` is None.
    """

    n_values: ClassVar[None] = None

    if TYPE_CHECKING:  # a field or a property of each body; a property here would conflict at run time

        @property
        def radius(self) -> float:
            """The largest norm of one person's answers."""

    @property
    @abc.abstractmethod
    def n_queries(self) -> int:
        """The number of answers."""

    @property
    @abc.abstractmethod
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        """Lower and upper limits of the answers: for all of them, or one per answer."""

    @property
    @abc.abstractmethod
    def diameter(self) -> float:
        """The largest distance between two means, in L2."""

    def panels(self) -> Iterator[Panel]:
        """How the answers are drawn."""
        from sottovoce.workloads.pictures import Bars

        yield Bars("mean of each coordinate", 0, self.n_queries, shares=False)

    def held_pairs(self, over: Floats, under: Floats) -> HeldPairs | None:
        """What people can answer to two combinations of the queries; None if it is not known."""
        return None

    def changes(self, rows: Floats) -> Floats | None:
        """Columns that span the differences of two populations' answers to combinations, one per row.

        All directions, unless a family knows better; None if there are too many to list.
        """
        return rows

    @abc.abstractmethod
    def columns(self, values: ArrayLike) -> Floats:
        """The answers of many people, one row each, from their values as questions give them."""

    @abc.abstractmethod
    def name(self, query: int) -> str:
        """The name of an answer, given by its number."""

    @abc.abstractmethod
    def find(self, name: str) -> int:
        """The number of the answer with that name."""


Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

MAX_ENTRIES: Final = 2**26
"""Maximum number of queries, and of entries of a stored or dense matrix (512 MiB)."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Workload(Tabulated, abc.ABC):
    """A query matrix A with `n_queries` rows over the values of `domain`, as an operator.

    Row i asks for the mean over people of ``A[i, value]``. Classes are abstract or final: a family
    implements the abstract methods and overrides nothing. Two workloads are equal if their statements are equal.
    """

    domain: Domain

    kind: ClassVar[str]
    """The "type" in the JSON."""
    max_queries: ClassVar[int] = MAX_ENTRIES
    """Maximum number of queries."""

    # --- implemented by families -----------------------------------------------------------

    @property
    @abc.abstractmethod
    def n_queries(self) -> int:
        """The number of queries: the rows of A."""

    @property
    @abc.abstractmethod
    def radius(self) -> float:
        """The largest L2 norm of a column: the largest distance of one person's answers from 0."""

    @property
    @abc.abstractmethod
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        """Lower and upper limits of the answers for every population: one pair for all queries, or one per query."""

    @property
    @abc.abstractmethod
    def _same_norm(self) -> bool:
        """Whether all columns have the same norm."""

    @abc.abstractmethod
    def _squared_norms(self, indices: Indices) -> Floats:
        """Squared L2 norms of these columns."""

    @abc.abstractmethod
    def _columns(self, indices: Indices) -> Floats:
        """`columns` for indices that are in range, as a new array."""

    @abc.abstractmethod
    def _matvec(self, x: Floats) -> Floats:
        """A x, as a new array."""

    @abc.abstractmethod
    def _rmatvec(self, y: Floats) -> Floats:
        """A^T y, as a new array."""

    @abc.abstractmethod
    def _name(self, query: int) -> str:
        """The unique name of a query whose number is in range."""

    @abc.abstractmethod
    def _find(self, name: str) -> int:
        """The number of the query with that name, or -1."""

    @abc.abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """The fields of the JSON besides type and domain."""

    @classmethod
    @abc.abstractmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        """The workload with these untrusted parameters; raises `SurveyError` if they are malformed."""

    # --- derived -----------------------------------------------------------

    @final
    def _freeze(self, domain: Domain, **fields: object) -> None:
        """Set the fields once, at the end of a constructor."""
        object.__setattr__(self, "domain", domain)
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        if self.n_queries > self.max_queries:
            raise WorkloadError(
                f"this workload would have {self.n_queries:,} queries; at most {self.max_queries:,} are allowed: "
                "use a smaller domain or a lower order"
            ).at("domain")

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        """How the answers are drawn, where they begin at `start` of more; `times` says by what they are multiplied."""
        from sottovoce.workloads.pictures import Bars

        yield Bars(f"{self.kind}{times}", start, start + self.n_queries, shares=False)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Queries and values: the shape of A."""
        return self.n_queries, self.domain.size

    @property
    @final
    def n_values(self) -> int:
        """The number of values: the columns of A."""
        return self.domain.size

    @property
    def diameter(self) -> float:
        """The largest distance between two sets of answers: twice the radius, or less if the family knows better."""
        return 2 * self.radius

    @final
    def held_pairs(self, over: Floats, under: Floats) -> HeldPairs | None:
        """What people can answer to two combinations of the queries; None if there are too many values to list."""
        if self.n_values > MOST_HELD:
            return None
        # As complex numbers: sorting columns of two is ten times slower.
        pairs = np.unique(self.rmatvec(over) + 1j * self.rmatvec(under))
        return HeldPairs(pairs.real, pairs.imag)

    @final
    def changes(self, rows: Floats) -> Floats | None:
        """Columns that span the differences of two populations' answers to combinations, one per row.

        None if there are too many values to list.
        """
        if len(rows) * self.n_values > MOST_HELD:
            return None
        answers = np.stack([self.rmatvec(row) for row in rows])
        return np.asarray(answers[:, 1:] - answers[:, :1])

    @final
    def column(self, index: int) -> Floats:
        """The answers of one value, given by its number; an error message does not contain the number."""
        number = as_integer(index)
        if number is None or not 0 <= number < self.shape[1]:
            raise self._outside()
        _check_memory(self.n_queries, "ask fewer queries at a time")
        answers: Floats = self._columns(np.array([number], dtype=np.int64))[0]
        return answers

    @final
    def columns(self, indices: ArrayLike) -> Floats:
        """The answers of many values, given by their numbers: one row per person."""
        numbers = as_integers(entries_of(indices))
        if numbers is None or (numbers.size and not 0 <= numbers.min() <= numbers.max() < self.shape[1]):
            raise self._outside()
        _check_memory(len(numbers) * self.n_queries, "take fewer people at a time")
        return self._columns(numbers)

    @final
    def matvec(self, x: ArrayLike) -> Floats:
        """A x: the answers of a distribution over the values."""
        return self._matvec(check_vector(x, self.shape[1], "one number for every value"))

    @final
    def rmatvec(self, y: ArrayLike) -> Floats:
        """A^T y: for every value, the inner product of its answers with y."""
        vector = check_vector(y, self.n_queries, "one number for every query")
        _check_memory(self.shape[1], "ask for single columns instead")
        return self._rmatvec(vector)

    @final
    def dense(self) -> Floats:
        """A itself, for small workloads."""
        queries, values = self.shape
        if queries * values > MAX_ENTRIES:
            raise CapacityError(
                f"the matrix has {queries:,} x {values:,} entries, above the {MAX_ENTRIES:,} that are written out; "
                "use matvec, rmatvec and columns"
            )
        return np.ascontiguousarray(self._columns(np.arange(values)).T)

    @final
    def name(self, query: int) -> str:
        """The name of a query, given by its number."""
        number = as_integer(query)
        if number is None or not 0 <= number < self.n_queries:
            raise WorkloadError(f"query number must be an integer from 0 to {self.n_queries - 1}")
        return self._name(number)

    @final
    def names(self) -> Iterator[str]:
        """All names in order, one at a time."""
        return map(self._name, range(self.n_queries))

    @final
    def find(self, name: str) -> int:
        """The number of the query with that name; names are parsed, never listed."""
        query = self._find(name) if isinstance(name, str) else -1
        if query < 0:
            shown = repr(name) if len(repr(name)) <= 80 else "that long"
            first, last = self._name(0), self._name(self.n_queries - 1)
            raise WorkloadError(f"no query is named {shown}; names run from {first!r} to {last!r}").at("name")
        return query

    @final
    def to_statement(self) -> dict[str, Any]:
        """The workload as plain JSON values; `workload_from_statement` reads them."""
        return {"type": self.kind, "domain": self.domain.to_statement(), **self._parameters()}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the statement's canonical JSON (RFC 8785), in hexadecimal."""
        return hashlib.sha256(rfc8785.dumps(self.to_statement())).hexdigest()

    @final
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and self.shape == other.shape and self.digest == other.digest

    @final
    def __hash__(self) -> int:
        return hash(self.digest)

    @final
    def __reduce__(self) -> tuple[Callable[..., Workload], tuple[type[Workload], object, dict[str, Any]]]:
        # Copies and pickles go through the statement: copying the fields would make their arrays writeable.
        return _copied, (type(self), self.domain.to_statement(), self._parameters())

    @final
    def __repr__(self) -> str:
        queries, values = self.shape
        many = "query" if queries == 1 else "queries"
        return f"<{self.kind} workload: {queries:,} {many} over {values:,} values, radius {self.radius:.4g}>"

    @final
    def _outside(self) -> ValueOutsideDomainError:
        return ValueOutsideDomainError(f"indices must be integers from 0 to {self.shape[1] - 1}")


def check_integer_parameter(name: str, number: object, smallest: int, largest: int) -> int:
    """`check_integer` that raises `WorkloadError`."""
    try:
        return check_integer(name, number, smallest, largest)
    except SurveyError as error:
        raise WorkloadError(str(error)).at(name.partition(",")[0]) from None


def check_workload(workload: object) -> Workload:
    """Return `workload` if it is a `Workload`."""
    if not isinstance(workload, Workload):
        raise WorkloadError("workload must be one of sottovoce.workloads, for example Prefix(1024)").at("workload")
    return workload


def check_vector(numbers: Any, length: int, meaning: str) -> Floats:
    """Return `numbers`, an array, a list or an estimate, as a float64 vector of that length."""
    held = getattr(numbers, "values", None)
    try:
        array = np.asarray(held if isinstance(held, np.ndarray) else numbers)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.shape != (length,) or array.dtype.kind not in "fiub":
        raise WorkloadError(f"expected a vector of {length:,} real numbers, {meaning}")
    return array.astype(np.float64, copy=False)


def _copied(family: type[Workload], domain: object, parameters: dict[str, Any]) -> Workload:
    return family._restore(domain_from_statement(domain), parameters)


def _check_memory(entries: int, remedy: str) -> None:
    if entries > MAX_CELLS:
        raise CapacityError(f"the result has {entries:,} entries, above the {MAX_CELLS:,} that fit; {remedy}")
