"""A query: an expression over one person's record, from text, numbers or a tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
import rfc8785
from numpy.typing import NDArray

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.entries import as_integer, as_integers, entries_of
from sottovoce.core.errors import QueryError, ValueOutsideDomainError
from sottovoce.domain import Domain, Indices
from sottovoce.expressions.check import Checked, CompiledExpression, check
from sottovoce.expressions.evaluate import evaluate
from sottovoce.expressions.limits import MAX_CONSTANTS, MAX_QUERY_BYTES, Path, PlacedError
from sottovoce.expressions.parse import parse
from sottovoce.expressions.tree import ParsedTree, Tree, integer_node, read_tree, render
from sottovoce.workloads.base import Workload

__all__ = ["Query", "numbers", "positions", "query"]


def _read_columns(columns: object, domain: Domain, uses: Mapping[str, int]) -> tuple[dict[str, Indices], int]:
    """The columns that are used, as int64, and the number of people.

    Raises
    ------
    QueryError
        Unless there is a column for each attribute of the domain, all of one length, and those used contain
        indices below their size. The message contains no index.
    """
    names = [name for name, _ in Domain.attributes_of(domain)]
    if not isinstance(columns, Mapping) or not set(names) <= set(columns):
        raise QueryError("columns must have one entry per attribute of the domain; give domain.columns(values)").at(
            "columns"
        )
    read = {name: _integers(columns[name]) for name in names}
    lengths = {len(column) for column in read.values()}
    if len(lengths) != 1:
        raise QueryError("columns must have equal lengths, one entry per person; give domain.columns(values)").at(
            "columns"
        )
    for name, size in uses.items():
        # As uint64 a negative number exceeds every size: one pass finds both errors.
        if read[name].view(np.uint64).max(initial=0) >= size:
            raise _unusable()
    return {name: read[name] for name in uses}, lengths.pop()


def _integers(column: object) -> Indices:
    try:
        integers = as_integers(entries_of(column))
    except ValueOutsideDomainError:
        raise _unusable() from None
    if integers is None:
        raise _unusable()
    return integers


def _unusable() -> QueryError:
    return QueryError(
        "a column must contain indices: integers from 0 to below its attribute's size, one entry per person; "
        "give domain.columns(values)"
    ).at("columns")


_FORMS: Final = (
    'a text such as "age < 30", an array with one number per value, a mapping of indices to weights, '
    "or a workload and the name of one of its queries"
)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Query:
    """One expression. Make it with `query`, `Query.from_tree` or `Query.from_json`; equal trees are equal queries.

    Attributes
    ----------
    text
        The expression as text: as given, or rendered from the tree.
    """

    text: str
    _parsed: ParsedTree
    _columns: dict[Path, int] | None
    _canonical: bytes
    _last: list[tuple[Domain, CompiledExpression]] = field(default_factory=list, init=False)

    @classmethod
    def from_tree(cls, tree: object) -> Query:
        """A query from a JSON tree, read strictly; raises `QueryError` for anything outside the grammar.

        Examples
        --------
        >>> Query.from_tree(["<", ["attribute", "age"], 30])
        query('age < 30')
        >>> Query.from_tree(["<", ["attribute", "age"]])
        Traceback (most recent call last):
        sottovoce.core.errors.QueryError: < takes 2 arguments, not 1
        """
        return cls._made(tree)

    @classmethod
    def from_json(cls, text: str | bytes) -> Query:
        """A query from the JSON text of its tree.

        Examples
        --------
        >>> Query.from_json('["*", 2.0, ["attribute", "age"]]').to_json()
        '["*",2,["attribute","age"]]'
        """
        if not isinstance(text, (str, bytes)) or len(text) > MAX_QUERY_BYTES:
            raise QueryError(f"a query's JSON is a text of at most {MAX_QUERY_BYTES} bytes")
        try:
            tree = json.loads(text)
        except (ValueError, RecursionError):
            raise QueryError("this is not the JSON of a query; write it with to_json") from None
        return cls.from_tree(tree)

    @classmethod
    def _made(cls, raw: object, text: str | None = None, columns: dict[Path, int] | None = None) -> Query:
        try:
            parsed = read_tree(raw)
        except PlacedError as fault:
            raise QueryError(fault.located(columns)) from None
        canonical = rfc8785.dumps(_as_lists(parsed.tree))
        if len(canonical) > MAX_QUERY_BYTES:
            raise QueryError(
                f"the query's JSON has {len(canonical)} bytes; at most {MAX_QUERY_BYTES} are allowed: "
                "write an expression instead of a table, or round its numbers"
            )
        return cls(render(parsed.tree) if text is None else text, parsed, columns, canonical)

    @property
    def tree(self) -> Any:
        """The expression as plain JSON values, a fresh copy."""
        return _as_lists(self._parsed.tree)

    def to_json(self) -> str:
        """The tree's canonical JSON (RFC 8785): equal queries have equal texts."""
        return self._canonical.decode()

    def check(self, domain: Domain) -> Checked:
        """The kind and bounds of the query over a domain; raises `QueryError` if it could fail for some record.

        Examples
        --------
        >>> query("age / 2 if sex == 'F' else 0.5").check(Domain.product(age=range(100), sex=["F", "M"]))
        Checked(kind='real', low=0.0, high=49.5, nodes=8, depth=3)
        """
        return self._compiled(domain).checked

    def evaluate(self, domain: Domain, columns: Mapping[str, Indices]) -> NDArray[Any]:
        """The answers of many people, given by `domain.columns` or `domain.split`.

        Integers are returned as int64; reals, and truth values as 0 and 1, as float64.

        Examples
        --------
        >>> people = Domain.product(age=range(100), country=["DE", "FR"])
        >>> query("age < 30 and country in ('FR',)").evaluate(people, people.columns([(20, "FR"), (40, "FR")]))
        array([1., 0.])
        """
        compiled = self._compiled(domain)
        read, people = _read_columns(columns, domain, compiled.uses)
        with np.errstate(all="ignore"):
            values = evaluate(compiled.part, read)
        return np.array(
            np.broadcast_to(values, people), dtype=np.int64 if compiled.checked.kind == "integer" else np.float64
        )

    def evaluate_one(self, domain: Domain, record: object) -> int | float:
        """One person's answer.

        Examples
        --------
        >>> query("bit(value, 3)").evaluate_one(Domain.of(16), 9)
        1.0
        """
        answer: int | float = self.evaluate(domain, domain.columns([record]))[0].item()
        return answer

    def _compiled(self, domain: Domain) -> CompiledExpression:
        for known, compiled in self._last:
            if known is domain:
                return compiled
        if not isinstance(domain, Domain):
            raise QueryError(
                f"a query is checked against a Domain, not {type(domain).__name__}; make one with Domain.of"
            ).at("domain")
        try:
            compiled = check(self._parsed, domain)
        except PlacedError as fault:
            raise QueryError(fault.located(self._columns)) from None
        self._last[:] = [(domain, compiled)]
        return compiled

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._canonical == other._canonical

    def __hash__(self) -> int:
        return hash(self._canonical)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"query({self.text if len(self.text) <= 80 else self.text[:77] + '...'!r})"


@with_clear_calls('sv.query("age < 30")', error=QueryError)
def query(expression: object) -> Query:
    """A query from text, from one number per value, from weights of some values, or from a workload.

    Examples
    --------
    >>> query("18 <= age < 30").tree
    ['and', ['<=', 18, ['attribute', 'age']], ['<', ['attribute', 'age'], 30]]
    >>> query([0.5, 0, 1])
    query('table((0.5, 0, 1))')
    >>> query({7: 1, 3: -1})
    query('sparse((3, 7), (-1, 1))')
    >>> from sottovoce.workloads import Prefix
    >>> query((Prefix(4), "<= 1"))
    query('table((1, 1, 0, 0))')
    >>> query("age < thirty").check(Domain.product(age=range(100)))
    Traceback (most recent call last):
    sottovoce.core.errors.QueryError: column 7: unknown attribute 'thirty'; the attributes are 'age'
    """
    if isinstance(expression, Query):
        return expression
    if isinstance(expression, str):
        try:
            tree, columns = parse(expression)
        except PlacedError as fault:
            raise QueryError(fault.located({})) from None
        return Query._made(tree, str(expression), columns)
    if isinstance(expression, Mapping):
        return Query._made(_sparse(expression))
    if isinstance(expression, tuple) and len(expression) == 2 and isinstance(expression[0], Workload):
        return Query._made(_row(expression[0], expression[1]))
    return Query._made(["table", _table(expression)])


def numbers(query: Query, domain: Domain, columns: Mapping[str, Indices]) -> NDArray[np.float64]:
    """The answers as float64; not clipped."""
    return query.evaluate(domain, columns).astype(np.float64, copy=False)


def positions(query: Query, domain: Domain, columns: Mapping[str, Indices], size: int) -> Indices:
    """The answers of an integer query as indices below `size`; values outside are clipped.

    Examples
    --------
    >>> ages = Domain.product(age=range(100))
    >>> positions(query("age // 10 - 1"), ages, ages.columns([(5,), (42,), (99,)]), 6)
    array([0, 3, 5])
    """
    if query.check(domain).kind == "real":
        raise QueryError("a choice needs an integer query, and this one gives a real number; use // or find").at(
            "query"
        )
    return np.clip(query.evaluate(domain, columns).astype(np.int64, copy=False), 0, size - 1)


def _as_lists(tree: Tree) -> Any:
    return [_as_lists(part) for part in tree] if isinstance(tree, tuple) else tree


def _table(values: object) -> list[object]:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.ndim != 1 or array.dtype.kind not in "fiub" or not 1 <= array.size <= MAX_CONSTANTS:
        tree = "; read a tree with Query.from_tree" if isinstance(values, (list, tuple)) else ""
        raise QueryError(f"a query is {_FORMS}; arrays have at most {MAX_CONSTANTS} numbers{tree}")
    if array.dtype.kind in "iu":
        return [integer_node(number) for number in array.tolist()]
    return [float(number) for number in array.tolist()]


def _sparse(weights: Mapping[Any, Any]) -> list[object]:
    indices = [as_integer(index) for index in weights]
    if not indices or None in indices:
        raise QueryError("weights must be a non-empty mapping of indices, integers from 0, to numbers")
    listed = sorted(
        zip((int(index or 0) for index in indices), weights.values(), strict=True), key=lambda pair: pair[0]
    )
    return ["sparse", [integer_node(index) for index, _ in listed], _table([weight for _, weight in listed])]


def _row(workload: Workload, name: object) -> list[object]:
    size = workload.domain.size
    if size > MAX_CONSTANTS:
        raise QueryError(
            f"the workload has {size} values, and a query may list at most {MAX_CONSTANTS}; write it as an expression"
        )
    chosen = np.zeros(workload.n_queries)
    chosen[workload.find(name)] = 1.0  # type: ignore[arg-type]
    row = workload.rmatvec(chosen)
    (present,) = np.nonzero(row)
    if 0 < 2 * len(present) < size:
        return _sparse(dict(zip(present.tolist(), row[present].tolist(), strict=True)))
    return ["table", row.tolist()]
