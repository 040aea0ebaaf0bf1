"""Options for the periods of a tracking survey."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.survey_options import add_parameters, given_parameters
from sottovoce.surveys.calendar import Calendar

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["add_calendar", "add_planned_periods", "given_calendar", "people_of_a_period", "planned_periods"]

_PERIODS_TITLE: Final = "the same question in every period"
_PERIOD_NAMES: Final = frozenset(parameter.name for parameter in Calendar.parameters)
_PLANNED_PERIODS: Final = tuple(each for each in Calendar.parameters if each.name in ("periods", "renews", "every"))
_SOME_DAY: Final = "2000-01-03"
"""A plan does not depend on when periods begin."""


def add_calendar(parser: Parser) -> None:
    """Add options for when periods begin and how often a person answers; none is required."""
    group = parser.add_argument_group(_PERIODS_TITLE, "everybody answers in one period, which the device draws")
    add_parameters(group, Calendar.parameters, optional=_PERIOD_NAMES)


def given_calendar(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_calendar` under the library's names; empty if the survey is asked once."""
    return given_parameters(Calendar.parameters, arguments)


def people_of_a_period(people: int, calendar: Calendar) -> int:
    """About how many of the people draw one period; the design is chosen for this number."""
    return max(1, people // calendar.window)


def add_planned_periods(parser: Parser) -> None:
    """Add options for the number of periods and the windows that they are divided into."""
    group = parser.add_argument_group(_PERIODS_TITLE, "errors are those of one period; --people are the people of all")
    add_parameters(group, _PLANNED_PERIODS, optional=_PERIOD_NAMES)


def planned_periods(arguments: argparse.Namespace) -> dict[str, Any]:
    """`periods` and `renews` as numbers, as the planner takes them."""
    given = given_parameters(_PLANNED_PERIODS, arguments)
    if given.get("renews", "").isdecimal() or "renews" not in given:
        numbers = {"periods": given.get("periods"), "renews": given.get("renews")}
        return {name: int(number) for name, number in numbers.items() if number is not None}
    calendar = Calendar.of(starts=_SOME_DAY, **given)
    return {"periods": calendar.periods, "renews": calendar.window}
