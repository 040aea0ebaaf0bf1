"""Designs over a finite channel with all their reports listed: how likely each is, and what it alone would answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.strategies import Strategy


def counted(mechanism: Mechanism, payload: bytes) -> np.ndarray:
    """The aggregate of one report, through its bytes."""
    counts = mechanism.empty()
    mechanism.count_into(counts, mechanism.codec.decode_many(np.frombuffer(payload, dtype=np.uint8)[None, :]))
    return counts


@dataclass(frozen=True)
class Listed:
    """P(report | value), one row a value; the coordinates and the answers of every report; A."""

    design: Strategy
    chances: np.ndarray
    coordinates: np.ndarray
    answers: np.ndarray
    matrix: np.ndarray

    @classmethod
    def of(cls, design: Strategy) -> Listed:
        m = design.mechanism
        assert isinstance(m, ChannelMechanism)
        reports = list(m.outputs())
        chances = np.array([[float(m.probability(z, u)) for z in reports] for u in range(m.domain_size)])
        coordinates = [design.raw_coordinates(counted(m, m.encode(report)), 1) for report in reports]
        answers = [design.answers(v) for v in coordinates]
        return cls(design, chances, np.array(coordinates), np.array(answers), design.workload.dense())

    def moments(self, weights: np.ndarray) -> np.ndarray:
        """E[(w . answers)^2 | value] for every value."""
        return np.asarray(self.chances @ (self.answers @ weights) ** 2)

    def variance(self, weights: np.ndarray, p: np.ndarray) -> float:
        """Of one report's combination of answers, the sampling of people included."""
        return float(p @ self.moments(weights) - (weights @ self.matrix @ p) ** 2)

    def total(self, p: np.ndarray) -> float:
        """The sum of the variances of all answers."""
        return sum(self.variance(row, p) for row in np.eye(len(self.matrix)))
