"""Evaluation of checked expressions over whole columns; devices and simulations use the same evaluator.

Every part is computed for every record, both sides of an `if` included, and no Python branch depends on a
value: the steps depend on the expression, the domain and the number of people alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain import TextDomain
from sottovoce.expressions.part import Part

__all__ = ["evaluate"]


def evaluate(part: Part, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[Any]:
    """Values of a part for all records, as int64, float64 or bool by its kind; a single value for a constant."""
    if part.op == "column":
        return columns[part.data]
    arguments = (evaluate(argument, columns) for argument in part.parts)
    if part.op in _FOLDS:
        # One argument at a time: a thousand of them take no more memory than two.
        return reduce(_FOLDS[part.op], arguments)
    values: NDArray[Any] = _OPERATIONS[part.op](part.data, *arguments)
    return values


def _clip(_: object, a: Any, low: Any, high: Any) -> Any:
    raised = np.where(low > a, low, a)
    return np.where(high < raised, high, raised)


def _record(sizes: tuple[int, ...], first: Any, *others: Any) -> Any:
    """Numbers of records from their attributes' indices, the last attribute varying fastest."""
    index = first
    for size, column in zip(sizes[1:], others, strict=True):
        index = index * size + column
    return index


def _in(constants: NDArray[Any], x: Any) -> Any:
    return reduce(np.logical_or, (x == constant for constant in constants))


def _match(constants: NDArray[Any], x: Any) -> Any:
    count = len(constants)
    return count + sum((x == constant) * np.int64(index - count) for index, constant in enumerate(constants))


def _search(data: tuple[NDArray[Any], NDArray[np.int64]], x: Any) -> Any:
    """Positions of the values, by binary search with a number of steps that depends on the list's length alone.

    A value that is in the list is among the `left` entries from `low` on.
    """
    ordered, order = data
    low: Any = np.zeros(np.shape(x), dtype=np.int64)
    left = len(ordered)
    while left > 1:
        half = left // 2
        low = low + half * (ordered[low + (half - 1)] < x)
        left -= half
    return np.where(ordered[low] == x, order[low], len(ordered))


def _prefix(data: tuple[TextDomain, int], column: Any) -> Any:
    domain, k = data
    return domain.prefixes(column, k)


def _letter(data: tuple[TextDomain, int], column: Any) -> Any:
    domain, i = data
    return domain.letters(column, i)


_FOLDS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    # The earlier one of two equal values: this determines even the sign of a zero.
    "min": lambda a, b: np.where(b < a, b, a),
    "max": lambda a, b: np.where(b > a, b, a),
    "and": np.logical_and,
    "or": np.logical_or,
}
"""Operations with any number of arguments, as functions of two."""

_OPERATIONS: Final[dict[str, Callable[..., Any]]] = {
    "constant": lambda data: data,
    # Modulo 2**64: a step times an index may overflow int64 although the result does not.
    "range": lambda data, x: data[0] + data[1] * x,
    "gather": lambda data, x: data[x],
    "record": _record,
    "count": lambda _, x: x.astype(np.int64),
    "real": lambda _, x: x.astype(np.float64),
    "+": lambda _, a, b: a + b,
    "-": lambda _, a, b: a - b,
    "*": lambda _, a, b: a * b,
    "/": lambda _, a, b: a / b,
    "//": lambda k, a: a // k,
    "%": lambda k, a: a % k,
    "neg": lambda _, a: -a,
    "abs": lambda _, a: np.abs(a),
    "clip": _clip,
    "<": lambda _, a, b: a < b,
    "<=": lambda _, a, b: a <= b,
    ">": lambda _, a, b: a > b,
    ">=": lambda _, a, b: a >= b,
    "==": lambda _, a, b: a == b,
    "!=": lambda _, a, b: a != b,
    "not": lambda _, a: np.logical_not(a),
    "if": lambda _, condition, a, b: np.where(condition, a, b),
    "in": _in,
    "match": _match,
    "search": _search,
    "bit": lambda k, a: (a >> k) & 1 != 0,
    "shift": lambda k, x: x >> k,
    "prefix": _prefix,
    "letter": _letter,
}
"""All other operations: those of the grammar, and conversions inserted by the checker."""
