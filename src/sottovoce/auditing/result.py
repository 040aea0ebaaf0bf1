"""What every audit ends with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sottovoce.core.notebook import facts_html
from sottovoce.core.words import delta_suffix

__all__ = [
    "BY_NUMBERS",
    "FRESH_PROCESS",
    "MISSED",
    "NO_REFERENCE",
    "OWN_REFERENCE",
    "REMEMBERED",
    "STATED_LAW",
    "STATED_PROBABILITIES",
    "UNIFORM_BYTES",
    "AuditResult",
    "DeviceFault",
    "Verdict",
    "fault_in_words",
    "fault_size",
    "first_fault",
]

Verdict: TypeAlias = Literal["proved", "sampled", "broken"]
"""Proved for every value; proved for what was run and sampled for the rest; or shown to be wrong."""

MISSED: Final = 1e-6
"""Chance that runs miss a fault of the size that a sampled verdict states."""

UNIFORM_BYTES: Final = "the operating system's random bytes are uniform and independent"
STATED_LAW: Final = "judged by the law that the mechanism itself states"
NO_REFERENCE: Final = "it brings no reference of its own"
OWN_REFERENCE: Final = "judged by the reference that the mechanism's own package brings"
STATED_PROBABILITIES: Final = (
    "the probabilities that the mechanism states are those of its reports, where they were not run"
)
REMEMBERED: Final = (
    "the device remembers nothing of runs before but what values in random order, repeated and in turn, would show"
)
FRESH_PROCESS: Final = f"{REMEMBERED}, or a fresh process beside this one"


BY_NUMBERS: Final = frozenset({"ratio", "reports"})
"""Checks that show too large an epsilon and not a device that does something else, so that its epsilon is known."""


class DeviceFault(NamedTuple):
    """What is wrong, in words, and the check that has shown it; no fault if there are no words."""

    check: str = ""
    words: str = ""

    def __bool__(self) -> bool:
        return bool(self.words)


def first_fault(checks: Iterable[DeviceFault]) -> DeviceFault:
    """The first check that shows something, after which no other is made.

    Examples
    --------
    >>> first_fault([DeviceFault("law"), DeviceFault("draws", "below(6) is 7")]).check
    'draws'
    """
    return next(filter(None, checks), DeviceFault())


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit.

    `exact_epsilon` is that of the rounded probabilities really used, over all pairs of values; infinite where the
    device does not do what it states and no epsilon is known. `certified_lower_bound` is what reports alone prove. A
    sound mechanism has both at or below `epsilon`; a certified bound far below it proves nothing.

    Attributes
    ----------
    domain_size
        The mechanism's number of values; for vectors, their dimension; for words, the bits of a code.
    verdict
        "proved": the device was run on every outcome of its draws, for every value. "sampled": it was run on some;
        `method` says on which. "broken": `witness` shows it.
    fault_size
        A fault in a larger share of all reports than this would be missed with probability 1e-6 at most; 0 unless the
        verdict is "sampled". For a survey, only runs through all that its device runs count.
    assumptions
        Assumptions of the verdict that were not checked.
    witness
        For a broken one, what shows it: the value with its draws and report, or the pair of values with the report
        whose chances are too far apart. Otherwise the pair that samples distinguish best.
    survey
        The id of the survey that was audited; empty for a mechanism alone.
    size
        The size that the verdict is about, in words: "for 16 values".
    check
        For a broken one, the check that has shown it.
    """

    mechanism: str
    epsilon: float
    delta: float
    domain_size: int
    exact_epsilon: float
    certified_lower_bound: float
    alpha: float
    verdict: Verdict
    method: str
    witness: str
    fault_size: float = 0.0
    assumptions: tuple[str, ...] = ()
    survey: str = ""
    size: str = ""
    check: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing wrong was found."""
        return self.verdict != "broken"

    def __str__(self) -> str:
        return "\n".join(f"{name}: {fact}" for name, fact in self._facts().items() if fact)

    def _repr_html_(self) -> str:
        return facts_html(f"audit of {self.mechanism}", self._facts())

    def _facts(self) -> dict[str, str]:
        """What a reader wants to know first."""
        exact = "no epsilon is known" if math.isinf(self.exact_epsilon) else f"{self.exact_epsilon:.6f}"
        return {
            "mechanism": self.mechanism,
            "verdict": f"{self.verdict} {self.size}".rstrip(),
            "stated epsilon": f"{self.epsilon:g}{delta_suffix(self.delta)}",
            "exact epsilon": exact,
            "certified from reports": f"at least {self.certified_lower_bound:.3f}",
            "method": self.method,
            "witness": "" if self.sound else self.witness,
            "relies on": "; ".join(self.assumptions),
            "survey": self.survey,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values; an infinite epsilon as None, which JSON can hold."""
        fields = asdict(self) | {"sound": self.sound, "assumptions": list(self.assumptions)}
        if math.isinf(self.exact_epsilon):
            fields["exact_epsilon"] = None
        return fields


def fault_size(runs: int) -> float:
    """The share of reports above which a fault is missed with probability `MISSED` at most, after this many runs.

    Half of the runs have each coin up and half down. A share g of reports is at most the sum of the shares f and h
    with the coin up and down, and (1 - f)^(runs/2) (1 - h)^(runs/2) <= exp(-g runs/2).

    Examples
    --------
    >>> round(fault_size(20_000), 5)
    0.00138
    """
    return min(1.0, -2 * math.log(MISSED) / max(1, runs))


def fault_in_words(share: float, *, through_survey: bool) -> str:
    """The size of a fault for people, and which runs it follows from.

    Examples
    --------
    >>> fault_in_words(0.00138, through_survey=True)
    "a fault in more than 1 in 724 of the survey's reports would have been seen"
    """
    reports = "of the survey's reports" if through_survey else "reports"
    return f"a fault in more than 1 in {math.floor(1 / share):,} {reports} would have been seen"
