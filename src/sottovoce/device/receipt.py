"""The result of answering a survey, for the application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, Self, TypeAlias, final

from sottovoce.device.store import RecordedAnswer
from sottovoce.device.text import one_line

__all__ = ["Receipt", "ReceiptState"]

ReceiptState: TypeAlias = Literal["waiting", "unsent", "sent", "refused"]

_WORDS: Final[dict[str, str]] = {
    "waiting": "waiting: this device's round is not open yet; nothing was drawn, try again later",
    "unsent": "drawn and recorded, not sent yet; the same bytes will be sent later",
    "sent": "sent",
    "refused": "drawn and recorded, refused by the collector",
}


@final
@dataclass(frozen=True)
class Receipt:
    """Contains nothing that depends on the person's value, so an application may log it."""

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
    """Whether this call drew the recorded report; False if an earlier call or another process did."""

    @classmethod
    def of(cls, answer: RecordedAnswer, problem: str = "") -> Self:
        """The receipt of a recorded answer."""
        title = one_line(answer.title)
        return cls(answer.question, answer.collector, answer.state, title, answer.epsilon, answer.delta, problem)

    def __str__(self) -> str:
        return _WORDS[self.state] + (f" ({self.problem})" if self.problem else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))
