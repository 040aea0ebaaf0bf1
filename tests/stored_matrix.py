"""A matrix in memory as the hull asks for one: its columns, and its products with vectors from either side."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Stored"]


class Stored:
    """Tests that count or distort what is asked override a method."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        self.shape = self.matrix.shape

    def column(self, j: int) -> np.ndarray:
        return self.matrix[:, j]

    def matvec(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x

    def rmatvec(self, y: np.ndarray) -> np.ndarray:
        return self.matrix.T @ y
