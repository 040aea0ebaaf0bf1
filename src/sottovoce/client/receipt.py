"""What a device tells the application after it was asked to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias, final

from sottovoce.client.store import Answer
from sottovoce.client.text import one_line

__all__ = ["Receipt", "ReceiptState"]

ReceiptState: TypeAlias = Literal["waiting", "unsent", "sent", "refused"]

_WORDS: Final[dict[str, str]] = {
    "waiting": "waiting: this device's round is not open yet; nothing was drawn, ask again later",
    "unsent": "drawn and recorded, not sent yet; it will be sent again as it is",
    "sent": "sent",
    "refused": "drawn and recorded, refused by the collector",
}


@final
@dataclass(frozen=True)
class Receipt:
    """Holds nothing that depends on the person's value, so an application may log it."""

    survey: str
    collector: str
    state: ReceiptState
    title: str = ""
    epsilon: float = 0.0
    """Charged for this answer, once; 0 while waiting."""
    delta: float = 0.0
    problem: str = ""
    """Why it was not sent."""
    drawn: bool = False
    """Whether this very call drew the report that stands; False where an earlier call, or another process, did."""

    @classmethod
    def of(cls, answer: Answer, problem: str = "") -> Self:
        """Of an answer that stands in the ledger."""
        title = one_line(answer.title)
        return cls(answer.question, answer.collector, answer.state, title, answer.epsilon, answer.delta, problem)

    def __str__(self) -> str:
        return _WORDS[self.state] + (f" ({self.problem})" if self.problem else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))
