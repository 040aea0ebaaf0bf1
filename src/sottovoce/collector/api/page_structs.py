"""The JSON of the addresses that the pages use: pictures of estimates, plans, drafts of surveys, questions."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from sottovoce.collector.api.structs import AnswerRow, Bound, Count, Delta, Hex64
from sottovoce.collector.panels import Panel

__all__ = [
    "BoundCurve",
    "Curve",
    "Curves",
    "Draft",
    "DraftAnswer",
    "IntegerRange",
    "Picture",
    "PlanRequest",
    "Planned",
    "PlannedBest",
    "PlannedCandidate",
    "Question",
    "QuestionAnswer",
    "Series",
    "TableBody",
]

Numbers: TypeAlias = list[float | None]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class _In(msgspec.Struct, forbid_unknown_fields=True):
    pass


class _Out(msgspec.Struct):
    pass


# --- what comes in ------------------------------------------------------------------------------


class IntegerRange(_In):
    """The integers from `start` to `stop`, both included."""

    start: Whole
    stop: Whole


Values: TypeAlias = list[str] | IntegerRange


class Draft(_In):
    """A survey as a form has it: the values people can have in one of three ways, or a workload, or a dimension."""

    kind: Literal["distribution", "queries", "mean", "adaptive"]
    epsilon: float
    title: str = ""
    labels: list[str] | None = None
    range: IntegerRange | None = None
    attributes: dict[str, Values] | None = None
    mechanism: str | None = None
    workload: str | None = None
    rounds: Whole | None = None
    dimension: Whole | None = None
    radius: float | None = None


class Question(_In):
    """What the next round shall ask: the mean of a query or, with `choices`, how people are distributed over them."""

    query: str
    choices: list[str] | Whole | None = None


class PlanRequest(_In):
    """A survey that is thought about, and two of `epsilon`, `users` and `target_error`; the third is worked out."""

    kind: Literal["distribution", "queries", "mean", "adaptive"]
    size: Whole | None = None
    workload: str | None = None
    dimension: Whole | None = None
    radius: float | None = None
    rounds: Whole | None = None
    epsilon: float | None = None
    users: Whole | None = None
    target_error: float | None = None
    max_report_bytes: Whole | None = None


# --- what goes out ------------------------------------------------------------------------------


class Picture(_Out):
    """Answers with intervals as columns, and how they are to be drawn; null stands for what is not finite."""

    survey: Hex64
    title: str
    kind: str
    mechanism: str
    epsilon: float
    delta: Delta
    n_reports: Count
    minimum_reports: Count
    waiting: Count
    level: float
    bound: Bound
    projection_gap: float
    projection: Annotated[str, Meta(description="on what the raw answers are projected")]
    answers: Annotated[int, Meta(ge=0, description="how many there are in all")]
    positions: Annotated[list[int] | None, Meta(description="where these stand among all, if not all are here")]
    labels: list[str]
    value: Annotated[Numbers, Meta(description="the projected answers")]
    raw: Annotated[Numbers, Meta(description="the unbiased ones")]
    low: Numbers
    high: Numbers
    panels: list[Panel]


class TableBody(_Out):
    """All answers with their intervals; null stands for a number that is not finite."""

    survey: Hex64
    title: str
    kind: str
    mechanism: str
    epsilon: float
    delta: Delta
    n_reports: Count
    level: float
    bound: Bound
    projection_gap: float
    answers: list[AnswerRow]


class BoundCurve(_Out):
    """What the expected error stays below, by the number of reports."""

    n: list[int]
    l2: list[float]
    margin: Annotated[Numbers, Meta(description="half of a rare value's 95 % interval; null where values differ")]
    statement: str


class Series(_Out):
    """One line of a chart; null where there is no point."""

    name: str
    y: Numbers


class Curve(_Out):
    """Lines over one axis."""

    x: list[float]
    series: list[Series]


class Curves(_Out):
    """The error against the number of people, and against epsilon, all else as planned."""

    users: Curve
    epsilon: Curve


class PlannedCandidate(_Out):
    """One way to run the survey; null where it cannot serve."""

    name: str
    l2: float | None
    margin: float | None
    report_bytes: int | None
    fits: bool


class PlannedBest(_Out):
    """The way to run it."""

    name: str
    report_bytes: int
    l2: float


class Planned(_Out):
    """A survey that can be run; `solved_for` names what was worked out."""

    solved_for: Literal["error", "users", "epsilon", "rounds"]
    epsilon: float
    users: int
    target_error: float
    rounds: int | None
    margin: float | None
    best: PlannedBest
    reason: str
    candidates: list[PlannedCandidate]
    curves: Curves
    notes: list[str]


class DraftAnswer(_Out):
    """A survey that can be published: send `statement` and `attachments` to /v1/surveys. Nothing has been kept."""

    id: Hex64
    statement: str
    attachments: dict[str, str]
    mechanism: str
    report_bytes: int
    explanation: str
    notes: list[str]


class QuestionAnswer(_Out):
    """A round that can be opened: send `statement` and `labels` to the survey's rounds. Nobody has been asked."""

    statement: str
    labels: list[str]
    round: Annotated[int, Meta(ge=1)]
    rounds: Annotated[int, Meta(ge=1)]
    query: Annotated[str, Meta(description="as it was understood")]
    n_expected_note: str
