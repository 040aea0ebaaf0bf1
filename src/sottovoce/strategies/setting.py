"""What a design must fulfil, and what a survey's JSON states of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.limits import DEFAULT_COUNTERS, MAX_REPORT_BYTES
from sottovoce.mechanisms.base import Mechanism
from sottovoce.workloads import Workload
from sottovoce.workloads.base import Body

__all__ = ["AUTO", "Setting", "Statement"]

AUTO: Final = "auto"
"""Instead of a name: the best of all usable ones."""


@dataclass(frozen=True)
class Setting:
    """The requirements of a design.

    Attributes
    ----------
    people
        The expected number of people.
    strategy, mechanism
        The only one to consider, or "auto" for all.
    max_report_bytes
        Maximum length of a report.
    max_counters
        Maximum number of counters for a codebook's rotations.
    """

    workload: Workload | Body
    epsilon: float
    delta: float
    people: int
    strategy: str = AUTO
    mechanism: str = AUTO
    max_report_bytes: int = MAX_REPORT_BYTES
    max_counters: int = DEFAULT_COUNTERS

    def finite_workload(self) -> Workload:
        """The workload; raises `SurveyError` if the values cannot be listed."""
        if isinstance(self.workload, Body):
            raise SurveyError("this strategy needs values that can be listed; name another strategy, or 'auto'").at(
                "strategy"
            )
        return self.workload

    def check_mechanism(self, strategy: str, only: str) -> None:
        """Raise `MechanismError` if another mechanism is named than the only one that the strategy goes with."""
        if self.mechanism not in (AUTO, only):
            raise MechanismError(f"strategy {strategy!r} goes with mechanism {only!r}; name that one, or 'auto'").at(
                "mechanism"
            )


class Statement(NamedTuple):
    """A design in a survey's JSON, from which it is restored."""

    workload: Workload | Body
    epsilon: float
    delta: float
    mechanism: object
    parameters: dict[str, Any]
    attachment: bytes

    def finite_workload(self) -> Workload:
        """The workload; raises `SurveyError` if the values cannot be listed."""
        return Setting(self.workload, self.epsilon, self.delta, 1).finite_workload()

    def check_mechanism(self, expected: type[Mechanism]) -> None:
        """Raise `SurveyError` unless it states this mechanism, with exactly its parameters, and delta 0."""
        names = expected.parameter_names()
        if self.mechanism != expected.name or sorted(self.parameters) != sorted(names) or self.delta != 0:
            raise SurveyError(
                f"this strategy goes with mechanism {expected.name!r}, with parameters {sorted(names) or 'none'} and "
                "delta 0; the survey states something else"
            )
