"""Rounds of a panel: the surveys that ask its questions, one after another."""

from __future__ import annotations

from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_PEOPLE, DEFAULT_REPORT_BYTES
from sottovoce.expressions import Query
from sottovoce.expressions import query as as_query
from sottovoce.mechanisms.binary import Binary
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.surveys.choosing import design_for
from sottovoce.surveys.panel import Panel, Seat
from sottovoce.surveys.statement import check_title
from sottovoce.surveys.survey import Survey

__all__ = ["round_of"]


def round_of(panel: Panel, number: int, query: Query | str, size: int | None = None, *, title: str = "") -> Survey:
    """One round of a panel: the mean of a query or, with `size`, its distribution over 0 .. size-1.

    Examples
    --------
    >>> panel = Panel({"age": range(100), "country": ["DE", "FR"]}, rounds=5, epsilon=1.0)
    >>> round_of(panel, 1, "country == 'FR'").question.kind
    'vector'
    >>> round_of(panel, 2, "age // 10", size=10).question.kind
    'shares'
    """
    check_title(title)
    seat = Seat(panel, number, as_query(query))
    question = seat.mean() if size is None else seat.choice(size)
    mechanism = Binary.name if size is None else AUTO
    limits = DEFAULT_PEOPLE, AUTO, AUTO, DEFAULT_REPORT_BYTES, DEFAULT_COUNTERS
    setting = Setting(question.workload, panel.epsilon, 0.0, *limits)
    return Survey.of_design(question, design_for(question, setting, AUTO, mechanism, "l2"), title, seat=seat)
