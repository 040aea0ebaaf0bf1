"""Estimates of the public groups of a survey: one for each value of a variable, from the counts of its people alone.

People of different groups are different people, so the estimates are independent. Counts of groups add up: groups that
share the value of one variable are merged over all others before anything is estimated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

import numpy as np

from sottovoce.core.answer import Answer, unknown_answer
from sottovoce.core.errors import NoReportsError, SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.words import guarantee, plural
from sottovoce.estimates.table_files import EstimateTable, FilePath, stacked, write_csv, write_parquet
from sottovoce.figures.groups import plot_groups
from sottovoce.mechanisms.base import Counts

__all__ = ["ByGroup", "Estimated", "GroupCounts", "GroupVariables", "label_of", "merged"]

_MOST_ROWS = 10
_ROWS_IN_PICTURES = 20

Estimated: TypeAlias = Any
"""An `Estimate`, whose module imports this one."""


class GroupVariables(Protocol):
    """The public variables of a survey, and its groups in order."""

    @property
    def names(self) -> list[str]: ...

    def values_of(self, variable: str, argument: str = ..., /) -> tuple[str, ...]: ...

    def __iter__(self) -> Iterator[Any]: ...


@final
@dataclass(frozen=True, eq=False, repr=False)
class GroupCounts:
    """The counts of every group of a survey, and how an estimate is made of a sum of them.

    Attributes
    ----------
    counted
        Counts and number of reports of each group that has any, by its number.
    make
        Makes an estimate of counts and a number of reports.
    """

    groups: GroupVariables
    counted: Mapping[int, tuple[Counts, int]]
    make: Callable[[Counts, int], Estimated]

    def estimate(self, chosen: Mapping[str, str]) -> Estimated:
        """The estimate of all people with these values of some variables, over all values of the others."""
        mine = [group.number for group in self.groups if chosen.items() <= group.values.items()]
        here = [self.counted[number] for number in mine if number in self.counted]
        if not here:
            raise NoReportsError(f"{label_of(chosen)} has no reports yet: choose another group, or wait").at("group")
        return self.make(merged([counts for counts, _ in here]), sum(n for _, n in here))

    def split(self, variable: str) -> dict[str, Estimated]:
        """The estimate of every value of a variable that has reports."""
        found = {}
        for value in self.groups.values_of(variable, "variable"):
            with suppress(NoReportsError):
                found[value] = self.estimate({variable: value})
        return found

    def find(self, name: object) -> dict[str, str]:
        """Values of some variables, from a mapping of them, or from one value that a single variable has."""
        if isinstance(name, Mapping) and name:
            for variable, value in name.items():
                if value not in self.groups.values_of(variable, "group"):
                    raise unknown_answer(value, self.groups.values_of(variable), "group").at("group")
            return dict(name)
        having = [variable for variable in self.groups.names if name in self.groups.values_of(variable)]
        if len(having) == 1:
            return {having[0]: str(name)}
        if having:
            raise SurveyError(f"{' and '.join(having)} both have that value; say which, as {{'{having[0]}': ...}}").at(
                "group"
            )
        values = [value for variable in self.groups.names for value in self.groups.values_of(variable)]
        raise unknown_answer(name, values, "group").at("group")


def label_of(values: Mapping[str, str]) -> str:
    """A group in words."""
    return ", ".join(f"{variable} {value}" for variable, value in values.items())


def merged(parts: list[Counts]) -> Counts:
    """The counts of several groups together."""
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


@final
@dataclass(frozen=True, eq=False, repr=False)
class ByGroup(Mapping[str, Any]):
    """The estimates of the groups that a variable makes, by its values, in the order that the survey states.

    ``by["B"]`` is the estimate of one group; iterating gives the values.
    """

    variable: str
    estimates: Mapping[str, Estimated]
    stated: tuple[str, ...]
    whole: Estimated
    """The estimate of everybody, whose first answers are shown of every group."""

    def __getitem__(self, value: str) -> Estimated:
        if value in self.estimates:
            return self.estimates[value]
        if value in self.stated:
            raise NoReportsError(f"{self.variable} {value} has no reports yet: choose another, or wait").at("group")
        raise unknown_answer(value, self.stated)

    def __contains__(self, value: object) -> bool:
        """Whether a group has reports."""
        return value in self.estimates

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    @property
    def n_reports(self) -> dict[str, int]:
        """The number of reports of every group."""
        return {value: self.estimates[value].n_reports if value in self.estimates else 0 for value in self.stated}

    def __str__(self) -> str:
        """The first answers of all groups side by side."""
        return self.text()

    def text(self, level: float = 0.95, rows: int = _MOST_ROWS) -> str:
        """A table of the answers that the estimate of everybody shows first."""
        if not self.estimates:
            return f"no reports of any {self.variable}"
        columns, labels = self._columns(level, rows)
        cells = [("", *columns)]
        for label in labels:
            cells.append((label, *(_cell(answers.get(label)) for answers in columns.values())))
        cells.append(("", *(plural(estimate.n_reports, "report") for estimate in self.estimates.values())))
        widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
        lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in cells)
        return "\n".join(line.rstrip() for line in lines)

    def _columns(self, level: float, rows: int) -> tuple[dict[str, dict[str, Answer]], list[str]]:
        """The answers of every group by label, and all labels: those of words differ."""
        columns = {
            label_of({self.variable: value}): {one.label: one for one in self._answers(estimate, level, rows)}
            for value, estimate in self.estimates.items()
        }
        return columns, list(dict.fromkeys(label for answers in columns.values() for label in answers))

    def plot(self, k: int = _ROWS_IN_PICTURES, level: float = 0.95) -> Any:
        """All groups side by side in one picture: `k` answers with intervals; returns the matplotlib axes."""
        columns, labels = self._columns(level, check_integer("k", k, 1, 2**53))
        if not labels:
            raise NoReportsError(f"no {self.variable} has an answer to draw: wait for more reports").at("variable")
        reports = (
            f"{name}: {plural(one.n_reports, 'report')}" for name, one in zip(columns, self.values(), strict=True)
        )
        caption = (
            f"{'; '.join(reports)}; {guarantee(self.whole.epsilon, self.whole.delta)}, {100 * level:g} % intervals"
        )
        return plot_groups(columns, labels, f"{self.whole.survey.title}; {caption}".removeprefix("; "))

    def __repr__(self) -> str:
        return f"<estimates by {self.variable}: {', '.join(self.estimates)}>"

    def to_dict(self, level: float = 0.95, rows: int | None = None) -> dict[str, Any]:
        """All groups as plain values: all answers of each, or the `rows` that the estimate of everybody shows first.

        A group without reports has no number of them and no answers.
        """
        whole = self.whole
        methods = [estimate.interval(level).method for estimate in self.estimates.values()]
        return {
            "survey": whole.survey.id,
            "by": self.variable,
            "unit": whole.survey.question.unit,
            "share": whole.survey.question.answers_are_shares,
            "level": level,
            "always": whole.always is not None,
            "method": "; ".join(dict.fromkeys(methods)),
            "n_answers": len(whole),
            "groups": [
                {
                    "value": value,
                    "label": label_of({self.variable: value}),
                    "n_reports": None if estimate is None else estimate.n_reports,
                    "answers": [] if estimate is None else [one.row() for one in self._answers(estimate, level, rows)],
                }
                for value in self.stated
                for estimate in [self.estimates.get(value)]
            ],
        }

    def _answers(self, estimate: Estimated, level: float, rows: int | None) -> list[Answer]:
        found: list[Answer] = estimate.answers(level) if rows is None else estimate._beside(self.whole, rows, level)
        return found

    def to_json(self, level: float = 0.95) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(level), ensure_ascii=False)

    def as_table(self, level: float = 0.95) -> EstimateTable:
        """All answers of all groups below each other, with a column for the group."""
        parts = {value: estimate.as_table(level) for value, estimate in self.estimates.items()}
        about = {**self.whole.summary(level), "by": self.variable, "reports": self.n_reports}
        return stacked(parts, "group", about)

    def to_csv(self, path: FilePath | None = None, level: float = 0.95) -> str:
        """CSV with a heading and one row per group and answer, also written to a file if a path is given."""
        return write_csv(self.as_table(level), path)

    def to_parquet(self, path: FilePath, level: float = 0.95) -> None:
        """Write the same rows to a Parquet file. Needs pyarrow."""
        write_parquet(self.as_table(level), path)


def _cell(answer: Answer | None) -> str:
    return "" if answer is None else f"{answer.value_text} ({answer.interval_text})"
