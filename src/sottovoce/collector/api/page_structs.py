"""The JSON of the addresses that the pages use: what can be asked, drafts, plans, rounds, pictures of estimates."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from sottovoce.collector.api.structs import AnswerRow, Bound, Count, Delta, Hex64
from sottovoce.collector.panels import Panel

__all__ = [
    "BoundCurve",
    "Curve",
    "Curves",
    "Defaults",
    "Draft",
    "DraftAnswer",
    "IntegerRange",
    "ParameterEntry",
    "Picture",
    "PlanRequest",
    "Planned",
    "PlannedOption",
    "Question",
    "QuestionAnswer",
    "QuestionEntry",
    "Questions",
    "TableBody",
    "Values",
]

Numbers: TypeAlias = list[float | None]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Name = Annotated[str, Meta(max_length=64)]
Criterion: TypeAlias = Literal["l2", "margin"]


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


class _Asked(_In, kw_only=True):
    """A question and what its design is chosen by, as /v1/questions declares them; null stands for the default."""

    kind: Annotated[str, Meta(description="one of those that /v1/questions lists")]
    parameters: Annotated[
        dict[Name, Any],
        Meta(
            description="by name, as /v1/questions declares them: numbers, a list of labels, a range as an object of "
            "start and stop, attributes as an object of such lists and ranges, a workload as text"
        ),
    ] = {}
    users: Whole | None = None
    delta: float | None = None
    strategy: Name | None = None
    mechanism: Name | None = None
    criterion: Criterion | None = None
    max_report_bytes: Whole | None = None
    max_counters: Whole | None = None


class Draft(_Asked, kw_only=True):
    """A survey as a form has it."""

    epsilon: float
    title: str = ""


class PlanRequest(_Asked, kw_only=True):
    """A question that is thought about, and two of `epsilon`, `users` and the error; the third is worked out.

    The error is `margin` or `l2`; for a panel it is `error`, the largest over all rounds, and of that and
    the number of rounds any one may be left out.
    """

    epsilon: float | None = None
    margin: float | None = None
    l2: float | None = None
    error: float | None = None
    population: Annotated[
        Literal["uniform"] | list[float] | None,
        Meta(description="the share of people with each value; null for the worst case"),
    ] = None


class Question(_In):
    """What the next round shall ask: the mean of a query or, with `choices`, how people are distributed over them."""

    query: str
    choices: list[str] | Whole | None = None


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
    margin: Annotated[Numbers, Meta(description="of the least certain answer, at 95 %")]
    statement: str


class Curve(_Out):
    """Errors over one axis, one line per design; null where it cannot serve."""

    x: list[float]
    lines: dict[str, Numbers]


class Curves(_Out):
    """The error by which designs were compared, against the number of people and against epsilon."""

    users: Curve
    epsilon: Curve


class PlannedOption(_Out):
    """One design; null where there is none, and `reason` says why it cannot be chosen."""

    name: str
    strategy: str | None
    mechanism: str | None
    fits: bool
    reason: str
    epsilon: float
    users: int
    margin: float | None
    l2: float | None
    l2_raw: Annotated[float | None, Meta(description="the L2 error before answers are projected")]
    status: Annotated[
        Literal["exact", "bound", "within"] | None,
        Meta(description="whether the variance behind the errors is exact, a bound, or within a stated error"),
    ]
    bound: float | None
    bound_statement: str | None
    report_bytes: int | None
    fetched_bytes: int | None


class Planned(_Out):
    """A survey that can be run; `solved_for` names what was worked out.

    `rounds`, `radius` and `error` are for a panel, whose error is the largest over all rounds; there
    `margin`, `l2` and whatever else belongs to one question are null.
    """

    question: str
    answers: int | None
    epsilon: float
    delta: Delta
    users: int
    solved_for: Literal["error", "users", "epsilon", "rounds"]
    criterion: Criterion | None
    target: Annotated[float | None, Meta(description="the error that was to be reached, if one was given")]
    population: str
    margin: Annotated[float | None, Meta(description="of the least certain answer, at 95 %")]
    l2: Annotated[float | None, Meta(description="the L2 error over all answers that is to be expected")]
    bound: Bound | None
    strategy: str | None
    mechanism: str
    reason: str
    options: Annotated[list[PlannedOption], Meta(description="the best first, those that cannot be chosen last")]
    curves: Curves
    survey: Annotated[Hex64 | None, Meta(description="the id of the planned survey, without a title")]
    notes: list[str]
    rounds: int | None = None
    radius: float | None = None
    error: float | None = None


class ParameterEntry(_Out):
    """What a question is made with; `low` and `high` are those of a number."""

    name: str
    kind: Literal["integer", "number", "labels", "range", "attributes", "workload"]
    help: str
    example: Annotated[str, Meta(description="as it is written on the command line")]
    default: float | None
    required: bool
    group: Annotated[str, Meta(description="exactly one parameter of a group is given; empty for none")]
    low: float | None = None
    high: float | None = None


class QuestionEntry(_Out):
    """One kind of question: what a form for it asks."""

    kind: str
    summary: str
    parameters: list[ParameterEntry]
    strategies: list[str]
    mechanisms: list[str]


class Defaults(_Out):
    """What holds where it is not given; `level` is that of margins and intervals."""

    users: int
    max_report_bytes: int
    max_counters: int
    level: float


class Questions(_Out):
    """Every kind of question that can be asked."""

    questions: list[QuestionEntry]
    defaults: Defaults


class DraftAnswer(_Out):
    """A survey that can be published: send `statement` and `attachments` to /v1/surveys. Nothing has been kept."""

    id: Hex64
    statement: str
    attachments: dict[str, str]
    strategy: Annotated[str | None, Meta(description="null where there are rounds, each with its own")]
    mechanism: str
    report_bytes: int
    users: Annotated[int, Meta(description="with how many people these errors are to be expected")]
    margin: Annotated[float | None, Meta(description="of the least certain answer, at 95 %; null for rounds")]
    l2: Annotated[float | None, Meta(description="over all answers; null for rounds")]
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
