"""What an audit of a device ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, final

from sottovoce.core.notebook import facts_html
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.histories.scenario import Scenario
    from sottovoce.histories.search import Searched

__all__ = ["DeviceAudit"]


@final
@dataclass(frozen=True)
class DeviceAudit:
    """The result of an audit of a device.

    Attributes
    ----------
    verdict
        "sound": no history broke a rule. "broken": `history` does, in the survey that `scenario` names.
    surveys
        What the device was asked.
    length
        Every history of up to so many events was run.
    histories, random, reports
        How many those are, how many longer ones were drawn at random, and how many reports arrived.
    problem, history, scenario
        For a broken device: which rule, in which history, which can be run again, of which survey.
    """

    device: str
    verdict: Literal["sound", "broken"]
    surveys: tuple[str, ...]
    length: int
    histories: int
    random: int
    reports: int
    problem: str = ""
    history: str = ""
    scenario: str = ""

    @classmethod
    def of(cls, device: str, scenarios: Sequence[Scenario], done: Searched) -> Self:
        """The result of a search."""
        surveys = tuple(scenario.name for scenario in scenarios)
        counted = device, "broken" if done.found else "sound", surveys, done.length, done.histories, done.random
        if done.found is None:
            return cls(*counted, done.reports)  # type: ignore[arg-type]
        history = "; ".join(event.name for event in done.found.history)
        return cls(*counted, done.reports, done.found.problem, history, done.found.scenario.name)  # type: ignore[arg-type]

    @property
    def sound(self) -> bool:
        """Whether no history broke a rule."""
        return self.verdict == "sound"

    def __str__(self) -> str:
        return "\n".join(f"{name}: {fact}" for name, fact in self._facts().items() if fact)

    def _repr_html_(self) -> str:
        return facts_html(f"audit of the {self.device}", self._facts())

    def _facts(self) -> dict[str, str]:
        """What a reader wants to know first."""
        every = f"all {plural(self.histories, 'history', 'histories')} of up to {plural(self.length, 'event')}"
        more = f", and {self.random:,} longer ones at random" if self.random else ""
        ran = f"{every}{more}; {plural(self.reports, 'report')} arrived" if self.length else ""
        return {
            "device": self.device,
            "verdict": self.verdict,
            "surveys": ", ".join(self.surveys),
            "histories": ran,
            "problem": self.problem,
            "history": f"{self.scenario}: {self.history}" if self.history else "",
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"sound": self.sound, "surveys": list(self.surveys)}
