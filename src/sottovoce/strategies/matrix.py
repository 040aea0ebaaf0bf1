"""What the reports of a channel say about a workload: the best linear unbiased reconstruction, and its exact noise.

With Q the channel, w weights over the values, q = Q w and D = diag(q): the counts over n, less q, scaled by D^(-1/2),
estimate V p with V = D^(-1/2) (Q - q 1^T). Near p = w their covariance is I - sqrt(q) sqrt(q)^T: the same in all
directions that V can take. Answers follow by least squares in V's space.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from sottovoce.errors import MechanismError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.projections.operator import Operator, as_operator
from sottovoce.strategies.factorize_root import gram_of
from sottovoce.strategies.reconstruction import user_noise
from sottovoce.strategies.spectrum import check_told
from sottovoce.workloads import Workload

__all__ = ["Reconstruction"]

_RANK: Final = 1e-11
"""Eigenvalues of the information below this share of the largest count as zero."""

_NOTHING: Final = 1e-24
"""Information that is none, whatever the largest is."""

_BLOCK: Final = 2**22


@final
@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Answers from the counts of a channel's reports.

    Attributes
    ----------
    channel
        Q, one row a report and one column a value; columns sum to one.
    weights
        w: for populations near it the reconstruction is the best linear unbiased one.
    """

    workload: Workload
    channel: Floats
    weights: Floats

    @cached_property
    def mean(self) -> Floats:
        """q: the chances of the reports of a population w."""
        return np.asarray(self.channel @ self.weights)

    @cached_property
    def matrix(self) -> Floats:
        """V."""
        return np.asarray((self.channel - self.mean[:, None]) / np.sqrt(self.mean)[:, None])

    @cached_property
    def coordinates(self) -> Operator:
        """V as an operator."""
        return as_operator(self.matrix)

    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """D^(-1/2) (counts/n - q)."""
        return np.asarray((counts / n_reports - self.mean) / np.sqrt(self.mean))

    @cached_property
    def _inverse(self) -> Floats:
        """The pseudo-inverse of V, through the eigenvectors of V^T V; w spans what no channel can tell."""
        values, vectors = np.linalg.eigh(self.matrix.T @ self.matrix)
        kept = values > max(_RANK * values[-1], _NOTHING)
        if not np.isfinite(self.user_noise).all():
            raise MechanismError(
                "the channel's reports do not tell these queries' answers: it was made for other queries, or epsilon "
                "is too small"
            )
        check_told(self.workload, vectors[:, ~kept], self.weights)
        basis = vectors[:, kept] / np.sqrt(values[kept])
        return np.asarray(basis @ (basis.T @ self.matrix.T))

    @cached_property
    def offset(self) -> Floats:
        """A w: what is answered where all coordinates are zero."""
        return self.workload.matvec(self.weights)

    def check(self) -> None:
        """Raise `MechanismError` unless the answers of all queries can be told from the reports."""
        _ = self._inverse

    def answers(self, coordinates: Floats) -> Floats:
        """A (w + x - w sum(x)) for the shortest x with these coordinates."""
        x = self._inverse @ coordinates
        return self.workload.matvec(self.weights * (1 - x.sum()) + x)

    @cached_property
    def user_noise(self) -> Floats:
        """Every value's noise, summed over the queries."""
        return user_noise(self.channel, gram_of(self.workload), self.weights)

    @cached_property
    def _report_shares(self) -> Floats:
        """What one report alone would say of the people: their shares, one column a report."""
        rows = self._inverse / np.sqrt(self.mean)  # before q is taken off
        rows = rows - (rows @ self.mean)[:, None]
        return np.asarray(self.weights[:, None] * (1 - rows.sum(axis=0)) + rows)

    def second_moments(self, rows: Floats) -> Floats:
        """sum_o Q[o, u] X(o)^2 for every value u and every row h, X(o) = <h, the shares that report o says>."""
        return np.asarray(np.square(rows @ self._report_shares) @ self.channel)

    def mean_moments(self, rows: Floats, shares: Floats) -> Floats:
        """The mean of `second_moments` over people with these shares, without a list of values."""
        return np.asarray(np.square(rows @ self._report_shares) @ (self.channel @ shares))

    @cached_property
    def value_moments(self) -> Floats:
        """sum_o Q[o, u] |all answers of report o|^2 for every value u."""
        shares = self._report_shares
        squares = np.einsum("ij,ij->j", shares, gram_of(self.workload) @ shares)
        return np.asarray(squares @ self.channel)

    @cached_property
    def bounded_moments(self) -> Floats:
        """For every query, what E (answer - offset)^2 of one report stays below, whoever sends it.

        From Q[o, u] <= max_u (Q[o, u]/q_o) q_o.
        """
        total, step = np.zeros(self.workload.n_queries), max(1, _BLOCK // self.workload.n_queries)
        shares = self._report_shares - self.weights[:, None]
        for start in range(0, shares.shape[1], step):
            block = self._answers_of(shares[:, start : start + step])
            total += (block**2) @ self.mean[start : start + step]
        return np.asarray(total * float((self.channel / self.mean[:, None]).max()))

    def _answers_of(self, columns: Floats) -> Floats:
        """A times several vectors."""
        return np.column_stack([self.workload.matvec(column) for column in columns.T])

    @cached_property
    def operator_norm(self) -> float:
        """The largest singular value of the map from coordinates to answers."""
        inverse = self._inverse - np.outer(self.weights, self._inverse.sum(axis=0))
        product = gram_of(self.workload) @ inverse
        return float(np.sqrt(max(0.0, np.linalg.eigvalsh(_symmetric(inverse.T @ product))[-1])))

    @cached_property
    def column_proxy(self) -> float:
        """Hoeffding: one report's <estimate, v_j> is (Q[o, j] - q_o)/q_o, less a constant; a quarter of its range^2."""
        ratios = self.channel / self.mean[:, None]
        return float(((ratios.max(axis=0) - ratios.min(axis=0)) ** 2).max()) / 4

    @cached_property
    def coordinate_variance(self) -> float:
        """max_u sum_o Q[o, u]/q_o - 1: the squared length of one report's coordinates, for the worst value."""
        return float((1 / self.mean @ self.channel).max()) - 1


def _symmetric(matrix: Floats) -> Floats:
    return np.asarray((matrix + matrix.T) / 2)
