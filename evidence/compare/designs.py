"""One design beside others: what every comparison of numbers, choices and records gives."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError
from sottovoce.lab.simulation.repeats import mean_and_error, seeds_of
from sottovoce.strategies.linear import LinearStrategy
from sottovoce.surveys.survey import Survey

__all__ = ["OURS", "PUBLISHED", "REFERENCE", "ComparedDesign", "Measurement", "measure_survey", "with_ratios"]

OURS: Final = "sottovoce"
PUBLISHED: Final = "published"
"""The `package` of mechanisms that are known from papers, by their closed forms."""
REFERENCE: Final = "reference"
"""The `package` of a figure that nothing deployed need reach."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ComparedDesign:
    """One way to ask a question, with its error by formula and as measured.

    Attributes
    ----------
    question, section
        number, choices or records; and what exactly is asked of whom.
    error_name
        What `expected` and `measured` are.
    chosen
        Whether `auto` takes it; ratios are to this design.
    expected
        By a closed form or an exact computation; None where there is none.
    measured, projected
        Means over the repeats, before and after projecting.
    ratio
        Its error over that of the chosen design: above 1 is worse.
    """

    question: str
    section: str
    error_name: str
    package: str
    name: str
    epsilon: float
    chosen: bool = False
    expected: float | None = None
    measured: float | None = None
    measured_standard_error: float | None = None
    projected: float | None = None
    projected_standard_error: float | None = None
    ratio: float | None = None
    report_bytes: int | None = None
    seconds: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A row of the table."""
        return asdict(self)


@dataclass
class Measurement:
    """Errors of repeated estimates, raw and projected, and the time of the fastest."""

    raw: list[float] = field(default_factory=list)
    projected: list[float] = field(default_factory=list)
    seconds: float = math.inf

    def of(self, row: ComparedDesign) -> ComparedDesign:
        """The row with these figures."""
        raw, raw_error = mean_and_error(self.raw) if self.raw else (None, None)
        projected, projected_error = mean_and_error(self.projected) if self.projected else (None, None)
        return replace(
            row,
            measured=raw,
            measured_standard_error=raw_error,
            projected=projected,
            projected_standard_error=projected_error,
            seconds=self.seconds,
        )


def measure_survey(
    survey: Survey,
    values: Any,
    error: Callable[[Floats], float],
    repeats: int,
    seed: int,
    *,
    project: bool = True,
) -> Measurement:
    """Simulate the same people `repeats` times and measure the error of their estimated answers.

    Parameters
    ----------
    error
        From estimated answers to one number.
    project
        Whether to project as well; where that would list too many values, only raw errors are measured.
    """
    found = Measurement()
    for report_seed in seeds_of(seed, repeats):
        began = time.perf_counter()
        aggregate = survey.simulate_aggregate(values, seed=report_seed)
        raw = cast(LinearStrategy, survey.design).raw_answers(aggregate.counts, aggregate.n_reports)
        if project:
            try:
                found.projected.append(error(survey.estimate(aggregate).values))
            except (CapacityError, MemoryError):
                project = False
        found.seconds = min(found.seconds, time.perf_counter() - began)
        found.raw.append(error(raw))
    return found


def with_ratios(rows: Sequence[ComparedDesign], by: str = "expected") -> tuple[ComparedDesign, ...]:
    """The rows, each with its error over that of the chosen design of the same section and epsilon.

    Parameters
    ----------
    by
        The field that is compared: expected, measured or projected. A row without it has no ratio.
    """
    chosen = {(row.section, row.epsilon): getattr(row, by) for row in rows if row.chosen}

    def ratio(row: ComparedDesign) -> float | None:
        error, ours = getattr(row, by), chosen.get((row.section, row.epsilon))
        return None if error is None or not ours else error / ours

    return tuple(replace(row, ratio=ratio(row)) for row in rows)
