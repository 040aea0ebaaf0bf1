"""A source of randomness that answers from a list: samplers and devices draw by draw."""

from __future__ import annotations

import numpy as np

__all__ = ["Script", "columns"]


class Script:
    """Answers draws from a list, and keeps what was asked."""

    def __init__(self, *answers: int) -> None:
        self.answers, self.asked = list(answers), []

    def below(self, n: int) -> int:
        self.asked.append(n)
        answer = self.answers.pop(0)
        assert 0 <= answer < n
        return answer

    def bernoulli(self, threshold: int) -> bool:
        self.asked.append(threshold)
        return bool(self.answers.pop(0))


def columns(cases: list[tuple[int, ...]]) -> list[np.ndarray]:
    """One array of 64-bit integers for each place of the cases."""
    return [np.array(column, dtype=np.int64) for column in zip(*cases, strict=True)]
