"""The curve of a tracking survey: one answer over its periods, and the difference of two of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from sottovoce.collector.api.curve_structs import CurveBody, DifferenceBody
from sottovoce.collector.api.reading import aggregate_of, check_minimum
from sottovoce.collector.api.rendered import TAG, rendered_from, response_of
from sottovoce.collector.api.request import Request
from sottovoce.collector.api.response import Response
from sottovoce.collector.api.route import route
from sottovoce.collector.api.service import Service
from sottovoce.collector.api.structs import Level, SurveyId
from sottovoce.collector.refusal import Refusal
from sottovoce.collector.store.records import RoundStanding, SurveyRecord
from sottovoce.core.errors import NoReportsError, SottovoceError
from sottovoce.questions.number import Number
from sottovoce.surveys.curve import Curve
from sottovoce.surveys.estimate import Estimate
from sottovoce.surveys.series import answer_over_time
from sottovoce.surveys.survey import Tracking

__all__ = ["ROUTES"]

_MOST_LABELS: Final = 1000

_BYTES_PER_ANSWER: Final = 32

_FIGURES: Final = {
    "mean": ["mean"],
    "spread": ["mean", "standard deviation"],
    "distribution": ["mean", "standard deviation", "median"],
}
"""What can be followed of a number, by what its survey asks for."""

_ERRORS: Final = {
    409: "no period, or not the one asked for, has enough reports; or the survey has no calendar",
    422: "there is no such answer or period",
    503: "too many requests are in progress, or the database is unavailable; try again later",
}

Answer = Annotated[
    str,
    Meta(
        max_length=1000, description="label of the answer that is followed; the first, or a number's mean, by default"
    ),
]
Smooth = Annotated[bool, Meta(description="whether a smoothed curve is computed too")]
WhichPeriod = Annotated[int, Meta(ge=1, le=2**31, description="number of the period, from 1")]


@route(
    "GET",
    "/v1/surveys/{survey_id}/curve",
    scopes=("read",),
    responses={200: CurveBody},
    errors=_ERRORS,
    headers=TAG,
)
async def get_curve(
    service: Service,
    request: Request,
    survey_id: SurveyId,
    answer: Answer | None = None,
    level: Level = 0.95,
    smooth: Smooth = False,
) -> Response:
    """One answer over all periods so far, with intervals, a band, its trend and, if asked for, smoothed."""
    record, tracking, standing = await service.wait_for_store(_standing, service, survey_id)
    # Which periods are closed, and which were deleted, decides as much as how many reports there are.
    version = hash(tuple((one.id, one.counted, _is_unfinished(one)) for one in standing))

    def make() -> tuple[int, list[bytes]]:
        curve = _curve(service, record, tracking, standing)
        service.estimating.check_stop()
        with _as_refusals():
            return version, [msgspec.json.encode(_body(curve, tracking, answer, level, smooth=smooth))]

    name = ("curve", answer, level, smooth)
    made = await rendered_from(service, service.estimating, record, version, name, make)
    return response_of(request, made)


@route("GET", "/v1/surveys/{survey_id}/difference", scopes=("read",), errors=_ERRORS)
async def get_difference(
    service: Service,
    survey_id: SurveyId,
    later: WhichPeriod,
    earlier: WhichPeriod,
    answer: Answer | None = None,
    level: Level = 0.95,
) -> DifferenceBody:
    """By how much an answer changed from one period to another, with its interval."""
    record, tracking, standing = await service.wait_for_store(_standing, service, survey_id)
    return await service.compute(_difference, service, record, tracking, standing, later, earlier, answer, level)


def _standing(service: Service, survey_id: str) -> tuple[SurveyRecord, Tracking, list[RoundStanding]]:
    record = service.record(survey_id)
    tracking = service.tracking(record)
    standing = [one for one in service.store.standing_rounds(record.id) if one.state != "deleted"]
    check_minimum(record, max((one.counted for one in standing), default=0))
    return record, tracking, standing


def _is_unfinished(period: RoundStanding) -> bool:
    """Whether its estimate is still going to change."""
    return period.state == "open" or period.waiting > 0


def _curve(service: Service, record: SurveyRecord, tracking: Tracking, standing: list[RoundStanding]) -> Curve:
    """The curve; estimates of periods that have no new reports are those of the last time."""
    known = service.period_estimates.get(record.id) or {}
    estimates: dict[int, Estimate] = {}
    for one in standing:
        if one.counted >= max(1, record.minimum_reports):
            found = known.get(one.round)
            if found is None or found.n_reports != one.counted:
                period = tracking.period(one.round)
                found = period.estimate(aggregate_of(service, service.record(one.id), period))
                service.estimating.check_stop()
            estimates[one.round] = found
    size = _BYTES_PER_ANSWER * sum(map(len, estimates.values()))
    service.period_estimates.put(record.id, estimates, size)
    unfinished = frozenset(one.round for one in standing if _is_unfinished(one))
    return Curve(tracking, estimates, range(1, standing[-1].round + 1), unfinished)


def _body(curve: Curve, tracking: Tracking, answer: str | None, level: float, *, smooth: bool) -> dict[str, Any]:
    labels = _labels(tracking)
    followed = answer if answer is not None else _first(tracking)
    body = curve.to_dict(followed, level, smooth)
    if body["trend"] is not None:
        body["trend"]["statement"] = str(curve.trend(followed, level))
    return {**body, "answers": labels}


def _first(tracking: Tracking) -> str | None:
    """What is followed where nothing is named."""
    question = tracking.question
    return None if isinstance(question, Number) else question.label(0)


def _labels(tracking: Tracking) -> list[str]:
    question = tracking.question
    named = _FIGURES[question.wants] if isinstance(question, Number) else []
    return named + [question.label(index) for index in range(min(question.n_answers, _MOST_LABELS))]


def _difference(
    service: Service,
    record: SurveyRecord,
    tracking: Tracking,
    standing: list[RoundStanding],
    later: int,
    earlier: int,
    answer: str | None,
    level: float,
) -> DifferenceBody:
    curve = _curve(service, record, tracking, standing)
    followed = answer if answer is not None else _first(tracking)
    with _as_refusals():
        found = curve.difference(later, earlier, followed, level)
        picked = answer_over_time(tracking.question, followed)
    ends = found.value, found.low, found.high
    return DifferenceBody(later, earlier, picked.name, picked.unit, picked.share, *ends, level, found.method)


@contextmanager
def _as_refusals() -> Iterator[None]:
    """What the library refuses of the parameters."""
    try:
        yield
    except NoReportsError:
        raise
    except SottovoceError as error:
        raise Refusal(422, "invalid_curve", str(error), field=error.field or "answer") from None


ROUTES: Final = (get_curve, get_difference)
