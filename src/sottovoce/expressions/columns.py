"""Checks the columns that a query is evaluated over: the indices of people's attributes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sottovoce.core.entries import as_integers, entries_of
from sottovoce.core.errors import QueryError, ValueOutsideDomainError
from sottovoce.domain import Domain, Indices

__all__ = ["read_columns"]


def read_columns(columns: object, domain: Domain, uses: Mapping[str, int]) -> tuple[dict[str, Indices], int]:
    """The columns that are used, as int64, and the number of people.

    Raises
    ------
    QueryError
        Unless there is a column for each attribute of the domain, all of one length, and those used contain
        indices below their size. The message contains no index.
    """
    names = [name for name, _ in Domain.attributes_of(domain)]
    if not isinstance(columns, Mapping) or not set(names) <= set(columns):
        raise QueryError("columns must have one entry per attribute of the domain; give domain.columns(values)")
    read = {name: _integers(columns[name]) for name in names}
    lengths = {len(column) for column in read.values()}
    if len(lengths) != 1:
        raise QueryError("columns must have equal lengths, one entry per person; give domain.columns(values)")
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
    )
