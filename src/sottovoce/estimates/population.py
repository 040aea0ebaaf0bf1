"""A known population: the shares of its groups, from a mapping, a DataFrame or a file; weights that agree with them.

Weights are found by raking (iterative proportional fitting, Deming and Stephan 1940): cells are scaled to one margin
after the other until all agree. With one margin that is post-stratification. Only public numbers take part, the reports
of each group, so weights are fixed whatever was answered.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms.base import Floats

__all__ = ["KnownPopulation", "MarginClass", "Margins", "margin_classes", "rake", "read_population"]

Margins: TypeAlias = dict[str, dict[str, float]]
"""The share of every value of a variable in the population, by variable."""

KnownPopulation: TypeAlias = "Mapping[str, Mapping[str, float]] | str | PathLike[str] | Any"
"""Shares by variable and value; a DataFrame or a CSV file with the columns variable, value and share."""

_JOINED: Final = " or "
"""Joins values that are counted together."""

_COLUMNS: Final = ("variable", "value", "share")

_TOLERANCE: Final = 0.005
"""Published shares are rounded: up to this far from 1 they are scaled to it."""

_CLOSE: Final = 1e-12
_MOST_SWEEPS: Final = 10_000


def read_population(given: KnownPopulation) -> Margins:
    """The margins that are given, checked: shares that add up to 1.

    Examples
    --------
    >>> read_population({"age": {"18-29": 0.2, "30+": 0.8}})
    {'age': {'18-29': 0.2, '30+': 0.8}}
    """
    margins = _of_mapping(given) if isinstance(given, Mapping) else _of_rows(_rows(given))
    if not margins:
        raise SurveyError("population has no variable; give one, such as {'age': {'18-29': 0.2, '30+': 0.8}}").at(
            "population"
        )
    return {name: _scaled(name, shares) for name, shares in margins.items()}


def _of_mapping(given: Mapping[Any, Any]) -> dict[str, dict[str, Any]]:
    if not all(isinstance(shares, Mapping) for shares in given.values()):
        raise SurveyError(
            "population must map each variable to the shares of its values, such as {'age': {'18-29': 0.2, '30+': 0.8}}"
        ).at("population")
    return {str(name): {str(value): share for value, share in shares.items()} for name, shares in given.items()}


def _rows(given: Any) -> Iterable[tuple[Any, Any, Any]]:
    if hasattr(given, "columns"):
        if not set(_COLUMNS) <= set(given.columns):
            raise SurveyError(f"population must have the columns {', '.join(_COLUMNS)}").at("population")
        return list(given[list(_COLUMNS)].itertuples(index=False, name=None))
    if not isinstance(given, str | PathLike):
        raise SurveyError(
            "population must be a mapping, a DataFrame or a CSV file with the columns variable, value and share"
        ).at("population")
    path = Path(given)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not set(_COLUMNS) <= set(reader.fieldnames or ()):
                raise SurveyError(f"{path} must have a heading with the columns {', '.join(_COLUMNS)}").at("population")
            return [(row["variable"], row["value"], row["share"]) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SurveyError(f"{path} cannot be read as CSV; name a file that can").at("population") from error


def _of_rows(rows: Iterable[tuple[Any, Any, Any]]) -> dict[str, dict[str, Any]]:
    margins: dict[str, dict[str, Any]] = {}
    for variable, value, share in rows:
        shares = margins.setdefault(str(variable), {})
        if str(value) in shares:
            raise SurveyError(f"population gives {variable} {value} twice; give it once").at("population")
        shares[str(value)] = _number(share)
    return margins


def _number(share: object) -> object:
    if not isinstance(share, str):
        return share
    try:
        return float(share)
    except ValueError:
        return share


def _scaled(name: str, shares: Mapping[str, Any]) -> dict[str, float]:
    """Shares that add up to 1, after rounding errors are taken out."""
    for value, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) <= 1:
            raise SurveyError(f"the share of {name} {value} must be a number from 0 to 1").at("population")
    total = math.fsum(map(float, shares.values()))
    if abs(total - 1) > _TOLERANCE:
        raise SurveyError(
            f"the shares of {name} add up to {total:.4g}; they must add up to 1: give every value, and divide counts "
            "by their sum"
        ).at("population")
    return {value: float(share) / total for value, share in shares.items()}


class MarginClass(NamedTuple):
    """Values of a variable that the population counts together, usually one, and their share of it."""

    label: str
    values: tuple[str, ...]
    share: float


def margin_classes(variable: str, shares: Mapping[str, float], values: list[str]) -> list[MarginClass]:
    """The classes of a variable's values, in the order of the values; those without a share are the last, of share 0.

    A class is one value, or several joined by "or", which are weighed as if they were one.

    Examples
    --------
    >>> margin_classes("age", {"40-59 or 60+": 0.6, "18-39": 0.4}, ["18-39", "40-59", "60+"])[1]
    MarginClass(label='40-59 or 60+', values=('40-59', '60+'), share=0.6)
    """
    classes, seen = [], set[str]()
    for label, share in shares.items():
        parts = (label,) if label in values else tuple(label.split(_JOINED))
        unknown = [part for part in parts if part not in values]
        if unknown:
            raise SurveyError(
                f"population gives a share of {variable} {unknown[0]}, which the survey does not have; its values are "
                f"{', '.join(values)}"
            ).at("population")
        if seen & {*parts} or len({*parts}) < len(parts):
            raise SurveyError(f"population counts a value of {variable} twice, in {label!r}; count it once").at(
                "population"
            )
        seen |= {*parts}
        classes.append(MarginClass(label, parts, share))
    classes.sort(key=lambda one: min(map(values.index, one.values)))
    rest = tuple(value for value in values if value not in seen)
    return [*classes, *([MarginClass(_JOINED.join(rest), rest, 0.0)] if rest else [])]


def rake(start: Floats, margins: list[tuple[list[list[int]], Floats]]) -> Floats:
    """Weights of cells that have these margins, nearest to `start` in relative entropy.

    Parameters
    ----------
    start
        The share of each cell before; a cell of 0 stays 0.
    margins
        For each variable the cells of each of its values, and the shares that these must have.

    Examples
    --------
    >>> cells = np.array([0.4, 0.1, 0.3, 0.2])
    >>> rake(cells, [([[0, 1], [2, 3]], np.array([0.5, 0.5])), ([[0, 2], [1, 3]], np.array([0.5, 0.5]))]).round(4)
    array([0.3101, 0.1899, 0.1899, 0.3101])
    """
    weights = np.array(start, dtype=np.float64)
    for _ in range(_MOST_SWEEPS):
        farthest = 0.0
        for cells, shares in margins:
            for members, share in zip(cells, shares, strict=True):
                held = float(weights[members].sum())
                farthest = max(farthest, abs(held - share))
                weights[members] *= share / held if held > 0 else 0.0
        if farthest < _CLOSE:
            return weights
    raise SurveyError(
        "no weights have all these margins: some combinations of values have no reports; leave a variable out, or "
        "merge values"
    ).at("population")
