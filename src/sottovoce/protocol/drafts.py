"""The JSON of questions, drafts, plans and rounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, field

from sottovoce.protocol.base import Delta, Hex64, RequestStruct, ResponseStruct
from sottovoce.protocol.estimates import ErrorBound
from sottovoce.protocol.pictures import Numbers
from sottovoce.protocol.surveys import CentralGuarantee
from sottovoce.questions.parameter import Kind
from sottovoce.surveys.relay import DEFAULT_CENTRAL_DELTA

__all__ = [
    "BoundCurveBody",
    "Defaults",
    "Draft",
    "DraftAnswer",
    "EveryPeriodCost",
    "ExpectedL2",
    "IntegerRange",
    "ParameterEntry",
    "PlanRequest",
    "Planned",
    "PlannedComparison",
    "PlannedCurve",
    "PlannedCurves",
    "PlannedOption",
    "PlannedTracking",
    "QuestionAnswer",
    "QuestionEntry",
    "Questions",
    "RelayRequest",
    "RoundQuestion",
    "Values",
]

Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Name = Annotated[str, Meta(max_length=64)]
Criterion: TypeAlias = Literal["l2", "margin"]


class IntegerRange(RequestStruct):
    """The integers from `start` to `stop`, both included."""

    start: Whole
    stop: Whole


class AttributeEntry(RequestStruct, kw_only=True):
    """An attribute of a record: labels, or integers from `start` to `stop`, both included.

    In a form it may also be a number from `low` to `high`, perhaps with a unit.
    """

    labels: list[str] | None = None
    start: Whole | None = None
    stop: Whole | None = None
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    points: Annotated[
        Whole | None, Meta(description="number of points of the grid that a number is rounded to at random")
    ] = None
    missing: Annotated[
        str | None, Meta(description='what missing values count as: "refuse", or "as" and a value; by default "refuse"')
    ] = None


Values: TypeAlias = list[str] | AttributeEntry


class _Asked(RequestStruct, kw_only=True):
    """A question and what its design is chosen by, as /v1/questions declares them; null stands for the default."""

    kind: Annotated[str, Meta(description="a kind of /v1/questions")]
    parameters: Annotated[
        dict[Name, Any],
        Meta(
            description="parameters by name, as /v1/questions declares them: numbers, a list of labels, a range as an "
            "object of start and stop, attributes as an object of such lists and ranges (in records also of numbers, "
            "as objects of low, high, and optionally unit and points; an object may also have labels, and missing, "
            "what missing values count as), a workload as text"
        ),
    ] = field(default_factory=dict)
    people: Whole | None = None
    delta: float | None = None
    strategy: Name | None = None
    mechanism: Name | None = None
    criterion: Criterion | None = None
    max_report_bytes: Whole | None = None
    max_counters: Whole | None = None


class RelayRequest(RequestStruct):
    """The relay that reports go through."""

    url: Annotated[str, Meta(description="https, or plain http on this machine")]
    least: Annotated[Whole, Meta(description="the smallest batch that it forwards: 2 or more")]
    delta: Annotated[float, Meta(description="delta of the central guarantee: above 0")] = DEFAULT_CENTRAL_DELTA


class Draft(_Asked, kw_only=True):
    """The fields of a form for a new survey."""

    epsilon: float
    title: str = ""
    calendar: Annotated[
        dict[Name, Any] | None,
        Meta(
            description="periods of a tracking survey, by the names that /v1/questions declares under calendar; "
            "null for a survey that is asked once"
        ),
    ] = None
    relay: Annotated[RelayRequest | None, Meta(description="null for reports that are sent directly")] = None
    groups: Annotated[
        dict[Name, list[Name]] | None,
        Meta(description="public variables and their values, sent in the open beside a report; null for none"),
    ] = None


class PlanRequest(_Asked, kw_only=True):
    """A question and two of `epsilon`, `people` and the error; the third is computed.

    With `central_epsilon` reports are shuffled: `delta` is that of the central guarantee, one of `people` and the error
    is given, and the largest local epsilon that the certificate allows, up to `epsilon`, is computed.

    The error is `margin` or `l2`; for a panel it is `error`, the largest over all rounds, and of that and
    the number of rounds any one may be left out. With `periods`, `renews` or both it is a tracking survey: the error is
    that of one period, or `change`, the smallest that is seen between two periods, and the people are those of all.

    Two groups that are compared have `difference` instead of an error, or `groups` with `epsilon` and `people` for the
    smallest difference that they show; the people are those of both.
    """

    epsilon: float | None = None
    central_epsilon: Annotated[
        float | None, Meta(description="central epsilon of the reports of one batch; null without a shuffler")
    ] = None
    least: Annotated[
        Whole | None, Meta(description="people in the smallest batch that the shuffler forwards; null for all of them")
    ] = None
    margin: float | None = None
    l2: float | None = None
    error: float | None = None
    share: Annotated[
        float | None, Meta(description="share of people with a word to be found; for words, instead of a margin")
    ] = None
    probability: Annotated[
        float | None, Meta(description="probability with which that word is to be found, for words; null for 0.9")
    ] = None
    slope_error: Annotated[
        float | None, Meta(description="standard error of a slope to reach; for relations, instead of a margin")
    ] = None
    of: Annotated[
        str | None, Meta(description="the regressor whose slope that is; null where a relation has only one")
    ] = None
    periods: Annotated[Whole | None, Meta(description="number of periods; null with `renews` for no end")] = None
    renews: Annotated[Whole | None, Meta(description="number of periods in which everybody answers once")] = None
    change: Annotated[
        float | None,
        Meta(description="smallest change that is seen, at 95 % with a power of 80 %; instead of a margin"),
    ] = None
    difference: Annotated[
        float | None,
        Meta(
            description="smallest difference that is seen between two groups, at 5 % (two-sided); instead of a margin"
        ),
    ] = None
    power: Annotated[float | None, Meta(description="probability with which that difference is seen; null for 0.8")] = (
        None
    )
    groups: Annotated[
        Whole | None, Meta(description="2 for the smallest difference that the people show; null with a difference")
    ] = None
    ratio: Annotated[
        float | None, Meta(description="people in the second group for each one in the first; null for 1")
    ] = None
    population: Annotated[
        Literal["uniform"] | list[float] | None,
        Meta(description="the share of people with each value; null for the worst case"),
    ] = None


class RoundQuestion(RequestStruct):
    """The question of the next round: the mean of a query or, with `choices`, the share of each choice."""

    query: str
    choices: list[str] | Whole | None = None


class BoundCurveBody(ResponseStruct):
    """What the expected error stays below, by the number of reports."""

    n: list[int]
    l2: list[float]
    margin: Annotated[Numbers, Meta(description="the largest margin of any answer (95 %)")]
    statement: str


class PlannedCurve(ResponseStruct):
    """Errors over one axis, one line per design; null where the design cannot be used."""

    x: list[float]
    lines: dict[str, Numbers]


class PlannedCurves(ResponseStruct):
    """The error by which designs were compared, against the number of people and against epsilon."""

    people: PlannedCurve
    epsilon: PlannedCurve


class PlannedOption(ResponseStruct):
    """One design; `reason` says why it cannot be chosen, and its numbers are then null."""

    name: str
    strategy: str | None
    mechanism: str | None
    fits: bool
    reason: str
    epsilon: float
    people: int
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


class EveryPeriodCost(ResponseStruct):
    """The cost if everybody answered in every period, with epsilon divided by the periods; null if no design serves."""

    epsilon: Annotated[float, Meta(description="epsilon of one answer")]
    margin: Annotated[float | None, Meta(description="margin of one period, with as many people as the plan has")]
    people: Annotated[int | None, Meta(description="number of people that the plan's error would take")]
    times: Annotated[float | None, Meta(description="`people` divided by the people of the plan")]
    reason: Annotated[str, Meta(description="why a number is null; else empty")]


class PlannedTracking(ResponseStruct):
    """The part of a plan that only a tracking survey has."""

    periods: Annotated[int | None, Meta(description="null for no end")]
    window: Annotated[int, Meta(description="number of periods in which everybody answers once")]
    windows: int | None
    people_per_period: int
    epsilon_in_all: Annotated[
        float | None, Meta(description="epsilon over all windows; null where it adds up without an end")
    ]
    change: Annotated[
        float, Meta(description="smallest change that is seen between two periods, at 95 % with a power of 80 %")
    ]
    every_period: EveryPeriodCost


class PlannedComparison(ResponseStruct):
    """The part of a plan that only two groups that are compared have."""

    groups: Annotated[list[int], Meta(description="people in the first group, and in the second")]
    ratio: Annotated[float, Meta(description="people in the second group for each one in the first")]
    difference: Annotated[float, Meta(description="smallest difference of one answer that is seen")]
    power: Annotated[float, Meta(description="probability with which it is seen, at 5 % and two-sided")]


class RecallByLength(ResponseStruct):
    """The recall of words of one length."""

    length: Annotated[int | None, Meta(description="in letters of one unit, or bytes; null for integers")]
    share: Annotated[float, Meta(description="the least share found with the probability asked for; 1 for none")]
    probabilities: Annotated[list[float], Meta(description="probability for each of `shares`")]


class PlannedRecall(ResponseStruct):
    """The probability that a word is found and certain, by the share of people who have it."""

    probability: Annotated[float, Meta(description="probability with which words are to be found")]
    target: Annotated[float | None, Meta(description="the share that was asked for, if any")]
    share: Annotated[float, Meta(description="the least share found with that probability, by words of any length")]
    statement: str
    shares: list[float]
    lengths: list[RecallByLength]


class ExpectedL2(ResponseStruct):
    """The expected L2 error over all answers, and the population that it is for."""

    l2: float
    people: Annotated[str, Meta(description="uniform values, or the given population")]


class Planned(ResponseStruct):
    """A survey that can be run; `solved_for` names the computed quantity.

    `rounds`, `radius` and `error` are for a panel, whose error is the largest over all rounds; there
    `margin`, `l2` and all else that belongs to one question are null.
    """

    question: str
    answers: int | None
    unit: Annotated[str, Meta(description="the unit of the answers, and so of a margin; empty for none")]
    epsilon: Annotated[float, Meta(description="local epsilon: that of one report")]
    delta: Delta
    central: Annotated[
        CentralGuarantee | None,
        Meta(description="guarantee with a shuffler, under which each option has its own epsilon; null without"),
    ]
    people: int
    solved_for: Literal["error", "people", "epsilon", "rounds"]
    criterion: Criterion | None
    target: Annotated[float | None, Meta(description="the error that was asked for, if any")]
    population: str
    margin: Annotated[
        float | None, Meta(description="half the width of the widest interval that an estimate will print (95 %)")
    ]
    l2: Annotated[float | None, Meta(description="a bound on the expected L2 error over all answers")]
    expected_l2: Annotated[
        ExpectedL2 | None, Meta(description="the L2 error to expect for one population; null where it is not known")
    ]
    bound: ErrorBound | None
    strategy: str | None
    mechanism: str
    reason: str
    recall: Annotated[
        PlannedRecall | None, Meta(description="recall of words; null unless the question asks for words")
    ]
    options: Annotated[list[PlannedOption], Meta(description="best first; those that cannot be chosen last")]
    curves: PlannedCurves
    survey: Annotated[Hex64 | None, Meta(description="the id of the planned survey, without a title")]
    notes: list[str]
    rounds: int | None
    radius: float | None
    error: float | None
    tracking: Annotated[
        PlannedTracking | None,
        Meta(description="plan of a tracking survey, whose people are those of all periods and errors those of one"),
    ]
    comparison: Annotated[
        PlannedComparison | None,
        Meta(description="plan of two groups, whose people are those of both and errors those of the first"),
    ]


class ParameterEntry(ResponseStruct):
    """A parameter of a question; `low` and `high` are the bounds of a number."""

    name: str
    kind: Kind
    help: str
    example: Annotated[str, Meta(description="example, as on the command line")]
    default: float | str | None
    required: bool
    group: Annotated[str, Meta(description="exactly one parameter of a group is given; empty for none")]
    low: float | None
    high: float | None
    choices: Annotated[list[str], Meta(description="allowed words; empty for other kinds")]


class QuestionEntry(ResponseStruct):
    """One kind of question and its parameters."""

    kind: str
    summary: str
    parameters: list[ParameterEntry]
    strategies: list[str]
    mechanisms: list[str]


class Defaults(ResponseStruct):
    """Default values; `level` is that of margins and intervals."""

    people: int
    max_report_bytes: int
    max_counters: int
    level: float


class Questions(ResponseStruct):
    """Every kind of question; and the calendar with which each but a panel becomes a tracking survey."""

    questions: list[QuestionEntry]
    calendar: list[ParameterEntry]
    defaults: Defaults


class DraftAnswer(ResponseStruct):
    """A survey that can be published: send `statement` and `attachments` to /v1/surveys. Nothing has been stored."""

    id: Hex64
    statement: str
    attachments: dict[str, str]
    strategy: Annotated[str | None, Meta(description="null for a panel")]
    mechanism: str
    report_bytes: int
    people: Annotated[int, Meta(description="the number of people for which these errors are expected, in all periods")]
    margin: Annotated[float | None, Meta(description="the largest margin of any answer (95 %); null for a panel")]
    l2: Annotated[float | None, Meta(description="the expected L2 error over all answers; null for a panel")]
    explanation: str
    promise: Annotated[
        str | None,
        Meta(description="privacy of a tracking survey, per window and over its life; null for others"),
    ]
    central: Annotated[
        CentralGuarantee | None, Meta(description="guarantee of reports that go through a relay; null without one")
    ]
    notes: list[str]


class QuestionAnswer(ResponseStruct):
    """A round that can be opened: send `statement` and `labels` to the survey's rounds. Nobody has been asked."""

    statement: str
    labels: list[str]
    round: Annotated[int, Meta(ge=1)]
    rounds: Annotated[int, Meta(ge=1)]
    query: Annotated[str, Meta(description="in canonical form")]
    n_expected_note: str
