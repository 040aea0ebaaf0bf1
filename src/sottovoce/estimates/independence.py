"""A test of whether the two attributes of a table are independent.

A score test: the deviations of the raw shares from the products of their margins are measured with the covariance that
they have if the attributes are independent. Wald's test, which takes the covariance of the table as it was estimated,
rejects too often where cells are rare: few people in a cell look like little noise.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from sottovoce.core.extras import full_install
from sottovoce.estimates.combinations import RawAnswers
from sottovoce.estimates.covariance import covariance
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.variance import Population

__all__ = ["Deviations", "Independence", "deviations_from_independence"]


class Independence(NamedTuple):
    """A test of whether two attributes are independent.

    Attributes
    ----------
    statistic, degrees
        The score statistic of the deviations from independence, and its degrees of freedom.
    p_value
        The chance of a statistic as large if the attributes are independent; asymptotic, for many reports.
    largest
        The cell that deviates most, in standard errors, and by how much its share is above that of independence.
    """

    statistic: float
    degrees: int
    p_value: float
    largest: tuple[tuple[str, ...], float]


class Deviations(NamedTuple):
    """Raw shares less the products of their margins, what they are in standard errors, and the test of them all."""

    off: Floats
    sizes: Floats
    statistic: float
    degrees: int
    p_value: float


def deviations_from_independence(answers: RawAnswers, cells: Floats, raw: Floats, projected: Floats) -> Deviations:
    """Test p(a, b) = p(a) p(b) for all but the last row and column of a table.

    Parameters
    ----------
    cells
        The weights of the answers, one row per cell.
    raw, projected
        The shares of all cells.
    """
    with full_install:
        from scipy.stats import chi2

    possible = np.maximum(projected, 0.0)
    margins = possible.sum(axis=1) / possible.sum(), possible.sum(axis=0) / possible.sum()
    independent = np.outer(*margins)
    off = raw - raw.sum(axis=1, keepdims=True) * raw.sum(axis=0, keepdims=True)
    slope = _slope(*margins)
    population = _population(answers, cells, independent.reshape(-1), possible.reshape(-1))
    spread = slope @ covariance(answers.survey.design, cells, population, answers.n_reports) @ slope.T
    rows, columns = raw.shape
    kept = np.arange(rows * columns).reshape(rows, columns)[:-1, :-1].reshape(-1)
    deviations = off.reshape(-1)[kept]
    inverse = np.linalg.pinv(spread[np.ix_(kept, kept)], hermitian=True)
    statistic, degrees = float(deviations @ inverse @ deviations), (rows - 1) * (columns - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.nan_to_num(np.abs(off) / np.sqrt(np.maximum(np.diag(spread), 0.0)).reshape(off.shape))
    return Deviations(off, sizes, statistic, degrees, float(chi2.sf(statistic, degrees)))


def _slope(beside: Floats, above: Floats) -> Floats:
    """d(p_ab - p_a. p_.b)/dp_cd = [cd = ab] - [c = a] p_.b - [d = b] p_a., for pairs ab (rows) and cd (columns)."""
    rows, columns = len(beside), len(above)
    slope = np.zeros((rows, columns, rows, columns))
    for a, b in product(range(rows), range(columns)):
        slope[a, b, a, b] += 1
        slope[a, b, a, :] -= above[b]
        slope[a, b, :, b] -= beside[a]
    return slope.reshape(rows * columns, -1)


def _population(answers: RawAnswers, cells: Floats, wanted: Floats, present: Floats) -> Any:
    """The estimated population with the shares of the cells moved to those wanted: in proportion, within each cell."""
    if isinstance(answers.population, Population):  # known by its answers alone: several may add up to a cell
        moved = answers.values.copy()
        for weights, share in zip(cells, wanted, strict=True):
            moved[weights != 0] = _rescaled(moved[weights != 0], share / weights.max())
        return Population(answers=moved)
    members = np.stack([answers.survey.design.workload.rmatvec(weights) for weights in cells]) > 0.5
    shares = np.zeros(members.shape[1])
    for member, share in zip(members, wanted, strict=True):
        shares[member] = _rescaled(answers.population[member], share)
    return shares


def _rescaled(parts: Floats, total: float) -> Floats:
    """Parts of a total in the same proportions; equal ones where there are none."""
    parts = np.maximum(parts, 0.0)
    return parts * (total / parts.sum()) if parts.sum() > 0 else np.full(len(parts), total / len(parts))
