"""A table of attributes: cells with intervals, sums over parts of it, conditional shares, a test of independence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.core.extras import full_install, import_pandas
from sottovoce.core.words import plural
from sottovoce.domain import Domain
from sottovoce.estimates.combinations import CombinedAnswer, RawAnswers, combined, combined_interval, ratio
from sottovoce.estimates.intervals import Interval, check_level
from sottovoce.estimates.listed import ListedEstimate
from sottovoce.mechanisms.base import Floats

__all__ = ["Independence", "ShareTable", "TableEstimate"]

Selected = Any
"""One value of an attribute, or several in a list or range."""

_MOST_CELLS: Final = 100
"""Cells of a table up to which their covariance is computed."""


class Independence(NamedTuple):
    """A test of whether two attributes are independent.

    Attributes
    ----------
    statistic, degrees
        Wald's statistic of the deviations from independence, and its degrees of freedom.
    p_value
        The chance of a statistic as large if the attributes are independent; asymptotic, for many reports.
    largest
        The cell that deviates most, in standard errors, and by how much its share is above that of independence.
    """

    statistic: float
    degrees: int
    p_value: float
    largest: tuple[tuple[str, ...], float]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ShareTable:
    """The share of people in every cell of a table of attributes, as raw answers or sums of raw answers.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.workloads import Marginals
    >>> survey = sv.Survey.queries(Marginals(k=2, country=["DE", "FR"], plan=["free", "pro"], age=3), epsilon=2.0)
    >>> people = [("DE", "free", 0)] * 30_000 + [("DE", "pro", 1)] * 10_000 + [("FR", "free", 2)] * 20_000
    >>> table = survey.estimate(survey.simulate(people, seed=1)).table("country", "plan")
    >>> table
    <table of country and plan: 2 x 2 shares from 60,000 reports>
    >>> print(table.share({"plan": "pro"}, given={"country": "DE"}))
    0.2..., 95 % from 0.23... to 0.26...
    """

    answers: RawAnswers
    names: tuple[str, ...]
    axes: tuple[Domain, ...]
    cells: NDArray[np.int64]
    """The numbers of the answers that add up to each cell: the table's axes, then one for the answers of a cell."""
    scale: float
    """A cell's share is the sum of its answers, times this."""

    @property
    def raw(self) -> Floats:
        """The raw share of every cell."""
        return np.asarray(self.answers.raw[self.cells].sum(axis=-1) * self.scale)

    @property
    def values(self) -> Floats:
        """The projected share of every cell."""
        return np.asarray(self.answers.values[self.cells].sum(axis=-1) * self.scale)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Interval:
        """Confidence intervals of all cells, in the shape of the table."""
        check_level(level)
        rows = self._rows
        found = combined_interval(self.answers, rows, level, len(rows) if simultaneous else 1)
        return Interval(found.low.reshape(self._shape), found.high.reshape(self._shape), found.method)

    def sum(
        self, selected: Mapping[str, Selected] | None = None, /, level: float = 0.95, **named: Selected
    ) -> CombinedAnswer:
        """The share of people in a part of the table: for each attribute a value, or several in a list or range.

        Attributes that are not named are summed over: `table.sum(age=range(18, 30), plan=["free", "pro"])` is a range
        of two dimensions. Attributes may also be given as a mapping, whatever they are called.
        """
        parts = {**({} if selected is None else _checked(selected, "selected")), **named}
        return combined(self.answers, self._weights(self._numbers(parts, "selected")), level)

    def share(self, of: Mapping[str, Selected], given: Mapping[str, Selected], level: float = 0.95) -> CombinedAnswer:
        """The share of `of` among the people of `given`: P(plan = pro | country = DE)."""
        part, whole = self._numbers(_checked(of, "of"), "of"), self._numbers(_checked(given, "given"), "given")
        if set(part) & set(whole):
            raise SurveyError("of and given must name different attributes of the table").at("of")
        return ratio(self.answers, self._weights({**whole, **part}), self._weights(whole), level)

    def conditional(self, name: str, level: float = 0.95) -> list[tuple[tuple[str, ...], str, CombinedAnswer]]:
        """The distribution of one attribute among the people of each cell of the others: (others, value, share)."""
        place = self._place(name)
        others = [other for other in range(len(self.names)) if other != place]
        if not others:
            raise SurveyError("a conditional share needs a table of two attributes or more").at("name")
        found = []
        for cell in product(*(range(self.axes[other].size) for other in others)):
            whole = {other: np.array([at]) for other, at in zip(others, cell, strict=True)}
            given = tuple(self.axes[other].label(at) for other, at in zip(others, cell, strict=True))
            for value in range(self.axes[place].size):
                part = self._weights({**whole, place: np.array([value])})
                share = ratio(self.answers, part, self._weights(whole), level)
                found.append((given, self.axes[place].label(value), share))
        return found

    def mean(self, name: str, given: Mapping[str, Selected] | None = None, level: float = 0.95) -> CombinedAnswer:
        """The mean of a number among all people, or among the people of `given`, in the number's unit.

        `table.mean("minutes", given={"country": "DE"})` is a ratio of two answers, with its interval.
        """
        place, grid = self._place(name), self.answers.survey.design.workload.number_field(name)
        if grid is None:
            raise SurveyError(f"{name} is not a number of this survey, so it has no mean").at("name")
        whole = {} if given is None else self._numbers(_checked(given, "given"), "given")
        if place in whole:
            raise SurveyError("given must name other attributes than the one whose mean is asked for").at("given")
        steps = sum(
            at * self._weights({**whole, place: np.array([at])}) / (grid.points - 1) for at in range(grid.points)
        )
        if whole:
            found = ratio(self.answers, np.asarray(steps), self._weights(whole), level)
        else:
            found = combined(self.answers, np.asarray(steps), level)
        width, error = grid.high - grid.low, grid.position_error
        return replace(
            found,
            value=grid.low + width * min(max(found.value, 0.0), 1.0),
            low=max(grid.low, grid.low + width * found.low - error),
            high=min(grid.high, grid.low + width * found.high + error),
        )

    def independence(self) -> Independence:
        """Test whether the two attributes of the table are independent.

        Wald's test of p(a, b) - p(a) p(b) = 0 for all but the last row and column, with the exact covariance of the
        raw shares under the projected distribution.
        """
        with full_install:
            from scipy.stats import chi2

        if len(self.names) != 2 or min(self._shape) < 2:
            raise SurveyError("independence is tested for tables of two attributes with two values or more")
        rows, columns = self._shape
        if rows * columns > _MOST_CELLS:
            raise SurveyError(
                f"the table has {rows * columns:,} cells, and at most {_MOST_CELLS} can be tested for independence; "
                "merge values first"
            )
        shares = self.raw
        beside, above = shares.sum(axis=1, keepdims=True), shares.sum(axis=0, keepdims=True)
        off = shares - beside * above
        # d(p_ab - p_a. p_.b)/dp_cd = [cd = ab] - [c = a] p_.b - [d = b] p_a.
        slope = np.zeros((rows, columns, rows, columns))
        for a, b in product(range(rows), range(columns)):
            slope[a, b, a, b] += 1
            slope[a, b, a, :] -= above[0, b]
            slope[a, b, :, b] -= beside[a, 0]
        jacobian = slope.reshape(rows * columns, -1)
        covariance = jacobian @ self._covariance() @ jacobian.T
        kept = np.arange(rows * columns).reshape(rows, columns)[:-1, :-1].reshape(-1)
        deviations = off.reshape(-1)
        part = covariance[np.ix_(kept, kept)]
        statistic = float(deviations[kept] @ np.linalg.pinv(part, hermitian=True) @ deviations[kept])
        degrees = (rows - 1) * (columns - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.nan_to_num(np.abs(deviations) / np.sqrt(np.maximum(np.diag(covariance), 0.0)))
        most = np.unravel_index(int(size.argmax()), self._shape)
        cell = tuple(axis.label(int(at)) for axis, at in zip(self.axes, most, strict=True))
        return Independence(statistic, degrees, float(chi2.sf(statistic, degrees)), (cell, float(off[most])))

    def to_pandas(self, level: float = 0.95) -> Any:
        """A DataFrame indexed by the attributes, with columns value, raw, low, high. Needs pandas."""
        pd = import_pandas()
        low, high = self.interval(level)
        index = pd.MultiIndex.from_product([axis.labels() for axis in self.axes], names=self.names)
        columns = {"value": self.values, "raw": self.raw, "low": low, "high": high}
        return pd.DataFrame({name: column.reshape(-1) for name, column in columns.items()}, index=index)

    def __repr__(self) -> str:
        sizes = " x ".join(f"{axis.size:,}" for axis in self.axes)
        return f"<table of {' and '.join(self.names)}: {sizes} shares from {plural(self.answers.n_reports, 'report')}>"

    # --- weights ---------------------------------------------------------------------------

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def _rows(self) -> Floats:
        """Weights of the answers, one row per cell."""
        flat = self.cells.reshape(-1, self.cells.shape[-1])
        rows = np.zeros((len(flat), len(self.answers.raw)))
        np.put_along_axis(rows, flat, self.scale, axis=1)
        return rows

    def _place(self, name: object) -> int:
        if name not in self.names:
            raise SurveyError(f"the table has no attribute of that name; it has {', '.join(self.names)}").at("name")
        return self.names.index(str(name))

    def _numbers(self, selected: Mapping[str, Selected], field: str) -> dict[int, NDArray[np.int64]]:
        """The selected values by number, for the places of their attributes."""
        if not selected:
            raise SurveyError(f"{field} must name at least one attribute of {', '.join(self.names)}").at(field)
        return {self._place(name): self._values(name, values) for name, values in selected.items()}

    def _weights(self, selected: dict[int, NDArray[np.int64]]) -> Floats:
        """Weights of the answers for the part of the table with the selected values."""
        kept = [selected.get(place, np.arange(size)) for place, size in enumerate(self._shape)]
        weights = np.zeros(len(self.answers.raw))
        weights[self.cells[np.ix_(*kept)].reshape(-1)] = self.scale
        return weights

    def _values(self, name: str, values: Selected) -> NDArray[np.int64]:
        axis = self.axes[self._place(name)]
        listed = list(values) if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) else [values]
        if not listed:
            raise SurveyError(f"{name} selects no value: name at least one").at(name)
        try:
            found = np.array([axis.index(value) for value in listed], dtype=np.int64)
        except SottovoceError as error:
            raise error.at(name) from None
        if len(np.unique(found)) < len(found):
            raise SurveyError(f"{name} selects a value twice; name it once").at(name)
        return found

    def _covariance(self) -> Floats:
        """The covariance of the raw shares of all cells, for the projected distribution: exact, by polarization."""
        rows, answers = self._rows, self.answers
        pairs = np.triu_indices(len(rows), 1)
        both = rows[pairs[0]] + rows[pairs[1]]
        design, population = answers.survey.design, self.answers.population
        own = np.asarray(design.variance(rows, population, answers.n_reports).value)
        joint = np.asarray(design.variance(both, population, answers.n_reports).value)
        covariance = np.diag(own)
        covariance[pairs] = (joint - own[pairs[0]] - own[pairs[1]]) / 2
        return np.asarray(covariance + np.triu(covariance, 1).T)


def _checked(selected: object, field: str) -> Mapping[str, Selected]:
    if not isinstance(selected, Mapping):
        raise SurveyError(f"{field} must map attributes to values, such as {{'plan': 'pro'}}").at(field)
    return selected


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableEstimate(ListedEstimate):
    """An estimate from which tables of attributes follow."""

    describes: ClassVar[str] = "tables of attributes"

    def table(self, *names: str) -> ShareTable:
        """The table of these attributes, of which parts can be summed and compared; see `ShareTable`."""
        if not names or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise SurveyError("name the attributes of the table, each once, for example table('country', 'plan')").at(
                "names"
            )
        found = self.survey.design.workload.table_cells(names)
        if found is None:
            raise SurveyError(
                f"this survey did not ask for a table of {', '.join(map(repr, names))}: it needs records with tables "
                f"of {len(names)} or more, or workload 'marginals' with such a k, or the distribution over all "
                "attributes"
            ).at("names")
        inner = dict(found.attributes)
        return ShareTable(self._combinable, names, tuple(inner[name] for name in names), found.cells, found.scale)

    def mean(self, field: str | None = None, level: float = 0.95) -> CombinedAnswer:
        """The mean of a number of records, in its unit, with its interval; `table` gives its mean within categories.

        Of numbers clipped to the survey's ends.
        """
        if field is None:
            raise SurveyError("a survey of records describes its numbers by name, for example mean('minutes')").at(
                "field"
            )
        return self.table(field).mean(field, level=level)
