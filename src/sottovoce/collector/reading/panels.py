"""How a survey's answers are drawn: bars, a distribution function, heat maps of tables, intervals of a line.

A panel says how a slice of the answers, in their own order, is to be looked at; it holds no answer itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Final

from sottovoce.domain import Domain, ProductDomain
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.protocol.pictures import Bars, Cdf, Heatmap, Intervals, Panel
from sottovoce.questions.number import Number
from sottovoce.questions.shares import Shares
from sottovoce.workloads import Bins, Identity, Marginals, Prefix, Ranges, Stack, Workload
from sottovoce.workloads.body import Body
from sottovoce.workloads.naming import is_text_labelled
from sottovoce.workloads.order import is_decreasing
from sottovoce.workloads.record_tables import RecordTables
from sottovoce.workloads.sets import Sets

__all__ = ["panels_of"]


_WIDEST: Final = 512
"""Most rows or columns of a heat map of records, whose cells can still be told apart."""


def panels_of(survey: AskedSurvey) -> list[Panel]:
    """The pictures of a survey's answers; they cover each answer at least once, but for moments of a number.

    Examples
    --------
    >>> from sottovoce.surveys.survey import Survey
    >>> [panel.title for panel in panels_of(Survey.queries(Marginals(k=2, age=3, sex=2, city=4), 1.0))]
    ['age x sex', 'age x city', 'sex x city']
    """
    if survey.seat is not None:
        shares = survey.kind == Shares.kind
        return [Bars("share of each choice" if shares else "mean", 0, survey.n_answers, shares)]
    if isinstance(survey.question, Number):
        return list(_number(survey.question))
    workload = survey.question.workload
    if isinstance(workload, Body):
        return list(_body(workload))
    return list(_workload(workload, 0, ""))


def _number(question: Number) -> Iterator[Panel]:
    """A distribution's curve; of a mean and a spread there are figures instead, see `reading.figures`."""
    if question.wants == "distribution":
        title = f"share of people at or below each number{question.grid.unit and f' ({question.grid.unit})'}"
        yield Cdf(title, 0, question.n_answers, True, list(question.ends[1:].tolist()))


def _body(body: Body) -> Iterator[Panel]:
    match body:
        case Sets():
            yield Bars("share of people who tick each option", 0, body.n_queries, shares=True)
        case RecordTables():
            for table, start in zip(body.tables, body.starts, strict=False):
                yield from _table([body.cells.attributes[place] for place in table], start, "")
        case _:
            yield Bars("mean of each coordinate", 0, body.n_queries, shares=False)


def _workload(workload: Workload, start: int, times: str) -> Iterator[Panel]:
    stop = start + workload.n_queries
    match workload:
        case Stack():
            for part, weight in zip(workload.parts, workload.weights, strict=True):
                yield from _workload(part, start, "" if weight == 1 else f", times {weight:g}")
                start += part.n_queries
        case Identity():
            yield from _values(workload.domain, start, times, "share of each value")
        case Prefix():
            side = "or above" if is_decreasing(workload.domain) else "or below"
            title = f"share of people at {side} each value{times}"
            yield Cdf(title, start, stop, not times, _line(workload.domain))
        case Ranges():
            yield _intervals(workload, start, times)
        case Marginals():
            yield from _tables(workload, start, times)
        case _:
            yield Bars(f"{workload.kind}{times}", start, stop, isinstance(workload, Bins) and not times)


def _values(domain: Domain, start: int, times: str, title: str) -> Iterator[Panel]:
    yield Bars(title + times, start, start + domain.size, not times)
    if isinstance(domain, ProductDomain) and len(domain.attributes) == 2:
        (row_name, rows), (column_name, columns) = domain.attributes
        if max(rows.size, columns.size) <= _WIDEST:
            yield _heatmap(start, row_name, rows, column_name, columns, times)


def _tables(workload: Marginals, start: int, times: str) -> Iterator[Panel]:
    """In the workload's order: lexicographic in the attributes, the last one's values fastest."""
    for attributes in combinations(workload.domain.attributes, workload.k):
        yield from _table(attributes, start, times)
        start += prod(inner.size for _, inner in attributes)


def _table(attributes: Sequence[tuple[str, Domain]], start: int, times: str) -> Iterator[Panel]:
    if len(attributes) == 2:
        (row_name, rows), (column_name, columns) = attributes
        yield _heatmap(start, row_name, rows, column_name, columns, times)
    else:
        size = prod(inner.size for _, inner in attributes)
        yield Bars(" x ".join(name for name, _ in attributes) + times, start, start + size, not times)


def _heatmap(start: int, row_name: str, rows: Domain, column_name: str, columns: Domain, times: str) -> Heatmap:
    return Heatmap(
        title=f"{row_name} x {column_name}{times}",
        start=start,
        stop=start + rows.size * columns.size,
        shares=not times,
        rows=rows.labels(),
        columns=columns.labels(),
        row_name=row_name,
        column_name=column_name,
    )


def _line(domain: Domain) -> list[float | str]:
    return [label if is_text_labelled(domain) else int(label) for label in domain.labels()]


def _intervals(workload: Ranges, start: int, times: str) -> Intervals:
    size = workload.domain.size
    line = _line(workload.domain)
    places = [place for place in line if isinstance(place, int)] or list(range(size))
    return Intervals(
        title=f"share of people within each range{times}",
        start=start,
        stop=start + workload.n_queries,
        shares=not times,
        lows=[places[first] for first in range(size) for _ in range(first, size)],
        highs=[places[last] for first in range(size) for last in range(first, size)],
        ends=[places[0], places[-1]],
        names=[str(name) for name in line] if is_text_labelled(workload.domain) else None,
    )
