"""The columns a query is evaluated over: positions of people's attributes, looked at before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sottovoce.domain import Domain, Indices
from sottovoce.entries import as_integers, entries_of
from sottovoce.errors import QueryError, ValueOutsideDomainError

__all__ = ["read_columns"]


def read_columns(columns: object, domain: Domain, uses: Mapping[str, int]) -> tuple[dict[str, Indices], int]:
    """The columns that are used, as int64, and how many people there are.

    Raises
    ------
    QueryError
        Unless there is a column for each attribute of the domain, all of one length, and those in use
        hold positions below their size. No position is named.
    """
    names = [name for name, _ in Domain.attributes_of(domain)]
    if not isinstance(columns, Mapping) or not set(names) <= set(columns):
        raise QueryError("the columns must be those of the domain, under its names; give domain.columns(values)")
    read = {name: _integers(columns[name]) for name in names}
    lengths = {len(column) for column in read.values()}
    if len(lengths) != 1:
        raise QueryError("the columns must be of one length, an entry a person; give domain.columns(values)")
    for name, size in uses.items():
        # Without its sign a number below 0 lies beyond every size: one pass finds both faults.
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
        "a column must hold positions: integers from 0 to below its attribute's size, an entry a person; "
        "give domain.columns(values)"
    )
