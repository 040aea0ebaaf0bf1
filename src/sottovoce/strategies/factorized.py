"""The factorized strategy: coordinates with the least noise in the answers for a vector mechanism."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, WorkloadError
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.registry import find
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.projections.operator import Operator, as_operator
from sottovoce.strategies.laws.roots import gram_of
from sottovoce.strategies.laws.spectrum import check_determined
from sottovoce.strategies.laws.spread import Spread, norms_of_columns, spread_of_vectors
from sottovoce.strategies.laws.variance import PerAnswer
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.strategies.vectors import VectorStrategy, with_rotations
from sottovoce.workloads import Workload

__all__ = ["Coordinates", "FactorizedStrategy"]

RADIUS: Final = 1.0
"""No column of V is longer."""

_SHAPE: Final = struct.Struct("<II")
_MOST_ENTRIES: Final = 2**24
_RANK: Final = 1e-6
"""Singular values of V below this share of the largest are those of its rounding."""


@final
@dataclass(frozen=True, eq=False)
class Coordinates:
    """V in single precision, as it is sent, and the weights w whose answers are the shift: A p = A w + R V p.

    Rounding V to single precision changes an answer by about 1e-7 of the radius at most, far below the noise for any
    number of people; device and collector use the rounded V.
    """

    matrix: NDArray[np.float32]
    weights: Floats

    def __post_init__(self) -> None:
        k, J = self.matrix.shape
        if k < 1 or J < 2:
            raise MechanismError("coordinates must have at least one row and two columns")
        exact = self.matrix.astype(np.float64)
        fine = np.isfinite(exact).all() and float(np.einsum("ij,ij->j", exact, exact).max()) <= RADIUS * (1 + 1e-6)
        w = self.weights
        if k * J > _MOST_ENTRIES or not fine:
            raise MechanismError(
                f"coordinates must be at most {_MOST_ENTRIES:,} finite numbers, no column longer than 1"
            )
        if w.shape != (J,) or not (w >= 0).all() or not abs(float(w.sum()) - 1) <= 1e-6:
            raise MechanismError(f"the weights of coordinates must be {J:,} numbers that sum to one")
        for array in (self.matrix, self.weights):
            array.flags.writeable = False

    def to_bytes(self) -> bytes:
        """Shape, weights as little-endian doubles, V by rows as little-endian singles."""
        numbers = self.weights.astype("<f8").tobytes() + self.matrix.astype("<f4").tobytes()
        return _SHAPE.pack(*self.matrix.shape) + numbers

    @classmethod
    def from_bytes(cls, attachment: bytes) -> Self:
        """The inverse of `to_bytes`; raises `MechanismError` for anything else."""
        if not isinstance(attachment, bytes) or len(attachment) < _SHAPE.size:
            raise MechanismError("the coordinates are malformed: too short")
        k, J = _SHAPE.unpack_from(attachment)
        if len(attachment) != _SHAPE.size + 8 * J + 4 * k * J:
            raise MechanismError("the coordinates are malformed: wrong length")
        weights = np.frombuffer(attachment, "<f8", J, _SHAPE.size).astype(np.float64)
        matrix = np.frombuffer(attachment, "<f4", k * J, _SHAPE.size + 8 * J).astype(np.float32).reshape(k, J)
        return cls(matrix, weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coordinates) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())


@final
@dataclass(frozen=True)
class _Algebra:
    """Quantities that depend on the queries and the coordinates alone."""

    workload: Workload
    stated: Coordinates

    @cached_property
    def columns(self) -> Floats:
        """V^T."""
        return np.ascontiguousarray(self.stated.matrix.T, dtype=np.float64)

    @cached_property
    def blind(self) -> Floats:
        """An orthonormal basis of the kernel of V, as columns."""
        _, sizes, rows = np.linalg.svd(self.columns.T, full_matrices=True)
        return np.asarray(rows[int((sizes > _RANK * sizes[0]).sum()) :].T)

    @cached_property
    def centred_inverse(self) -> Floats:
        """V^+ with the change of the sum removed: A times it is R."""
        inverse = np.linalg.pinv(self.columns.T, rcond=_RANK)
        return np.asarray(inverse - np.outer(self.stated.weights, inverse.sum(axis=0)))

    @cached_property
    def lengths(self) -> Floats:
        """Squared lengths of R's rows."""
        if self.workload.n_queries * len(self.centred_inverse) <= _MOST_ENTRIES:
            rows = np.column_stack([self.workload.matvec(column) for column in self.centred_inverse.T])
            return np.asarray(np.einsum("ij,ij->i", rows, rows))
        total = np.zeros(self.workload.n_queries)
        for column in self.centred_inverse.T:
            total += self.workload.matvec(column) ** 2
        return total

    @cached_property
    def _products(self) -> Floats:
        """A^T R: one row R^T a_j per column a_j of A."""
        return np.asarray(gram_of(self.workload) @ self.centred_inverse)

    @cached_property
    def farthest(self) -> float:
        """The largest |R^T (a_j - shift)|."""
        rows = self._products - self.stated.weights @ self._products
        return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max()))

    @cached_property
    def spectrum(self) -> Floats:
        """Squared singular values of R."""
        inner = self.centred_inverse.T @ self._products
        return np.asarray(np.linalg.eigvalsh((inner + inner.T) / 2))


@lru_cache(maxsize=4)
def _algebra_of(workload: Workload, stated: Coordinates) -> _Algebra:
    """Cached: a plan makes the same design for every epsilon and every number of people."""
    return _Algebra(workload, stated)


@final
@dataclass(frozen=True)
class FactorizedStrategy(VectorStrategy):
    """V from `strategies.factorize`, R = A V^+. The noise is isotropic in V's space, and so is the projection."""

    workload: Workload
    mechanism: VectorMechanism
    stated: Coordinates

    name: ClassVar[str] = "factorized"
    attached: ClassVar[bool] = True
    quick_values: ClassVar[int] = 512
    slow_step: ClassVar[str] = "factorizing"
    """Up to this many values "auto" factorizes, in about a second; beyond, it takes minutes and gains little."""
    summary: ClassVar[str] = "a vector mechanism on coordinates chosen for these queries"

    def __post_init__(self) -> None:
        k, J = self.stated.matrix.shape
        if self.workload.domain.size != J:
            raise WorkloadError("the coordinates and the workload have different numbers of values").at("workload")
        if self.mechanism.dimension != k or self.mechanism.radius != RADIUS:
            raise WorkloadError("the mechanism has another number of coordinates or another radius").at("mechanism")

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Factorized with a shift, with a codebook."""
        setting.check_mechanism(cls.name, Codebook.name)
        workload = setting.finite_workload()
        stated = _factorized(workload)
        mechanism = Codebook.best(len(stated.matrix), RADIUS, setting.epsilon, 0.0, setting.people)
        made = cls(workload, with_rotations(mechanism, setting.people, setting.max_counters), stated)
        made.check()
        return [made]

    def check(self) -> None:
        """Raise `MechanismError` unless the coordinates determine the answers of all queries."""
        check_determined(self.workload, self._algebra.blind, self.stated.weights)

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        coordinates = Coordinates.from_bytes(stated.attachment)
        size = len(coordinates.matrix)
        mechanism = find(stated.mechanism, VectorMechanism).restore(
            stated.parameters, size, RADIUS, stated.epsilon, stated.delta
        )
        return cls(stated.finite_workload(), mechanism, coordinates)

    @cached_property
    def attachment(self) -> bytes:
        return self.stated.to_bytes()

    @cached_property
    def digest(self) -> str:
        """Hash of the attachment, which has one canonical form."""
        return hashlib.sha256(self.attachment).hexdigest()

    @cached_property
    def _algebra(self) -> _Algebra:
        return _algebra_of(self.workload, self.stated)

    @property
    def _columns(self) -> Floats:
        return self._algebra.columns

    def inputs(self, indices: NDArray[np.int64]) -> Floats:
        return np.asarray(self._columns[indices])

    @cached_property
    def coordinates(self) -> Operator:
        return as_operator(self._columns.T)

    @property
    def _centred_inverse(self) -> Floats:
        return self._algebra.centred_inverse

    def answers(self, coordinates: Floats) -> Floats:
        """A (w + x - w sum(x)) for the shortest x with these coordinates."""
        return self.workload.matvec(self.stated.weights + self._centred_inverse @ coordinates)

    @cached_property
    def spread(self) -> Spread:
        inverse, workload = self._centred_inverse, self.workload
        columns = (workload.matvec(column) for column in inverse.T)
        reading = norms_of_columns(columns, workload.n_queries, inverse.shape[1], self.operator_norm)
        return spread_of_vectors(self.mechanism, reading)

    @cached_property
    def _shift(self) -> Floats:
        """A w."""
        return self.workload.matvec(self.stated.weights)

    @property
    def _lengths(self) -> Floats:
        return self._algebra.lengths

    def _direction_lengths(self, weights: Floats) -> Floats:
        """R^T w = (V^+)^T A^T w, centred."""
        rows = np.stack([self.workload.rmatvec(numbers) for numbers in weights]) @ self._centred_inverse
        return np.asarray(np.einsum("ij,ij->i", rows, rows))

    @property
    def _frobenius(self) -> float:
        return float(self._spectrum.sum())

    @property
    def _spectrum(self) -> Floats:
        return self._algebra.spectrum

    @cached_property
    def worst(self) -> float:
        """noise ||R||_F^2, plus the excess of the noise along the person's own R v_u."""
        own = float(np.linalg.norm(self._columns, axis=1).max()) ** 2 * float(self._spectrum[-1])
        return (
            self.mechanism.noise * float(self._spectrum.sum())
            + max(0.0, self.mechanism.along - self.mechanism.noise) * own
        )

    @property
    def total(self) -> float:
        """Like `worst`: vectors are extended to one length, so all values have nearly the same noise."""
        return self.worst

    @property
    def bias_bound(self) -> PerAnswer:
        """The bias of the coordinates, times the length of R's row."""
        return np.asarray(np.sqrt(self._lengths) * self.coordinate_bias)

    def column_maximum(self, n_reports: int) -> float:
        """The bias of the mechanism: columns are not longer than 1."""
        return self.mechanism.expected_maximum(self.workload.n_values, n_reports)

    def answer_maximum(self, n_reports: int) -> float:
        """<R z, a_j - shift> reads z in the direction R^T (a_j - shift), as long as the longest of these at most."""
        return self._algebra.farthest * self.mechanism.expected_maximum(self.workload.n_values, n_reports)

    @cached_property
    def operator_norm(self) -> float:
        return float(np.sqrt(max(0.0, self._spectrum[-1])))


@lru_cache(maxsize=32)
def _factorized(workload: Workload) -> Coordinates:
    """The coordinates of a workload; cached, since they do not depend on epsilon."""
    from sottovoce.strategies.search.factorize import factorize

    factorization = factorize(workload, centred=True)
    centre = factorization.weights if factorization.centre is None else factorization.centre
    return Coordinates(factorization.coordinates.astype(np.float32), np.array(centre))
