"""What every audit ends with."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["AuditResult"]


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.

    `exact_epsilon` is that of the rounded probabilities really used, over all pairs of values;
    `certified_lower_bound` is what reports alone prove. A sound mechanism has both at or below
    `epsilon`; a certified bound far below is no proof of anything.
    """

    mechanism: str
    epsilon: float
    delta: float
    domain_size: int
    exact_epsilon: float
    certified_lower_bound: float
    alpha: float
    sound: bool
    method: str
    witness: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values; an infinite epsilon as None, which JSON can hold."""
        found = asdict(self)
        if math.isinf(self.exact_epsilon):
            found["exact_epsilon"] = None
        return found
