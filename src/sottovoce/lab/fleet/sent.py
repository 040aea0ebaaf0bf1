"""Counters and result of a fleet."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, final

__all__ = ["Ended", "SendCounter", "Sent"]

Ended: TypeAlias = Literal["done", "sealed", "time", "interrupted"]


@final
@dataclass(frozen=True)
class Sent:
    """The result of a fleet.

    Attributes
    ----------
    accepted, refused
        Reports that the collector acknowledged, and how many it refused for each reason.
    singles, batches
        Reports acknowledged one a request from devices with a ledger each, and batches acknowledged.
    resent
        Reports that were sent a second time on purpose and acknowledged again; not in `accepted`.
    waits
        Number of retries because the collector was busy or unavailable.
    rounds
        Rounds of a panel that were answered.
    ended
        "done"; or why it stopped before: "sealed", "time", "interrupted".
    truth
        The true answers, with labels.
    """

    survey: str
    kind: str
    users: int
    seed: int
    singles: int
    batches: int
    accepted: int
    refused: dict[str, int]
    resent: int
    waits: int
    rounds: tuple[int, ...]
    seconds: float
    ended: Ended
    truth: list[tuple[str, float]] = field(repr=False)

    @property
    def rate(self) -> float:
        """Acknowledged reports a second, those sent twice included."""
        return (self.accepted + self.resent) / max(self.seconds, 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """All but the truth, as plain values."""
        return {**{name: value for name, value in asdict(self).items() if name != "truth"}, "rate": self.rate}


@final
class SendCounter:
    """Counts of what was acknowledged, from all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.singles = self.batches = self.batched = self.resent = self.waits = 0
        self.refused: Counter[str] = Counter()

    def single(self) -> None:
        """A device's own report was acknowledged."""
        with self._lock:
            self.singles += 1

    def batch(self, accepted: int, *, again: bool) -> None:
        """A body was acknowledged."""
        with self._lock:
            if again:
                self.resent += accepted
            else:
                self.batches += 1
                self.batched += accepted

    def refuse(self, code: str, n: int = 1) -> None:
        """So many reports were refused."""
        with self._lock:
            self.refused[code] += n

    def wait(self) -> None:
        """A request is to be sent again later."""
        with self._lock:
            self.waits += 1
