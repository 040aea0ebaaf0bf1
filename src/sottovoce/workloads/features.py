"""Features: means of any function of a value, given as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain
from sottovoce.workloads.base import MAX_ENTRIES
from sottovoce.workloads.dense import shape_from
from sottovoce.workloads.naming import Names, value_at
from sottovoce.workloads.table import Table, checked_matrix, decode_numbers

__all__ = ["Features"]

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
            raise WorkloadError("names must be a list with one string for each number the function returns")
        Names.of(names, len(names))  # before the function is called, which may be slow
        if values.size > _MAX_VALUES or values.size * len(names) > MAX_ENTRIES:
            raise WorkloadError(
                f"the function would be called for {values.size:,} values and fill {values.size * len(names):,} "
                f"numbers; at most {_MAX_VALUES:,} values and {MAX_ENTRIES:,} numbers are tabulated"
            )
        answers = [_flat(function(value_at(values, index))) for index in range(values.size)]
        if any(len(answer) != len(names) for answer in answers):
            raise WorkloadError(f"the function must return {len(names)} numbers for every value, one per name")
        self._fill(checked_matrix(np.stack(answers, axis=1)), values, names)

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"shape": shape, "matrix": text, "names": list(names), **rest} if not rest:
                queries, values = shape_from(shape)
                numbers = decode_numbers(text, "f8", queries * values)
                workload = cls.__new__(cls)
                workload._fill(checked_matrix(numbers.reshape(queries, values)), domain, names)
                return workload
        raise WorkloadError("a features workload must have the fields domain, shape, matrix and names")


def _flat(answer: Any) -> NDArray[Any]:
    try:
        return np.asarray(answer).reshape(-1)
    except ValueError:  # rows of different lengths
        return np.empty(0)
