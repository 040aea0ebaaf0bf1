"""A source of randomness that answers from a list: samplers and devices draw by draw."""

from __future__ import annotations

__all__ = ["Script"]


class Script:
    """Answers draws from a list, and keeps what was asked."""

    def __init__(self, *answers: int) -> None:
        self.answers, self.asked = list(answers), []

    def below(self, n: int) -> int:
        self.asked.append(n)
        return self.answers.pop(0)

    def bernoulli(self, threshold: int) -> bool:
        self.asked.append(threshold)
        return bool(self.answers.pop(0))
