"""A line of least squares through people's numbers: slopes, predictions and what it explains, each with an interval.

Intervals of slopes on one regressor, and of correlations, are Fieller's; others are by the delta method. Both are
asymptotic: see `sottovoce.theory.relations`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from sottovoce.core.answer import Answer, aligned, nearest_label
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_number
from sottovoce.core.words import guarantee, plural
from sottovoce.domain.number import NumberGrid
from sottovoce.estimates.intervals import check_level
from sottovoce.figures.bars import plot_answers
from sottovoce.figures.line import plot_line
from sottovoce.mechanisms.base import Floats
from sottovoce.theory.relations import Fitted, MeanProducts, Range, correlated, fieller
from sottovoce.workloads.record_moments import RecordMoments

__all__ = ["Axis", "Line", "axis_of", "correlation_answer", "feature_named", "features_named", "slope_unit"]

FIELLER: Final = "Fieller's interval"
DELTA: Final = "delta method"
_NARROW: Final = 0.5
"""The part of a range that a number's six standard deviations fill, below which its cost is worth a word."""

_POINTS: Final = 49
"""Numbers at which the band of a picture is computed."""

UNBOUNDED: Final = "the spread of the regressors may be zero, so every slope is possible"


@final
@dataclass(frozen=True)
class Axis:
    """A feature in people's own units: value = middle + half * feature."""

    name: str
    unit: str
    middle: float
    half: float
    is_number: bool


def axis_of(workload: RecordMoments, place: int) -> Axis:
    """A feature by its number; a value of a list goes from 0 to 1."""
    field = workload.fields[workload.features.listed[place].attribute][1]
    name = workload.feature_names[place]
    if isinstance(field, NumberGrid):
        return Axis(name, field.unit, field.middle, field.half, True)
    return Axis(name, "", 0.5, 0.5, False)


def feature_named(workload: RecordMoments, name: object, argument: str) -> int:
    """The feature of that name; a list of two values is known by its name too."""
    group = features_named(workload, name, argument)
    if len(group) > 1:
        values = ", ".join(workload.feature_names[place] for place in group)
        raise SurveyError(f"{name} is a list of several values; name one of them: {values}").at(argument)
    return group[0]


def features_named(workload: RecordMoments, name: object, argument: str) -> list[int]:
    """All features of an attribute, or the one of that name."""
    known = list(workload.feature_names)
    if name in known:
        return [known.index(str(name))]
    listed = workload.features.listed
    found = [place for place, one in enumerate(listed) if workload.fields[one.attribute][0] == name]
    if not found:
        nearest = nearest_label(name, known) if isinstance(name, str) else None
        remedy = f"there are {', '.join(known)}" if nearest is None else f"did you mean {nearest!r}?"
        raise SurveyError(f"{argument} must name a field of the relation; {remedy}").at(argument)
    return found


def correlation_answer(
    means: MeanProducts, places: tuple[int, int], names: tuple[str, str], normal: float, level: float
) -> Answer:
    """The correlation of two features."""
    found = correlated(means, *places, normal)
    return Answer(
        label=f"correlation of {names[0]} and {names[1]}",
        value=found.value,
        low=min(max(-1.0, found.ends.low), 1.0),
        high=max(min(1.0, found.ends.high), -1.0),
        raw=found.value,
        method=FIELLER if math.isfinite(found.ends.low) else f"{FIELLER}; a spread may be zero",
        level=level,
    )


def slope_unit(axis: Axis, outcome: Axis) -> str:
    """The unit of the outcome's slope on a feature."""
    return f"{outcome.unit} per {axis.unit or axis.name}".strip() if axis.is_number else outcome.unit


@final
@dataclass(frozen=True, eq=False, repr=False)
class Line:
    """The line of least squares of an outcome on some regressors; `estimate.line` makes it.

    Iterating gives the intercept's neighbours: one slope for every regressor.
    """

    estimate: Any
    """The estimate of a relation, or a relation read from the tables of a form."""
    places: tuple[int, ...]
    means: MeanProducts
    fit: Fitted | None

    @property
    def _axes(self) -> list[Axis]:
        axes: list[Axis] = self.estimate._axes
        return axes

    @property
    def _outcome(self) -> Axis:
        return self._axes[-1]

    def slope(self, name: str, level: float = 0.95) -> Answer:
        """How much the outcome changes with one regressor, the others of the line held."""
        check_level(level)
        place = self.estimate._feature(name, "name")
        if place not in self.places:
            names = ", ".join(self._axes[one].name for one in self.places)
            raise SurveyError(f"name must be a regressor of the line: {names}").at("name")
        return self._slope(self.places.index(place), level)

    def _slope(self, at: int, level: float) -> Answer:
        axis, outcome = self._axes[self.places[at]], self._outcome
        # A value of a list goes from 0 to 1, which is two halves of its feature.
        scale = outcome.half / axis.half
        normal, fit, alone = self.estimate._normal(level), self._determined(level), len(self.places) == 1
        if alone:
            ends, method = fieller(self.means, self.estimate._outcome, self.places[0], normal), FIELLER
        elif fit is not None:
            value, error = float(fit.slopes[at]), float(fit.errors[at])
            ends, method = Range(value - normal * error, value + normal * error), DELTA
        else:
            ends, method = Range(-math.inf, math.inf), DELTA
        known = fit is not None and math.isfinite(ends.low)
        raw = scale * float(self.fit.slopes[at]) if self.fit is not None else math.nan
        return Answer(
            label=axis.name,
            value=raw if known else math.nan,
            low=scale * ends.low,
            high=scale * ends.high,
            raw=raw,
            unit=slope_unit(axis, outcome),
            method=method if known else f"{method}; {UNBOUNDED}",
            level=level,
        )

    def _determined(self, level: float) -> Fitted | None:
        """The fit, unless one of several regressors may follow from the others."""
        if self.fit is None or len(self.places) == 1 or self.fit.determined(self.estimate._normal(level)):
            return self.fit
        return None

    @property
    def notes(self) -> list[str]:
        """What a narrower range would have saved, for numbers that are spread over a small part of theirs."""
        notes = []
        for place in (*self.places, self.estimate._outcome):
            axis, spread = self._axes[place], float(self.means.covariance[place, place])
            # Ends six standard deviations apart are wide enough; the people needed grow with the square of the range.
            share = 3 * math.sqrt(max(spread, 0.0))
            if axis.is_number and 0 < share < _NARROW:
                notes.append(
                    f"{axis.name} is spread over little of its range: ends {2 * share * axis.half:.3g} apart, around "
                    f"most people, would take about {1 / share**2:.2g} times fewer people"
                )
        return notes

    def __iter__(self) -> Iterator[Answer]:
        return (self._slope(at, 0.95) for at in range(len(self.places)))

    def __len__(self) -> int:
        return len(self.places)

    def slopes(self, level: float = 0.95) -> list[Answer]:
        """One slope for every regressor, with its interval."""
        check_level(level)
        return [self._slope(at, level) for at in range(len(self.places))]

    def predict(self, at: dict[str, Any] | None = None, /, level: float = 0.95, **named: Any) -> Answer:
        """The mean outcome of people with these regressors: every one of the line is named."""
        check_level(level)
        given = {**({} if at is None else at), **named}
        features = self._placed(given)
        label = ", ".join(f"{name}={value}" for name, value in given.items())
        outcome = self._outcome
        fit = self._determined(level)
        if fit is None:
            return self._answer(f"{outcome.name} at {label}", math.nan, math.inf, level, outcome)
        value, gradient = fit.predicted(features)
        error = self.estimate._normal(level) * self.means.error(gradient)
        return self._answer(f"{outcome.name} at {label}", value, error, level, outcome)

    def _answer(self, label: str, value: float, reach: float, level: float, axis: Axis) -> Answer:
        raw = axis.middle + axis.half * value
        # The mean of an outcome lies between its ends, wherever a line leads.
        least, most = axis.middle - axis.half, axis.middle + axis.half
        low, high = (raw - axis.half * reach, raw + axis.half * reach) if math.isfinite(reach) else (least, most)
        return Answer(
            label=label,
            value=raw,
            low=min(max(low, least), most),
            high=max(min(high, most), least),
            raw=raw,
            unit=axis.unit,
            is_share=not axis.is_number,
            method=DELTA if math.isfinite(reach) else f"{DELTA}; {UNBOUNDED}",
            level=level,
        )

    def _placed(self, given: dict[str, Any]) -> Floats:
        """The features of the line at these values."""
        workload = self.estimate._workload
        fields = {workload.fields[workload.features.listed[place].attribute][0] for place in self.places}
        if set(given) != fields:
            raise SurveyError(f"give a value for each regressor of the line: {', '.join(sorted(fields))}").at("at")
        values = []
        for place in self.places:
            feature = workload.features.listed[place]
            name, field = workload.fields[feature.attribute]
            if isinstance(field, NumberGrid):
                values.append(_place(field, name, given[name]))
            else:
                values.append(1.0 if field.index(given[name]) == feature.value else -1.0)
        return np.array(values)

    def r_squared(self, level: float = 0.95) -> Answer:
        """The share of the outcome's variance that the line explains."""
        check_level(level)
        fit = self._determined(level)
        if fit is None:
            value, low, high, method = math.nan, 0.0, 1.0, f"{DELTA}; {UNBOUNDED}"
        elif len(self.places) == 1:
            found = correlated(self.means, self.places[0], self.estimate._outcome, self.estimate._normal(level))
            ends = found.ends
            squares = ends.low**2, ends.high**2
            low = 0.0 if ends.low <= 0 <= ends.high else min(squares)
            value, high, method = found.value**2, min(1.0, max(squares)), FIELLER
        else:
            value, gradient = fit.explained
            reach = self.estimate._normal(level) * self.means.error(gradient)
            low, high, method = max(0.0, value - reach), min(1.0, value + reach), DELTA
        low, high = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
        return Answer(
            label="R squared", value=value, low=low, high=high, raw=value, method=method, level=level, is_share=True
        )

    def plot(self, ax: Any = None, level: float = 0.95) -> Any:
        """The mean outcome against one number, with its band; for several regressors, their slopes as bars."""
        outcome = self._outcome
        if len(self.places) > 1 or not self._axes[self.places[0]].is_number or self.fit is None:
            title = self.estimate.survey.title
            return plot_answers(self.slopes(level), self._caption(level), ax, chosen="first", title=title)
        axis = self._axes[self.places[0]]
        numbers = np.linspace(axis.middle - axis.half, axis.middle + axis.half, _POINTS).tolist()
        means = [self.predict({axis.name: number}, level=level) for number in numbers]
        labels = _labelled(axis), _labelled(outcome)
        return plot_line(numbers, means, labels, self._caption(level), ax)

    def _caption(self, level: float) -> str:
        return f"{repr(self).strip('<>')}, {100 * level:g} % intervals"

    def __str__(self) -> str:
        return self.text()

    def text(self, level: float = 0.95) -> str:
        """The slopes and what the line explains, in columns."""
        shown = [*(replace(one, label=f"{self._outcome.name} by {one.label}") for one in self.slopes(level))]
        rows = aligned([(one.label, one.value_text, one.interval_text) for one in (*shown, self.r_squared(level))])
        return "\n".join([rows, *self.notes])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The outcome, the slopes and what the line explains, as plain values."""
        return {
            "survey": self.estimate.survey.id,
            "n_reports": self.estimate.n_reports,
            "outcome": self._outcome.name,
            "slopes": [one.to_dict() for one in self.slopes(level)],
            "r_squared": self.r_squared(level).to_dict(),
            "notes": self.notes,
        }

    def __repr__(self) -> str:
        names = ", ".join(self._axes[place].name for place in self.places)
        promise = guarantee(self.estimate.epsilon, self.estimate.delta)
        return f"<line of {self._outcome.name} on {names} from {plural(self.estimate.n_reports, 'report')}, {promise}>"


def _place(field: NumberGrid, name: str, value: object) -> float:
    """A number on the scale of its range; a line says nothing of numbers beyond the ends, which people have not."""
    try:
        number = check_number(name, value, field.low, field.high, "a line is known between the ends of its range")
    except SurveyError as error:
        raise error.at("at") from None
    return (number - field.middle) / field.half


def _labelled(axis: Axis) -> str:
    return f"{axis.name} ({axis.unit})" if axis.unit and axis.unit != axis.name else axis.name
