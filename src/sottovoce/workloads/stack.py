"""Stack: several workloads in one survey; and reading a workload from JSON, strictly.

A device rebuilds exactly the stated operator.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.workloads.base import MAX_ENTRIES, Floats, Indices, Workload, check_vector
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.marginals import Marginals
from sottovoce.workloads.parities import Parities
from sottovoce.workloads.ranges import Prefix, Ranges
from sottovoce.workloads.sparse import Sparse
from sottovoce.workloads.table import Dense, Features, check_norm
from sottovoce.workloads.tabulated import TableCells

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["FAMILIES", "Stack", "workload_from_statement"]


_PARTS: Final[Mapping[str, type[Workload]]] = {
    "identity": Identity,
    "prefix": Prefix,
    "ranges": Ranges,
    "bins": Bins,
    "marginals": Marginals,
    "parities": Parities,
    "dense": Dense,
    "sparse": Sparse,
    "features": Features,
}


def _restore_family(families: Mapping[str, type[Workload]], statement: Mapping[str, Any], domain: Domain) -> Workload:
    """The workload over `domain` with the stated type and parameters, read strictly."""
    family = families.get(str(statement["type"]))
    if family is None:
        raise WorkloadError(f"unknown workload type; this version supports {', '.join(families)}")
    parameters = {key: part for key, part in statement.items() if key != "type"}
    try:
        workload = family._restore(domain, parameters)
    except WorkloadError:
        raise
    except SurveyError as error:
        raise WorkloadError(f"the {family.kind} workload is malformed: {error}") from error
    if workload._parameters() != parameters:
        raise WorkloadError(f"the {family.kind} workload is not in canonical form; write it with to_statement")
    return workload


_MAX_PARTS: Final = 1000
_BLOCK: Final = 2**18
_PREFIXED: Final = re.compile(r"(0|[1-9][0-9]{0,3}): (.*)", re.DOTALL | re.ASCII)


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Stack(Workload):
    """The rows of several workloads over one domain, each part multiplied by its weight.

    A larger weight gives its part a smaller error and the others a larger one. Answers are scaled by the weights;
    `split` separates them and divides by the weights. Names are those of the parts; a name that several parts have, or
    that looks like "3: ..", is written "k: name" with the part's number k.

    Parameters
    ----------
    workloads
        At least one, none of them a stack.
    weights
        Positive numbers, one per part; all 1 by default.

    Examples
    --------
    >>> from sottovoce.workloads import Identity, Prefix
    >>> both = Stack([Identity(4), Prefix(4)], weights=[2, 1])
    >>> both.find("<= 2"), both.find("2"), both.column(2)
    (6, 2, array([0., 0., 2., 0., 0., 0., 1., 1.]))
    >>> both.split(both.column(2))[0]
    array([0., 0., 1., 0.])
    """

    parts: tuple[Workload, ...]
    weights: tuple[float, ...]

    kind: ClassVar[str] = "stack"

    def __init__(self, workloads: Sequence[Workload], weights: Sequence[float] | None = None) -> None:
        parts = tuple(workloads) if isinstance(workloads, Sequence) else ()
        if not 0 < len(parts) <= _MAX_PARTS or not all(isinstance(part, Workload) for part in parts):
            raise WorkloadError(f"a stack is a list of 1 to {_MAX_PARTS:,} workloads")
        if any(isinstance(part, Stack) for part in parts):
            raise WorkloadError("one of the workloads is itself a stack; give its parts directly")
        if any(part.domain != parts[0].domain for part in parts):
            raise WorkloadError("the workloads have different domains; all must have the same")
        self._freeze(parts[0].domain, parts=parts, weights=_checked(weights, len(parts)))
        check_norm(self.radius)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The row of each part's first query, and the number of rows."""
        return tuple(accumulate((part.n_queries for part in self.parts), initial=0))

    @property
    def n_queries(self) -> int:
        return self._starts[-1]

    @cached_property
    def radius(self) -> float:
        """The largest norm of a column; computed value by value if the norms of several parts vary."""
        weighted = list(zip(self.parts, self.weights, strict=True))
        varying = [(part, weight) for part, weight in weighted if not part._same_norm]
        if len(varying) <= 1:
            return math.hypot(*(weight * part.radius for part, weight in weighted))
        if self.domain.size > MAX_ENTRIES:
            raise WorkloadError(
                f"the largest norm of this stack cannot be found over {self.domain.size:,} values; "
                f"make bins cover all values of their attribute, or use at most {MAX_ENTRIES:,} values"
            )
        blocks = range(0, self.domain.size, _BLOCK)
        limits = (np.arange(first, min(first + _BLOCK, self.domain.size)) for first in blocks)
        return math.sqrt(max(float(self._squared_norms(indices).max()) for indices in limits))

    @cached_property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        """The parts' ranges, scaled by their weights."""
        ends = [
            np.concatenate(
                [
                    np.broadcast_to(part.answer_range[side], part.n_queries) * weight
                    for part, weight in zip(self.parts, self.weights, strict=True)
                ]
            )
            for side in (0, 1)
        ]
        return ends[0], ends[1]

    @property
    def _same_norm(self) -> bool:
        return all(part._same_norm for part in self.parts)

    def _squared_norms(self, indices: Indices) -> Floats:
        total = np.zeros(len(indices))
        with np.errstate(over="ignore"):  # the radius is then infinite, and refused
            for part, weight in zip(self.parts, self.weights, strict=True):
                total += weight**2 * part._squared_norms(indices)
        return total

    def _columns(self, indices: Indices) -> Floats:
        answers = np.empty((len(indices), self.n_queries))
        for part, weight, start in zip(self.parts, self.weights, self._starts, strict=False):
            np.multiply(weight, part._columns(indices), out=answers[:, start : start + part.n_queries])
        return answers

    def _matvec(self, x: Floats) -> Floats:
        return np.concatenate([weight * part._matvec(x) for part, weight in zip(self.parts, self.weights, strict=True)])

    def _rmatvec(self, y: Floats) -> Floats:
        total = np.zeros(self.domain.size)
        for part, weight, start in zip(self.parts, self.weights, self._starts, strict=False):
            total += weight * part._rmatvec(y[start : start + part.n_queries])
        return total

    def split(self, answers: ArrayLike | Any) -> tuple[Floats, ...]:
        """The answers of each part, divided by its weight; from a vector or an estimate."""
        vector = check_vector(answers, self.n_queries, "one number for every query")
        pieces = np.split(vector, self._starts[1:-1])
        return tuple(piece / weight for piece, weight in zip(pieces, self.weights, strict=True))

    def _name(self, query: int) -> str:
        number = bisect_right(self._starts, query) - 1
        name = self.parts[number]._name(query - self._starts[number])
        shared = any(part._find(name) >= 0 for other, part in enumerate(self.parts) if other != number)
        return f"{number}: {name}" if shared or _PREFIXED.fullmatch(name) else name

    def _find(self, name: str) -> int:
        prefixed = _PREFIXED.fullmatch(name)
        if prefixed:
            number, name = int(prefixed[1]), prefixed[2]
            queries = [(number, self.parts[number]._find(name))] if number < len(self.parts) else []
        else:
            queries = [(number, part._find(name)) for number, part in enumerate(self.parts)]
        rows = [self._starts[number] + query for number, query in queries if query >= 0]
        return rows[0] if len(rows) == 1 else -1

    @property
    def has_tables(self) -> bool:
        return any(part.has_tables for part in self.parts)

    def table_cells(self, names: tuple[str, ...]) -> TableCells | None:
        """The table of the part in which the fewest answers add up to a cell."""
        tables = [
            TableCells(cells.attributes, cells.cells + start, cells.scale / weight)
            for part, start, weight in zip(self.parts, self._starts, self.weights, strict=False)
            if (cells := part.table_cells(names)) is not None
        ]
        return min(tables, key=lambda table: table.cells.shape[-1], default=None)

    def panels(self, start: int = 0, times: str = "") -> Iterator[Panel]:
        for part, weight in zip(self.parts, self.weights, strict=True):
            yield from part.panels(start, "" if weight == 1 else f", times {weight:g}")
            start += part.n_queries

    def _parameters(self) -> dict[str, Any]:
        return {
            "parts": [{"type": part.kind, **part._parameters()} for part in self.parts],
            "weights": list(self.weights),
        }

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"parts": list(parts), "weights": list(weights), **rest} if not rest and len(parts) <= _MAX_PARTS:
                return cls([_part(part, domain) for part in parts], weights)
        raise WorkloadError(f"a stack must have a domain, a list of 1 to {_MAX_PARTS:,} parts and their weights")


def _part(statement: object, domain: Domain) -> Workload:
    """A part from its JSON, which has no domain of its own."""
    if not isinstance(statement, dict) or not isinstance(statement.get("type"), str) or "domain" in statement:
        raise WorkloadError("a stack's parts must have a type and no domain")
    if statement["type"] == Stack.kind:
        raise WorkloadError("a stack's part is itself a stack; state its parts directly").at("workloads")
    return _restore_family(_PARTS, statement, domain)


def _checked(weights: object, count: int) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * count
    listed = list(weights) if isinstance(weights, (Sequence, np.ndarray)) else []
    real = all(isinstance(weight, Real) and not isinstance(weight, bool) for weight in listed)
    if len(listed) != count or not real or not all(1e-100 <= weight <= 1e100 for weight in listed):
        raise WorkloadError(f"weights must be {count} positive numbers, one per workload, from 1e-100 to 1e100")
    return tuple(float(weight) for weight in listed)


FAMILIES: Final[Mapping[str, type[Workload]]] = {**_PARTS, Stack.kind: Stack}
"""Every family by its type in JSON."""


def workload_from_statement(statement: object) -> Workload:
    """The workload that `Workload.to_statement` wrote; anything else raises `WorkloadError`.

    Only the canonical form is accepted, so a workload has one statement and one digest.

    Examples
    --------
    >>> workload_from_statement({"type": "prefix", "domain": {"start": 0, "step": 1, "size": 1024}})
    <prefix workload: 1,024 queries over 1,024 values, radius 32>
    """
    if not isinstance(statement, dict) or not isinstance(statement.get("type"), str) or "domain" not in statement:
        raise WorkloadError("a workload must have a type and a domain")
    try:
        domain = domain_from_statement(statement["domain"])
    except SurveyError as error:
        raise WorkloadError(f"the workload's domain is malformed: {error}") from error
    return _restore_family(FAMILIES, {key: part for key, part in statement.items() if key != "domain"}, domain)
