"""From a workload to a small matrix with the same geometry: a root F, k x J, with F^T F = A^T A.

Factorizations depend on A only through the inner products of its columns. So A itself is stored only if it has fewer
rows than columns.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from sottovoce.core.errors import CapacityError
from sottovoce.workloads.base import MAX_ENTRIES, Floats, Workload, check_workload
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.ranges import Prefix, Ranges

__all__ = ["MAX_VALUES", "Root", "gram_of", "root_of"]

MAX_VALUES: Final = 8192
"""Maximum number of values: above, a J x J matrix is larger than `MAX_ENTRIES`."""

ROUNDING: Final = 16 * float(np.finfo(np.float64).eps)
"""Rounding error of a zero difference, relative to its terms."""


class Root(NamedTuple):
    """A matrix of independent rows whose columns have the inner products of A's columns, over 4**exponent."""

    matrix: Floats
    exponent: int


def gram_of(workload: Workload, *, centred: bool = False) -> Floats:
    """A^T A, the inner products of all pairs of columns, without storing A if it is large.

    Parameters
    ----------
    workload
        The queries, over at most `MAX_VALUES` values.
    centred
        Whether to subtract the mean of all columns first.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> gram_of(Prefix(3))
    array([[3., 2., 1.],
           [2., 2., 1.],
           [1., 1., 1.]])
    """
    gram, exponent = _scaled_gram(workload, centred)
    scaled: Floats = np.ldexp(gram, 2 * exponent)
    return scaled


def root_of(workload: Workload, *, centred: bool = False) -> Root:
    """The root of a workload, its columns scaled by a power of two so that the longest is near 1.

    Directions in which the columns, each scaled to length 1, vary by less than about 1e-7 of the largest variation are
    indistinguishable from rounding and are removed. No row is left if all columns are zero, or equal and centred.

    Parameters
    ----------
    workload
        The queries.
    centred
        Whether to subtract the mean of all columns first.

    Raises
    ------
    CapacityError
        If there are too many values.
    """
    queries, values = check_workload(workload).shape
    if queries < values:
        matrix, exponent = _scaled_columns(workload, centred)
        return Root(_independent_rows(matrix.T, ROUNDING if centred else 0.0), exponent)
    inner, exponent = _scaled_gram(workload, centred)
    # With a centre, a column at the mean consists of rounding errors.
    noise = ROUNDING * float(workload.radius / 2.0**exponent) ** 2 if centred else 0.0
    return Root(_root_of_gram(inner, noise), exponent)


def _scaled_columns(workload: Workload, centred: bool) -> tuple[Floats, int]:
    """All columns, one per row."""
    queries, values = workload.shape
    if queries * values > MAX_ENTRIES:
        raise CapacityError(f"{queries:,} queries of {values:,} values are too many to factorize; merge values")
    columns = workload.columns(np.arange(values))
    exponent = _exponent(workload)
    columns = np.ldexp(columns, -exponent)
    return (columns - columns.mean(axis=0) if centred else columns), exponent


def _scaled_gram(workload: Workload, centred: bool) -> tuple[Floats, int]:
    queries, values = workload.shape
    if values > MAX_VALUES:
        raise CapacityError(f"{values:,} values are too many to factorize; at most {MAX_VALUES:,}: merge values").at(
            "workload"
        )
    known = _known_gram(workload)
    if known is not None:
        return (_centred(known) if centred else known), 0
    if queries * values <= MAX_ENTRIES:
        columns, exponent = _scaled_columns(workload, centred)
        return columns @ columns.T, exponent
    exponent = _exponent(workload)
    # The mean is subtracted from the columns, since subtracting it from the products would lose digits.
    mean = workload.matvec(np.full(values, 1 / values)) if centred else 0.0
    gram = np.empty((values, values))
    for value in range(values):
        column = np.ldexp(workload.column(value) - mean, -exponent)
        gram[value] = np.ldexp(workload.rmatvec(column), -exponent)
    if centred:
        gram -= gram.mean(axis=1, keepdims=True)
    return (gram + gram.T) / 2, exponent


def _known_gram(workload: Workload) -> Floats | None:
    """A^T A by formula, if there is one: the number of queries that contain both values."""
    index = np.arange(workload.shape[1])
    if isinstance(workload, Identity):
        return np.eye(index.size)
    if isinstance(workload, Prefix | Ranges):
        return workload.gram(index, index)
    return None


def _centred(gram: Floats) -> Floats:
    """Inner products of the columns less their mean."""
    means = gram.mean(axis=0)
    centred: Floats = gram - means - means[:, None] + means.mean()
    return centred


def _exponent(workload: Workload) -> int:
    return math.frexp(float(workload.radius))[1]


def _root_of_gram(gram: Floats, noise: float) -> Floats:
    # The rank is determined with all columns scaled to length 1, so that short columns count.
    lengths = np.sqrt(np.where(gram.diagonal() > noise, gram.diagonal(), 0.0))
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    values, vectors = np.linalg.eigh(gram * scales * scales[:, None])
    kept = values > _rounded_zero(values)
    return np.ascontiguousarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T * lengths)


def _independent_rows(matrix: Floats, noise: float) -> Floats:
    """The matrix if its rows are independent, else fewer rows with the same inner products of columns."""
    lengths = np.linalg.norm(matrix, axis=0)
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > noise)
    scaled = matrix * scales
    values, vectors = np.linalg.eigh(scaled @ scaled.T)
    kept = values > _rounded_zero(values)
    return np.ascontiguousarray(matrix if kept.all() else vectors[:, kept].T @ matrix)


def _rounded_zero(values: Floats) -> float:
    """The largest rounding error of a zero eigenvalue."""
    return max(float(values[-1]), 0.0) * len(values) * float(np.finfo(np.float64).eps)
