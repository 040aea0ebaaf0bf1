"""A relation read from the tables of a form: the means of features and of their products, with their covariance.

A number counts for its two neighbouring grid points, at random with its place between them as the chance. Means, and
means of products with other attributes, are kept by that; the mean of its own square is too large by
E (x - lo)(hi - x), which is h^2/6 for grid points at a distance h where the density is about even between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Final, final

import numpy as np

from sottovoce.core.answer import Answer
from sottovoce.core.errors import SurveyError
from sottovoce.domain.number import NumberGrid
from sottovoce.estimates.covariance import MOST_TOGETHER, answers_covariance
from sottovoce.estimates.intervals import check_level
from sottovoce.estimates.line import (
    Axis,
    Line,
    axis_of,
    correlation_answer,
    feature_named,
    features_named,
)
from sottovoce.estimates.watched import level_of_look, refuse_so_far
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.relations.allocation import related_parts
from sottovoce.theory.relations import MeanProducts, fitted
from sottovoce.workloads.record_moments import RecordMoments
from sottovoce.workloads.record_tables import Field

__all__ = ["FormRelation"]

FEWEST_POINTS: Final = 5
"""Grid points of a number below which rounding hides its spread."""


@final
@dataclass(frozen=True, eq=False)
class FormRelation:
    """Some attributes of a form, the last of which is the outcome, as a relation."""

    form: Any
    """The estimate of the form: a `TableEstimate`."""
    names: tuple[str, ...]

    @property
    def survey(self) -> Any:
        return self.form.survey

    @property
    def epsilon(self) -> float:
        return float(self.form.epsilon)

    @property
    def delta(self) -> float:
        return float(self.form.delta)

    @property
    def n_reports(self) -> int:
        return int(self.form.n_reports)

    @cached_property
    def _workload(self) -> RecordMoments:
        fields: list[tuple[str, Field]] = []
        for name in self.names:
            grid = self._grid(name)
            fields.append((name, self.form.table(name).axes[0] if grid is None else replace(grid, points=2)))
        workload = RecordMoments(tuple(fields))
        _ = workload.features
        return workload

    def _grid(self, name: str) -> NumberGrid | None:
        grid: NumberGrid | None = self.survey.design.workload.number_field(name)
        if grid is not None and grid.points < FEWEST_POINTS:
            ends = f"{grid.low:g}, {grid.high:g}"
            raise SurveyError(
                f"{name} has {grid.points} grid points, to which numbers are rounded at random: that hides how far "
                f"they are spread; ask with 7, such as records({{'{name}': number({ends}, points=7)}}), or ask for a "
                "relation"
            ).at("names")
        return grid

    @cached_property
    def _axes(self) -> list[Axis]:
        return [axis_of(self._workload, place) for place in range(len(self._workload.features.listed))]

    @property
    def _outcome(self) -> int:
        return len(self._axes) - 1

    def _feature(self, name: object, argument: str) -> int:
        return feature_named(self._workload, name, argument)

    def _normal(self, level: float) -> float:
        if self.form.always == "so far":
            raise refuse_so_far("a relation has no interval")
        one_look = level if self.form.always is None else level_of_look(level, self.n_reports)
        return NormalDist().inv_cdf((1 + one_look) / 2)

    def line(self, regressors: list[str]) -> Line:
        """The line of least squares of the outcome on these."""
        chosen = [place for name in regressors for place in features_named(self._workload, name, "on")]
        means = self.means
        return Line(self, tuple(chosen), means, fitted(means, self._outcome, chosen))

    def correlation(self, first: str, second: str, level: float) -> Answer:
        """The correlation of two features."""
        check_level(level)
        one, other = self._feature(first, "first"), self._feature(second, "second")
        names = self._axes[one].name, self._axes[other].name
        return correlation_answer(self.means, (one, other), names, self._normal(level), level)

    # --- means -----------------------------------------------------------------------------------

    @cached_property
    def means(self) -> MeanProducts:
        """The means of all features and products, from raw answers."""
        features = self._workload.features
        products, size = features.products, len(features.listed)
        if len(products) > MOST_TOGETHER:
            raise SurveyError(
                f"these attributes have {len(products)} means of products, and at most {MOST_TOGETHER} are related at "
                "once; name fewer"
            ).at("names")
        answers = self.form._combinable
        rows = np.stack([self._weights(first, second) for first, second in products])
        noise = answers_covariance(answers, rows)
        mean = rows @ answers.raw
        parts, follows = related_parts(features)
        own = mean[size:] - self._rounding[size:]
        related = np.where(parts >= 0, own[parts], 0.0)
        for i in range(size):
            for j in range(size):
                if parts[i, j] < 0:
                    related[i, j] = 1.0 if i == j else -1.0 - mean[i] - mean[j]
        variance = np.diag(noise)
        found = MeanProducts(mean[:size], variance[:size], related, parts, variance[size:], follows, noise)
        self._check_spread(found)
        return found

    @cached_property
    def _rounding(self) -> Floats:
        """What rounding adds to the mean of every product: h^2/6 to a number's own square."""
        features = self._workload.features
        added = np.zeros(len(features.products))
        for number, product in enumerate(features.products):
            grid = self._grid(self.names[features.listed[product.first].attribute])
            if product.is_square and grid is not None:
                added[number] = (2 / (grid.points - 1)) ** 2 / 6
        return added

    def _weights(self, first: int, second: int) -> Floats:
        """The weights of the answers whose sum is the mean of a feature, or of a product of two."""
        features = [first] if second < 0 else [first, second]
        attributes = sorted({self._workload.features.listed[place].attribute for place in features})
        table = self.form.table(*(self.names[attribute] for attribute in attributes))
        values = np.ones(table.cells.shape[:-1])
        for place in features:
            axis = attributes.index(self._workload.features.listed[place].attribute)
            column = self._column(place)
            values = values * np.expand_dims(column, [other for other in range(values.ndim) if other != axis])
        weights = np.zeros(len(self.form.raw))
        np.add.at(weights, table.cells, np.broadcast_to(values[..., None] * table.scale, table.cells.shape))
        return weights

    def _column(self, place: int) -> Floats:
        """A feature at every cell of its attribute: from -1 to 1."""
        attribute, value = self._workload.features.listed[place]
        name = self.names[attribute]
        grid = self._grid(name)
        if grid is not None:
            return np.linspace(-1.0, 1.0, grid.points)
        return np.where(np.arange(self.form.table(name).axes[0].size) == value, 1.0, -1.0)

    def _check_spread(self, means: MeanProducts) -> None:
        """Refuse numbers that all lie between two grid points: the correction for rounding says nothing there."""
        for place, axis in enumerate(self._axes):
            grid = self._grid(self.names[self._workload.features.listed[place].attribute])
            if grid is None:
                continue
            error = means.error(means.slopes_of_covariance[place, place])
            if means.covariance[place, place] + 2 * error < (1 / (grid.points - 1)) ** 2:
                raise SurveyError(
                    f"the spread of {axis.name} is less than half the distance of two grid points, so that rounding "
                    "hides it; ask with more points or a narrower range, or ask for a relation"
                ).at("names")
