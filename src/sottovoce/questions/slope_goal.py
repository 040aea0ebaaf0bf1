"""The goal of a plan for a relation: how well a slope is to be known."""

from __future__ import annotations

from typing import Any, NamedTuple

from sottovoce.core.errors import PlanError, SurveyError
from sottovoce.core.limits import check_number
from sottovoce.strategies.relations.slope_error import slope_error

__all__ = ["SlopeGoal", "checked_error"]

_LEAST, _MOST = 1e-100, 1e100


class SlopeGoal(NamedTuple):
    """The slope on one regressor, by the number of its feature, is to have this standard error, in people's units.

    Attributes
    ----------
    scale
        A slope in people's units is that of the features times this.
    unit
        The unit of the slope.
    """

    error: float | None
    regressor: int
    scale: float
    unit: str

    @property
    def target(self) -> float | None:
        """The standard error that a plan must reach."""
        return self.error

    @property
    def words(self) -> str:
        """What is to be reached."""
        return f"a slope's standard error of {self.error:g} {self.unit}".rstrip()

    def reached(self, question: Any, design: Any, people: int) -> float:
        """The standard error that a design reaches with `people`."""
        return self.scale * slope_error(design, self.regressor, people)


def checked_error(value: object) -> float:
    """A standard error above 0."""
    try:
        return check_number("slope_error", value, _LEAST, _MOST, "the standard error of a slope")
    except SurveyError as error:
        raise PlanError(str(error)).at("slope_error") from None
