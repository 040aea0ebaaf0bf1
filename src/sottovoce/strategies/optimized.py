"""The optimized strategy: a channel searched for the workload, sent with the survey, verified by every device.

With Q the channel, w weights over the values, q = Q w and D = diag(q): the counts over n, less q, scaled by D^(-1/2),
estimate V p with V = D^(-1/2) (Q - q 1^T). Near p = w their covariance is I - sqrt(q) sqrt(q)^T: the same in all
directions that V can take. Answers follow by least squares in V's space, the best linear unbiased estimate near w.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, WorkloadError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.rounded_channel import RoundedChannel
from sottovoce.projections.operator import Operator, as_operator
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.roots import gram_of
from sottovoce.strategies.laws.rows import row_ranges
from sottovoce.strategies.laws.spectrum import check_determined
from sottovoce.strategies.laws.spread import Spread, farthest
from sottovoce.strategies.laws.variance import Parabola, PerAnswer, Population, Variance
from sottovoce.strategies.listed import MAX_HELD, ListedStrategy
from sottovoce.strategies.search.reconstruction import user_noise
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.theory.bounds import maximum_of_proxy
from sottovoce.workloads import Workload
from sottovoce.workloads.table import Moments

__all__ = ["OptimizedStrategy", "channel_kind", "pack_channel", "unpack_channel", "unpack_numbers"]

_LENGTH: Final = struct.Struct("<Q")

_RANK: Final = 1e-11
"""Eigenvalues of V^T V below this fraction of the largest count as zero."""

_NOTHING: Final = 1e-24
"""Eigenvalues below this count as zero, whatever the largest is."""

_BLOCK: Final = 2**22

_MOST_WORK: Final = 2**36
"""Maximum number of multiplications for exact second moments of all answers; beyond, they are bounded."""


@final
@dataclass(frozen=True)
class OptimizedStrategy(ListedStrategy):
    """Any channel matrix, with the weights of its reconstruction; `strategies.optimize` searches for good ones."""

    workload: Workload
    mechanism: MatrixChannel | RoundedChannel
    weights: tuple[float, ...]

    name: ClassVar[str] = "optimized"
    attached: ClassVar[bool] = True
    quick_values: ClassVar[int] = 32
    slow_step: ClassVar[str] = "searching for a channel"
    searched: ClassVar[bool] = True
    made_for_epsilon: ClassVar[bool] = True
    kept_in_files: ClassVar[bool] = True
    """Up to this many values "auto" searches for a channel, which takes a second or two."""
    summary: ClassVar[str] = "a channel searched for these very queries"

    def __post_init__(self) -> None:
        if self.mechanism.matrix.values != self.workload.domain.size:
            raise WorkloadError("the channel and the workload have different numbers of values").at("workload")
        _check_weights(self.weights, self.workload.domain.size)

    @classmethod
    def of(cls, workload: Workload, epsilon: float, matrix: ChannelMatrix, weights: Floats) -> Self:
        """The strategy with this channel."""
        _check_weights(weights, workload.domain.size)
        inputs = workload.grid.positions if isinstance(workload, Moments) else workload.domain.size
        return cls(workload, channel_kind(workload)(inputs, epsilon, matrix), tuple(float(w) for w in weights))

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Search for a channel, or take the cached one."""
        workload = setting.finite_workload()
        setting.check_mechanism(cls.name, channel_kind(workload).name)
        return [cls.search(workload, setting.epsilon, cache=True)]

    @classmethod
    def quick_designs(cls, setting: Setting) -> list[Self]:
        """A searched channel that does not come from the cache: "auto" must not depend on the machine."""
        workload = setting.finite_workload()
        if workload.n_values > cls.quick_values:
            return list(super().quick_designs(setting))
        setting.check_mechanism(cls.name, channel_kind(workload).name)
        return [cls._searched(workload, setting.epsilon)]

    @classmethod
    def _slow_remedy(cls, setting: Setting) -> str:
        if isinstance(setting.workload, Moments):
            return f"ask with at most {cls.quick_values} points, or {super()._slow_remedy(setting)}"
        return f"'sottovoce optimize --workload ... --epsilon {setting.epsilon:g}' tries it"

    @classmethod
    @lru_cache(maxsize=256)
    def _searched(cls, workload: Workload, epsilon: float) -> Self:
        return cls.search(workload, epsilon, cache=False)

    @classmethod
    def from_attachment(cls, workload: Workload, epsilon: float, attachment: bytes) -> Self:
        made = cls.of(workload, epsilon, *unpack_channel(attachment))
        made.check()
        return made

    @classmethod
    def search(cls, workload: Workload, epsilon: float, *, cache: bool) -> Self:
        """The design with the channel that `optimize` finds; with `cache` also a cached one."""
        from sottovoce.strategies.search.optimize import optimize

        # One channel serves every range of a number.
        optimized = optimize(workload.centred if isinstance(workload, Moments) else workload, epsilon, cache=cache)
        if not optimized.finished:
            # Without a time limit only the keyboard ends a search, and a design must not depend on when that was.
            raise KeyboardInterrupt
        made = cls.of(workload, epsilon, optimized.matrix, optimized.weights)
        made.check()
        return made

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With the channel in the attachment, which is verified."""
        workload = stated.finite_workload()
        stated.check_mechanism(channel_kind(workload))
        return cls.of(workload, stated.epsilon, *unpack_channel(stated.attachment))

    @cached_property
    def attachment(self) -> bytes:
        return pack_channel(self.mechanism.matrix, np.array(self.weights))

    @cached_property
    def digest(self) -> str:
        """Hash of the weights and the channel's digest: versions of zlib may compress the same channel differently."""
        weights = np.array(self.weights, dtype="<f8").tobytes()
        return hashlib.sha256(weights + bytes.fromhex(self.mechanism.matrix.digest)).hexdigest()

    def inputs(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return indices

    # --- reconstruction -----------------------------------------------------------------

    @cached_property
    def _channel(self) -> Floats:
        """Q, one row per report and one column per value."""
        matrix = self.mechanism.matrix
        return matrix.integers / float(1 << matrix.bits)

    @cached_property
    def _w(self) -> Floats:
        return np.array(self.weights)

    @cached_property
    def _mean(self) -> Floats:
        """q: the probabilities of the reports for a population w."""
        return np.asarray(self._channel @ self._w)

    @cached_property
    def _scaled(self) -> Floats:
        """V."""
        return np.asarray((self._channel - self._mean[:, None]) / np.sqrt(self._mean)[:, None])

    @cached_property
    def coordinates(self) -> Operator:
        return as_operator(self._scaled)

    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """D^(-1/2) (counts/n - q)."""
        return np.asarray((counts / n_reports - self._mean) / np.sqrt(self._mean))

    def check(self) -> None:
        """Raise `MechanismError` unless the reports determine the answers of all queries."""
        _ = self._inverse

    @cached_property
    def _inverse(self) -> Floats:
        """The pseudo-inverse of V, through the eigenvectors of V^T V; w spans what no channel can estimate."""
        values, vectors = np.linalg.eigh(self._scaled.T @ self._scaled)
        kept = values > max(_RANK * values[-1], _NOTHING)
        if not np.isfinite(user_noise(self._channel, gram_of(self.workload), self._w)).all():
            raise MechanismError(
                "the channel's reports do not determine the answers to these queries: it was made for other queries, "
                "or epsilon is too small"
            )
        check_determined(self.workload, vectors[:, ~kept], self._w)
        basis = vectors[:, kept] / np.sqrt(values[kept])
        return np.asarray(basis @ (basis.T @ self._scaled.T))

    def answers(self, coordinates: Floats) -> Floats:
        """A (w + x - w sum(x)) for the shortest x with these coordinates."""
        x = self._inverse @ coordinates
        return self.workload.matvec(self._w * (1 - x.sum()) + x)

    @cached_property
    def _report_shares(self) -> Floats:
        """The shares estimated from one report alone, one column per report."""
        rows = self._inverse / np.sqrt(self._mean)  # before q is subtracted
        rows = rows - (rows @ self._mean)[:, None]
        return np.asarray(self._w[:, None] * (1 - rows.sum(axis=0)) + rows)

    def _answers_of(self, columns: Floats) -> Floats:
        """A times several vectors."""
        return np.column_stack([self.workload.matvec(column) for column in columns.T])

    # --- the variance -------------------------------------------------------------------

    def _second_moments(self, rows: Floats) -> Floats:
        """sum_o Q[o, u] X(o)^2 for every value u and every row h, X(o) = <h, the shares estimated from report o>."""
        return np.asarray(np.square(rows @ self._report_shares) @ self._channel)

    def _mean_moments(self, rows: Floats, shares: Floats) -> Floats:
        return np.asarray(np.square(rows @ self._report_shares) @ (self._channel @ shares))

    def _each(self, people: Population) -> Variance:
        """Row by row; a bound from the largest ratio of two reports' probabilities where that takes too long."""
        queries, (reports, values) = self.workload.n_queries, self._channel.shape
        steps = reports if people.shares is not None else reports * values
        if queries * values <= MAX_HELD and queries * steps <= _MOST_WORK:
            return self._each_listed(people)
        away = 0.0 if people.answers is None else people.answers - self.workload.matvec(self._w)
        note = "upper bound: from the largest ratio of two values' probabilities of one report"
        return Variance(np.maximum(0.0, self._bounded_moments - away**2), "bound", note)

    @cached_property
    def _value_moments(self) -> Floats:
        """sum_o Q[o, u] |all answers of report o|^2 for every value u."""
        shares = self._report_shares
        squares = np.einsum("ij,ij->j", shares, gram_of(self.workload) @ shares)
        return np.asarray(squares @ self._channel)

    @cached_property
    def _bounded_moments(self) -> Floats:
        """An upper bound on E (answer - A w)^2 of one report for every query and every sender.

        From Q[o, u] <= max_u (Q[o, u]/q_o) q_o.
        """
        total, step = np.zeros(self.workload.n_queries), max(1, _BLOCK // self.workload.n_queries)
        shares = self._report_shares - self._w[:, None]
        for start in range(0, shares.shape[1], step):
            block = self._answers_of(shares[:, start : start + step])
            total += (block**2) @ self._mean[start : start + step]
        return np.asarray(total * float((self._channel / self._mean[:, None]).max()))

    def column_maximum(self, n_reports: int) -> float:
        return maximum_of_proxy(self._column_proxy, self.workload.n_values, n_reports)

    @cached_property
    def _column_proxy(self) -> float:
        """Hoeffding: one report's <estimate, v_j> is (Q[o, j] - q_o)/q_o, less a constant; a quarter of its range^2."""
        ratios = self._channel / self._mean[:, None]
        return float(((ratios.max(axis=0) - ratios.min(axis=0)) ** 2).max()) / 4

    @cached_property
    def coordinate_variance(self) -> float:
        """max_u sum_o Q[o, u]/q_o - 1: the squared length of one report's coordinates, for the worst value."""
        return float((1 / self._mean @ self._channel).max()) - 1

    @property
    def bias_bound(self) -> PerAnswer:
        """What rounding to a grid changes in the answers about numbers."""
        return self.workload.rounding_error if isinstance(self.workload, Moments) else 0.0

    @property
    def coordinate_bias(self) -> float:
        if not isinstance(self.workload, Moments):
            return 0.0
        return float(np.linalg.norm(self.workload.rounding_error)) / self.operator_norm

    @cached_property
    def operator_norm(self) -> float:
        """The largest singular value of the map from coordinates to answers."""
        inverse = self._inverse - np.outer(self._w, self._inverse.sum(axis=0))
        product = inverse.T @ (gram_of(self.workload) @ inverse)
        return float(np.sqrt(max(0.0, np.linalg.eigvalsh((product + product.T) / 2)[-1])))

    # --- what one report tells, and can do --------------------------------------------------------

    @cached_property
    def spread(self) -> Spread:
        """By enumerating all reports: a channel matrix has a few hundred."""
        workload, mean = self.workload, self._mean
        shares = self._inverse / np.sqrt(mean)
        shares = shares - np.outer(self._w, shares.sum(axis=0))
        high, low = np.full(workload.n_queries, -np.inf), np.full(workload.n_queries, np.inf)
        step = max(1, _BLOCK // workload.n_queries)
        for start in range(0, shares.shape[1], step):
            block = self._answers_of(shares[:, start : start + step])
            high, low = np.maximum(high, block.max(axis=1)), np.minimum(low, block.min(axis=1))
        l2, exact = farthest(shares, gram_of(workload))
        inverse_chances = np.sort(1 / mean)[-2:]
        return Spread(high - low, l2, self.operator_norm * math.sqrt(float(inverse_chances.sum())), True, exact)

    def _report_answers(self, rows: Floats) -> Floats:
        return np.asarray(rows @ self._report_shares)

    def _bounded_law(self, evidence: Evidence) -> ReportLaw:
        """From the largest ratio of two values' probabilities of one report."""
        centre = self.workload.matvec(self._w)
        low, high, _ = row_ranges(self.workload)
        parabola = Parabola(centre, self._bounded_moments, 0.0, 0.0, low - centre, high - centre, False)
        zero, reach = np.zeros(self.workload.n_queries), self.spread.per_answer
        return ReportLaw(fixed(parabola.curve), zero, reach, None, reach**2 / 4, None, evidence.miss)


def channel_kind(workload: Workload) -> type[MatrixChannel] | type[RoundedChannel]:
    """Numbers between the points of a grid are rounded to these."""
    return RoundedChannel if isinstance(workload, Moments) else MatrixChannel


def pack_channel(matrix: ChannelMatrix, weights: Floats) -> bytes:
    """The weights, or estimates, as little-endian doubles after their number, then the matrix."""
    numbers = np.ascontiguousarray(weights, dtype="<f8")
    return _LENGTH.pack(len(numbers)) + numbers.tobytes() + matrix.to_bytes()


def unpack_channel(attachment: bytes) -> tuple[ChannelMatrix, Floats]:
    """The inverse of `pack_channel`; raises `MechanismError` for anything else."""
    matrix, weights = unpack_numbers(attachment)
    _check_weights(weights, matrix.values)
    return matrix, weights


def unpack_numbers(attachment: bytes) -> tuple[ChannelMatrix, Floats]:
    """The matrix and the numbers beside it, whatever they are; the caller checks these."""
    if not isinstance(attachment, bytes) or len(attachment) < _LENGTH.size:
        raise MechanismError("the channel is malformed: too short")
    (count,) = _LENGTH.unpack_from(attachment)
    start = _LENGTH.size + 8 * count
    if start > len(attachment):
        raise MechanismError("the channel is malformed: it ends too early")
    matrix = ChannelMatrix.from_bytes(attachment[start:])
    return matrix, np.frombuffer(attachment, "<f8", count, _LENGTH.size).astype(np.float64)


def _check_weights(weights: Any, size: int) -> None:
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (size,) or not (array >= 0).all() or not abs(array.sum() - 1) <= 1e-6:
        raise MechanismError(f"a channel's weights must be {size:,} numbers, none negative, that sum to one")
