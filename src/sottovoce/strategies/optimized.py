"""The optimized strategy: a channel searched for the workload, carried by the survey, checked by every device."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MechanismError, WorkloadError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.projections.operator import Operator
from sottovoce.strategies.base import Ends, Setting, Statement
from sottovoce.strategies.listed import MAX_HELD, ListedStrategy
from sottovoce.strategies.matrix import Reconstruction
from sottovoce.strategies.variance import Population, Variance
from sottovoce.workloads import Workload

__all__ = ["OptimizedStrategy", "pack_channel", "unpack_channel"]

_LENGTH: Final = struct.Struct("<Q")

_MOST_WORK: Final = 2**36
"""Multiplications spent on exact second moments of all answers; beyond, they are bounded."""


@final
@dataclass(frozen=True)
class OptimizedStrategy(ListedStrategy):
    """Any channel matrix, with the weights its reports are read by; `strategies.optimize` searches for good ones."""

    workload: Workload
    mechanism: MatrixChannel
    weights: tuple[float, ...]

    name: ClassVar[str] = "optimized"
    attached: ClassVar[bool] = True
    summary: ClassVar[str] = "a channel searched for these very queries"

    def __post_init__(self) -> None:
        if self.mechanism.domain_size != self.workload.domain.size:
            raise WorkloadError("the channel is over another number of values than the workload")
        _check_weights(self.weights, self.workload.domain.size)

    @classmethod
    def of(cls, workload: Workload, epsilon: float, matrix: ChannelMatrix, weights: Floats) -> Self:
        """The strategy with this channel."""
        _check_weights(weights, workload.domain.size)
        return cls(workload, MatrixChannel(workload.domain.size, epsilon, matrix), tuple(float(w) for w in weights))

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Search for a channel, or take the one that is kept from an earlier search."""
        setting.check_mechanism(cls.name, MatrixChannel.name)
        return [cls.search(setting.finite_workload(), setting.epsilon, cache=True)]

    @classmethod
    def search(cls, workload: Workload, epsilon: float, *, cache: bool) -> Self:
        """The design with the channel that `optimize` finds; with `cache` also one that is kept from an earlier run."""
        from sottovoce.strategies.optimize import optimize

        found = optimize(workload, epsilon, cache=cache)
        made = cls.of(workload, epsilon, found.matrix, found.weights)
        made.check()
        return made

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With the channel in the attachment; everything in it is checked."""
        stated.check_mechanism(MatrixChannel)
        return cls.of(stated.finite_workload(), stated.epsilon, *unpack_channel(stated.attachment))

    def check(self) -> None:
        """Raise `MechanismError` unless the channel tells the answers of all queries."""
        self._reading.check()

    @cached_property
    def attachment(self) -> bytes:
        """The channel and the weights."""
        return pack_channel(self.mechanism.matrix, np.array(self.weights))

    @cached_property
    def digest(self) -> str:
        """Of the weights and the channel's own digest: zlib's versions pack alike, but not always the same."""
        weights = np.array(self.weights, dtype="<f8").tobytes()
        return hashlib.sha256(weights + bytes.fromhex(self.mechanism.matrix.digest)).hexdigest()

    @cached_property
    def _reading(self) -> Reconstruction:
        matrix = self.mechanism.matrix
        return Reconstruction(self.workload, matrix.integers / float(1 << matrix.bits), np.array(self.weights))

    def inputs(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The values."""
        return indices

    @property
    def coordinates(self) -> Operator:
        """The chances of the reports, scaled."""
        return self._reading.coordinates

    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """Shares of the reports, scaled."""
        return self._reading.raw_coordinates(counts, n_reports)

    def answers(self, coordinates: Floats) -> Floats:
        """By least squares."""
        return self._reading.answers(coordinates)

    def _second_moments(self, rows: Floats) -> Floats:
        return self._reading.second_moments(rows)

    def _mean_moments(self, rows: Floats, shares: Floats) -> Floats:
        return self._reading.mean_moments(rows, shares)

    def _each(self, people: Population) -> Variance:
        """Row by row; from the largest ratio of two reports' chances where that takes too long."""
        queries, (reports, values) = self.workload.n_queries, self._reading.channel.shape
        steps = reports if people.shares is not None else reports * values
        if queries * values <= MAX_HELD and queries * steps <= _MOST_WORK:
            return self._each_listed(people)
        away = 0.0 if people.answers is None else people.answers - self._reading.offset
        note = "upper bound: from the largest ratio of two values' chances of one report"
        return Variance(np.maximum(0.0, self._reading.bounded_moments - away**2), "bound", note)

    @cached_property
    def _value_moments(self) -> Floats:
        return self._reading.value_moments

    @property
    def proxy(self) -> Ends | None:
        """Not known."""
        return None

    @property
    def column_proxy(self) -> float:
        """From the range of the channel's ratios."""
        return self._reading.column_proxy

    @property
    def coordinate_variance(self) -> float:
        """From the channel."""
        return self._reading.coordinate_variance

    @property
    def operator_norm(self) -> float:
        """Exact."""
        return self._reading.operator_norm


def pack_channel(matrix: ChannelMatrix, weights: Floats) -> bytes:
    """The weights as little-endian doubles after their number, then the matrix."""
    numbers = np.ascontiguousarray(weights, dtype="<f8")
    return _LENGTH.pack(len(numbers)) + numbers.tobytes() + matrix.to_bytes()


def unpack_channel(attachment: bytes) -> tuple[ChannelMatrix, Floats]:
    """What `pack_channel` packed; anything else raises `MechanismError`."""
    if not isinstance(attachment, bytes) or len(attachment) < _LENGTH.size:
        raise MechanismError("this is no channel that a strategy packed: it is too short")
    (count,) = _LENGTH.unpack_from(attachment)
    start = _LENGTH.size + 8 * count
    if start > len(attachment):
        raise MechanismError("this is no channel that a strategy packed: it ends too early")
    matrix = ChannelMatrix.from_bytes(attachment[start:])
    weights = np.frombuffer(attachment, "<f8", count, _LENGTH.size).astype(np.float64)
    _check_weights(weights, matrix.values)
    return matrix, weights


def _check_weights(weights: Any, size: int) -> None:
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (size,) or not (array >= 0).all() or not abs(array.sum() - 1) <= 1e-6:
        raise MechanismError(f"a channel's weights must be {size:,} numbers, none negative, that sum to one")
