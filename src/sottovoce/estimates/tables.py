"""A table of attributes: cells with intervals, sums over parts of it, conditional shares, a test of independence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.answer import Answer, aligned, unknown_answer
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SurveyError
from sottovoce.core.extras import import_pandas
from sottovoce.core.words import plural
from sottovoce.domain import Domain
from sottovoce.estimates.combinations import RawAnswers, combined, combined_interval, ratio
from sottovoce.estimates.independence import Independence, deviations_from_independence
from sottovoce.estimates.intervals import Interval, check_level
from sottovoce.estimates.table_files import EstimateTable, FilePath, arrow_table, write_csv, write_parquet
from sottovoce.figures.bars import answers_html, plot_answers
from sottovoce.mechanisms.base import Floats
from sottovoce.workloads.naming import find_label, quote_label

__all__ = ["ShareTable"]

_SHARE: Final[dict[str, Any]] = {"unit": "", "is_share": True}
"""A cell is a share, also where the answers that it is a sum of are not."""

_MOST_NAMED: Final = 3
"""Values of an attribute that a label names."""

Selected = Any
"""One value of an attribute, or several in a list or range."""

_MOST_CELLS: Final = 100
"""Cells of a table up to which their covariance is computed."""

_ROWS_IN_HTML: Final = 60
_ROWS_IN_TEXT: Final = 20


@final
@dataclass(frozen=True, eq=False, repr=False)
class ShareTable:
    """The share of people in every cell of a table of attributes, as raw answers or sums of raw answers.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.workloads import Marginals
    >>> survey = sv.Survey(sv.queries(Marginals(k=2, country=["DE", "FR"], plan=["free", "pro"], age=3)), epsilon=2.0)
    >>> people = [("DE", "free", 0)] * 30_000 + [("DE", "pro", 1)] * 10_000 + [("FR", "free", 2)] * 20_000
    >>> table = survey.estimate(survey.simulate(people, seed=1)).table("country", "plan")
    >>> table
    <table of country and plan: 2 x 2 shares from 60,000 reports>
    >>> print(table.share({"plan": "pro"}, given={"country": "DE"}))
    plan=pro among country=DE: 2... % (23... % to 26... %)
    """

    raw_answers: RawAnswers
    names: tuple[str, ...]
    axes: tuple[Domain, ...]
    cells: NDArray[np.int64]
    """The numbers of the answers that add up to each cell: the table's axes, then one for the answers of a cell."""
    scale: float
    """A cell's share is the sum of its answers, times this."""

    @property
    def raw(self) -> Floats:
        """The raw share of every cell."""
        return np.asarray(self.raw_answers.raw[self.cells].sum(axis=-1) * self.scale)

    @property
    def values(self) -> Floats:
        """The projected share of every cell."""
        return np.asarray(self.raw_answers.values[self.cells].sum(axis=-1) * self.scale)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Interval:
        """Confidence intervals of all cells, in the shape of the table."""
        check_level(level)
        rows = self._rows
        interval = combined_interval(self.raw_answers, rows, level, len(rows) if simultaneous else 1)
        return Interval(interval.low.reshape(self._shape), interval.high.reshape(self._shape), interval.method)

    def answers(self, level: float = 0.95) -> list[Answer]:
        """All cells, the last attribute's values fastest; iterating over the table gives these."""
        interval = self.interval(level)
        columns = (column.reshape(-1).tolist() for column in (self.values, interval.low, interval.high, self.raw))
        cells = product(*(range(size) for size in self._shape))
        return [
            Answer(
                label=self._named(dict(enumerate(cell))),
                value=value,
                low=low,
                high=high,
                raw=raw,
                method=interval.method,
                level=level,
                is_share=True,
            )
            for cell, value, low, high, raw in zip(cells, *columns, strict=True)
        ]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers())

    def __len__(self) -> int:
        return int(np.prod(self._shape))

    def sum(self, selected: Mapping[str, Selected] | None = None, /, level: float = 0.95, **named: Selected) -> Answer:
        """The share of people in a part of the table: for each attribute a value, or several in a list or range.

        Attributes that are not named are summed over: `table.sum(age=range(18, 30), plan=["free", "pro"])` is a range
        of two dimensions. Attributes may also be given as a mapping, whatever they are called.
        """
        parts = {**({} if selected is None else _checked(selected, "selected")), **named}
        numbers = self._numbers(parts, "selected")
        return replace(combined(self.raw_answers, self._weights(numbers), level, self._named(numbers)), **_SHARE)

    @with_clear_calls('table.share({"plan": "pro"}, given={"country": "IT"})')
    def share(self, of: Mapping[str, Selected], given: Mapping[str, Selected], level: float = 0.95) -> Answer:
        """The share of `of` among the people of `given`: P(plan = pro | country = DE)."""
        part, whole = self._numbers(_checked(of, "of"), "of"), self._numbers(_checked(given, "given"), "given")
        if set(part) & set(whole):
            raise SurveyError("of and given must name different attributes of the table").at("of")
        label = f"{self._named(part)} among {self._named(whole)}"
        return ratio(self.raw_answers, self._weights({**whole, **part}), self._weights(whole), level, label, True)

    def conditional(self, name: str, level: float = 0.95) -> list[Answer]:
        """The share of every value of one attribute among the people of each cell of the others, cell by cell."""
        axis = self._axis(name)
        others = [other for other in range(len(self.names)) if other != axis]
        if not others:
            raise SurveyError("a conditional share needs a table of two attributes or more").at("name")
        answers = []
        for cell in product(*(range(self.axes[other].size) for other in others)):
            whole = {other: np.array([at]) for other, at in zip(others, cell, strict=True)}
            for value in range(self.axes[axis].size):
                part = {axis: np.array([value])}
                label = f"{self._named(part)} among {self._named(whole)}"
                sums = self._weights({**whole, **part}), self._weights(whole)
                answers.append(ratio(self.raw_answers, *sums, level, label, True))
        return answers

    def mean(self, name: str, given: Mapping[str, Selected] | None = None, level: float = 0.95) -> Answer:
        """The mean of a number among all people, or among the people of `given`, in the number's unit.

        `table.mean("minutes", given={"country": "DE"})` is a ratio of two answers, with its interval.
        """
        whole = {} if given is None else self._numbers(_checked(given, "given"), "given")
        return self._mean(name, whole, level)

    def _mean(self, name: str, whole: dict[int, NDArray[np.int64]], level: float) -> Answer:
        axis, grid = self._axis(name), self.raw_answers.survey.design.workload.number_field(name)
        if grid is None:
            raise SurveyError(
                f"{name} is a list of values, and only a number has a mean; declare it as one, for example "
                f'records({{"{name}": number(0, 100)}})'
            ).at("field")
        if axis in whole:
            raise SurveyError("given must name other attributes than the one whose mean is asked for").at("given")
        steps = sum(
            at * self._weights({**whole, axis: np.array([at])}) / (grid.points - 1) for at in range(grid.points)
        )
        if whole:
            scaled = ratio(self.raw_answers, np.asarray(steps), self._weights(whole), level)
        else:
            scaled = combined(self.raw_answers, np.asarray(steps), level)
        width, error = grid.high - grid.low, grid.position_error
        return replace(
            scaled,
            label=f"mean of {name}" + (f" among {self._named(whole)}" if whole else ""),
            raw=grid.low + width * scaled.raw,
            unit=grid.unit,
            is_share=False,
            value=grid.low + width * scaled.value,
            low=max(grid.low, grid.low + width * scaled.low - error),
            high=min(grid.high, grid.low + width * scaled.high + error),
        )

    def group_means(self, name: str, level: float = 0.95) -> list[Answer]:
        """The mean of a number among the people of each cell of the other attributes, labelled by the cell."""
        axis = self._axis(name)
        others = [other for other in range(len(self.names)) if other != axis]
        answers = []
        for cell in product(*(range(self.axes[other].size) for other in others)):
            whole = {other: np.array([at]) for other, at in zip(others, cell, strict=True)}
            answers.append(replace(self._mean(name, whole, level), label=self._named(whole)))
        return answers

    def independence(self) -> Independence:
        """Test whether the two attributes of the table are independent: see `Independence`."""
        if len(self.names) != 2 or min(self._shape) < 2:
            raise SurveyError("independence is tested for tables of two attributes with two values or more")
        if len(self) > _MOST_CELLS:
            raise SurveyError(
                f"the table has {len(self):,} cells, and at most {_MOST_CELLS} can be tested for independence; "
                "merge values first"
            )
        found = deviations_from_independence(self.raw_answers, self._rows, self.raw, self.values)
        most = np.unravel_index(int(found.sizes.argmax()), self._shape)
        cell = tuple(axis.label(int(at)) for axis, at in zip(self.axes, most, strict=True))
        return Independence(found.statistic, found.degrees, found.p_value, (cell, float(found.off[most])))

    def to_pandas(self, level: float = 0.95) -> Any:
        """A DataFrame indexed by the attributes, with columns value, raw, low, high. Needs pandas."""
        pd = import_pandas()
        low, high = self.interval(level)
        index = pd.MultiIndex.from_product([axis.labels() for axis in self.axes], names=self.names)
        columns = {"value": self.values.clip(low, high), "raw": self.raw, "low": low, "high": high}
        return pd.DataFrame({name: column.reshape(-1) for name, column in columns.items()}, index=index)

    def as_table(self, level: float = 0.95) -> EstimateTable:
        """The cells as a table, from which files are written."""
        cells = self.answers(level)
        about = {"survey": self.raw_answers.survey.id, "attributes": list(self.names), "level": level}
        columns = {name: np.array([getattr(cell, name) for cell in cells]) for name in Answer.row_fields[1:]}
        return EstimateTable(about, lambda row: cells[row].label, columns, 0, len(cells))

    def to_csv(self, path: FilePath | None = None, level: float = 0.95) -> str:
        """CSV with a heading and one row per cell, also written to a file if a path is given."""
        return write_csv(self.as_table(level), path)

    def to_parquet(self, path: FilePath, level: float = 0.95) -> None:
        """Write the cells to a Parquet file. Needs pyarrow."""
        write_parquet(self.as_table(level), path)

    def to_arrow(self, level: float = 0.95) -> Any:
        """A pyarrow table with one row per cell. Needs pyarrow."""
        return arrow_table(self.as_table(level))

    def plot(self, ax: Any = None, level: float = 0.95) -> Any:
        """Bars of the cells in their order, 200 at most, with intervals, on a matplotlib axes; returns the axes."""
        caption = f"{repr(self).strip('<>')}, {100 * level:g} % intervals"
        # The caption names the attributes, so that a bar can be called "Austria, free".
        values = product(*(axis.labels() for axis in self.axes))
        cells = [replace(cell, label=", ".join(of)) for cell, of in zip(self.answers(level), values, strict=True)]
        return plot_answers(cells, caption, ax, chosen="first", title=self.raw_answers.survey.title)

    def __str__(self) -> str:
        """The first cells, and what the table is made from."""
        shown = self.answers()[:_ROWS_IN_TEXT]
        more = len(self) - len(shown)
        rows = aligned([(cell.label, cell.value_text, cell.interval_text) for cell in shown])
        return "\n".join([rows, *([plural(more, "more cell")] if more else []), repr(self).strip("<>")])

    def _repr_html_(self) -> str:
        return answers_html(self.answers()[:_ROWS_IN_HTML], repr(self).strip("<>"), len(self))

    def __repr__(self) -> str:
        sizes = " x ".join(f"{axis.size:,}" for axis in self.axes)
        return (
            f"<table of {' and '.join(self.names)}: {sizes} shares from {plural(self.raw_answers.n_reports, 'report')}>"
        )

    # --- weights ---------------------------------------------------------------------------

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def _rows(self) -> Floats:
        """Weights of the answers, one row per cell."""
        return self.rows(np.eye(len(self)))

    def rows(self, weights: Floats) -> Floats:
        """Weights of the answers, one row for every row of weights of the cells."""
        rows = np.zeros((len(weights), len(self.raw_answers.raw)))
        # No answer belongs to two cells.
        rows[:, self.cells.reshape(-1)] = np.repeat(weights * self.scale, self.cells.shape[-1], axis=1)
        return rows

    def _axis(self, name: object) -> int:
        if name not in self.names:
            raise SurveyError(f"the table has no attribute of that name; it has {', '.join(self.names)}").at("name")
        return self.names.index(str(name))

    def _named(self, selected: Mapping[int, Any]) -> str:
        """A part of the table in words, such as "country=DE, plan=free or pro", from numbers by axis."""
        parts = []
        for position, numbers in sorted(selected.items()):
            axis, several = self.axes[position], np.atleast_1d(numbers).tolist()
            labels = [quote_label(axis.label(number), ", ") for number in (*several[:_MOST_NAMED], several[-1])]
            if several == list(range(several[0], several[0] + len(several))) and len(several) > 2:
                text = f"{labels[0]} to {labels[-1]}"
            else:
                text = " or ".join(labels[:-1])
                text += f" or {len(several) - _MOST_NAMED} more" if len(several) > _MOST_NAMED else ""
            parts.append(f"{self.names[position]}={text}")
        return ", ".join(parts)

    def _numbers(self, selected: Mapping[str, Selected], field: str) -> dict[int, NDArray[np.int64]]:
        """The numbers of the selected values, by the axis of their attribute."""
        if not selected:
            raise SurveyError(f"{field} must name at least one attribute of {', '.join(self.names)}").at(field)
        return {self._axis(name): self._values(name, values) for name, values in selected.items()}

    def _weights(self, selected: dict[int, NDArray[np.int64]]) -> Floats:
        """Weights of the answers for the part of the table with the selected values."""
        kept = [selected.get(axis, np.arange(size)) for axis, size in enumerate(self._shape)]
        weights = np.zeros(len(self.raw_answers.raw))
        weights[self.cells[np.ix_(*kept)].reshape(-1)] = self.scale
        return weights

    def _values(self, name: str, values: Selected) -> NDArray[np.int64]:
        axis = self.axes[self._axis(name)]
        listed = list(values) if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) else [values]
        if not listed:
            raise SurveyError(f"{name} selects no value: name at least one").at(name)
        indices = np.array([_index_on(axis, value, name) for value in listed], dtype=np.int64)
        if len(np.unique(indices)) < len(indices):
            raise SurveyError(f"{name} selects a value twice; name it once").at(name)
        return indices


def _index_on(axis: Domain, value: object, name: str) -> int:
    """The number of a value of an attribute, which is given by itself or by its label."""
    index = find_label(axis, value) if isinstance(value, str) else -1
    index = index if index >= 0 else axis._find(value)
    if index < 0:
        raise unknown_answer(value, map(axis.label, range(axis.size)), f"value of {name}").at(name)
    return index


def _checked(selected: object, field: str) -> Mapping[str, Selected]:
    if not isinstance(selected, Mapping):
        raise SurveyError(f"{field} must map attributes to values, such as {{'plan': 'pro'}}").at(field)
    return selected
