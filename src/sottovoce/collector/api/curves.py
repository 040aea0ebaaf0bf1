"""The curve of a tracking survey: one answer over its periods, and the difference of two of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta

from sottovoce.collector.api.reading import (
    BYTES_PER_COUNTER,
    bytes_of_groups,
    check_minimum,
    n_of_large,
    reports_of,
    searched,
)
from sottovoce.collector.api.rendered import TAG, at_hand, rendered_from, response_of
from sottovoce.collector.api.service import CURVE_BYTES, Service
from sottovoce.collector.store.records import RoundStanding, SurveyRecord
from sottovoce.core.errors import NoReportsError, SottovoceError
from sottovoce.estimates.comparing import compare
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.watched import still_changing
from sottovoce.protocol.base import Level, SurveyId
from sottovoce.protocol.curves import CurveBody, DifferenceBody
from sottovoce.protocol.groups import GroupText, Variable
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.groups import typed_group
from sottovoce.surveys.survey import Tracking

__all__ = ["ROUTES"]

_MOST_LABELS: Final = 1000

_BYTES_PER_ANSWER: Final = 32

_ERRORS: Final = {
    409: "no period, or not the one asked for, has enough reports; or the survey has no calendar",
    422: "the answer or period does not exist",
    503: "too many requests are in progress, or the database is unavailable; try again later",
}

Answer = Annotated[
    str,
    Meta(
        max_length=1000, description="label of the answer that is followed; the first, or a number's mean, by default"
    ),
]
Smooth = Annotated[bool, Meta(description="whether a smoothed curve is computed too")]
OpenPeriods = Annotated[
    bool, Meta(description="whether intervals of open periods hold at every look together; else at one look")
]
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
    always: OpenPeriods = True,
    by: Variable | None = None,
    first: GroupText | None = None,
    second: GroupText | None = None,
) -> Response:
    """One answer over all periods so far, with intervals, a band, its trend and, if asked for, smoothed.

    With `by`, also of every group that a variable makes; and two groups compared, the first two or those named.
    """
    record, tracking, standing = await service.wait_for_store(_standing, service, survey_id)
    # Which periods are closed, and which were deleted, decides as much as how many reports there are.
    version = hash(tuple((entry.id, entry.counted, _is_unfinished(entry)) for entry in standing))
    asked = _GroupsAsked(by, first, second)
    asked.check(tracking)
    name = ("curve", answer, level, smooth, always, asked)
    if (known := at_hand(service, record, version, name)) is not None:
        return response_of(request, known)
    words = await _words_of(service, record, tracking, standing)

    def make() -> tuple[int, list[bytes]]:
        curve = _curve(service, record, tracking, standing, words)
        service.estimating.check_stop()
        with _as_refusals():
            body = _body(curve, answer, level, smooth=smooth, always=always)
            body |= asked.body(curve, body["answer"], level, always=always)
            return version, [msgspec.json.encode(body)]

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
    """The change of an answer from one period to another, with its interval."""
    record, tracking, standing = await service.wait_for_store(_standing, service, survey_id)
    words = await _words_of(service, record, tracking, standing)
    return await service.compute(_difference, service, record, tracking, standing, words, later, earlier, answer, level)


def _standing(service: Service, survey_id: str) -> tuple[SurveyRecord, Tracking, list[RoundStanding]]:
    record = service.record(survey_id)
    tracking = service.tracking(record)
    standing = [entry for entry in service.store.standing_rounds(record.id) if entry.state != "deleted"]
    check_minimum(record, max((entry.counted for entry in standing), default=0))
    return record, tracking, standing


def _is_unfinished(period: RoundStanding) -> bool:
    """Whether its estimate is still going to change."""
    return still_changing(period.state, period.waiting)


async def _words_of(
    service: Service, record: SurveyRecord, tracking: Tracking, standing: list[RoundStanding]
) -> dict[int, Estimate] | None:
    """Estimates of periods of words: each by a search that waits for its turn, and is kept even if the asker leaves.

    None for any other question, whose estimates are made at once.
    """
    if not tracking.question.is_searched:
        return None
    size = _held_bytes(tracking, standing)
    estimates: dict[int, Estimate] = {}
    for entry, told in await service.wait_for_store(_told, service, record, tracking, standing):
        estimate = (service.period_estimates.get(record.id) or {}).get(entry.round)
        if estimate is None or estimate.n_reports < told:
            period = await service.wait_for_store(service.record, entry.id)
            estimate = await searched(service, period, tracking.period(entry.round))
            known = service.period_estimates.get(record.id) or {}
            service.period_estimates.put(record.id, {**known, entry.round: estimate}, size)
        estimates[entry.round] = estimate
    return estimates


def _told(
    service: Service, record: SurveyRecord, tracking: Tracking, standing: list[RoundStanding]
) -> list[tuple[RoundStanding, int]]:
    """Periods with enough reports to tell anything, and the number that is told of: of groups with enough reports."""
    enough = [entry for entry in standing if entry.counted >= max(1, record.minimum_reports)]
    if tracking.groups is None:
        return [(entry, entry.counted) for entry in enough]
    told = [(entry, n_of_large(service, service.record(entry.id))) for entry in enough]
    check_minimum(record, max((n for _, n in told), default=0))
    return [(entry, n) for entry, n in told if n]


def _curve(
    service: Service,
    record: SurveyRecord,
    tracking: Tracking,
    standing: list[RoundStanding],
    words: dict[int, Estimate] | None,
) -> Curve:
    """The curve; estimates of periods that have no new reports are those of the last time."""
    estimates = words or {}
    if words is None:
        known = service.period_estimates.get(record.id) or {}
        for entry, told in _told(service, record, tracking, standing):
            estimate = known.get(entry.round)
            if estimate is None or estimate.n_reports != told:
                period = tracking.period(entry.round)
                estimate = period.estimate(reports_of(service, service.record(entry.id), period))
                service.estimating.check_stop()
            estimates[entry.round] = estimate
        size = sum(_BYTES_PER_ANSWER * len(estimate) + bytes_of_groups(estimate) for estimate in estimates.values())
        service.period_estimates.put(record.id, estimates, size)
    unfinished = frozenset(entry.round for entry in standing if _is_unfinished(entry))
    return Curve(tracking, estimates, range(1, standing[-1].round + 1), unfinished)


def _held_bytes(tracking: Tracking, standing: list[RoundStanding]) -> int:
    """Bytes of estimates of words, which hold their counts; a refusal if they are too many."""
    size = BYTES_PER_COUNTER * tracking.once.mechanism.cells * sum(entry.counted > 0 for entry in standing)
    if size > CURVE_BYTES:
        raise Refusal(
            409,
            "too_much",
            f"the counts of all these periods of words take {size:,} bytes, and {CURVE_BYTES:,} are held here: ask for "
            "one period, or estimate the curve elsewhere, with 'sottovoce estimate'",
        )
    return size


def _body(curve: Curve, answer: str | None, level: float, *, smooth: bool, always: bool) -> dict[str, Any]:
    labels = curve.followed_names(_MOST_LABELS)
    followed = answer if answer is not None else next(iter(labels), None)
    return {**_followed(curve, followed, level, smooth=smooth, always=always), "answers": labels}


def _followed(curve: Curve, answer: str | None, level: float, *, smooth: bool, always: bool) -> dict[str, Any]:
    body = curve.to_dict(answer, level, smooth, always)
    if body["trend"] is not None:
        body["trend"]["statement"] = str(curve.trend(answer, level))
    return body


class _GroupsAsked(NamedTuple):
    """What is asked of the groups of a tracking survey: the curves by a variable, and two groups compared."""

    by: str | None
    first: str | None
    second: str | None

    def check(self, tracking: Tracking) -> None:
        """Refuse what cannot be answered, before anything is computed."""
        if self == (None, None, None):
            return
        if tracking.groups is None:
            raise Refusal(409, "survey_without_groups", f"survey {tracking.id[:12]} has no groups: ask for its curve")
        if (self.first is None) != (self.second is None):
            field = "first" if self.first is None else "second"
            raise Refusal(422, "invalid_curve", "two groups are compared: give both, first and second", field=field)
        if tracking.question.is_searched:
            message = "words of groups over time are searched for elsewhere, with 'sottovoce estimate'"
            raise Refusal(422, "invalid_curve", message, field="by" if self.first is None else "first")

    def body(self, curve: Curve, answer: str, level: float, *, always: bool) -> dict[str, Any]:
        """The curves and the comparison, as far as they are asked for."""
        body: dict[str, Any] = {}
        if self.by is not None:
            curves = _by(curve, self.by)
            body["groups"] = [
                {"value": value, "label": f"{self.by} {value}", **_of_group(own, answer, level, always=always)}
                for value, own in curves.items()
            ]
            body["comparison"] = None
            if self.first is None and len(curves) > 1:
                pair = [{self.by: value} for value in curves][:2]
                with suppress(SottovoceError):  # medians are followed, and not compared
                    body["comparison"] = _compared(curve, pair, answer, level, always=always)
        if self.first is not None:
            pair = [_group(curve, name, getattr(self, name)) for name in ("first", "second")]
            body["comparison"] = _compared(curve, pair, answer, level, always=always)
        return body


def _by(curve: Curve, variable: str) -> dict[str, Curve]:
    try:
        return curve.by(variable)
    except SottovoceError as error:
        raise error.at("by") from None


def _group(curve: Curve, parameter: str, text: str) -> dict[str, str]:
    """The group that a parameter names."""
    for groups in (estimate.groups for estimate in curve.estimates.values()):
        if groups is not None:
            try:
                return groups.find(typed_group(text))
            except SottovoceError as error:
                raise error.at(parameter) from None
    raise NoReportsError("no period has reports of groups yet; ask again later").at(parameter)


def _of_group(curve: Curve, answer: str, level: float, *, always: bool) -> dict[str, Any]:
    body = _followed(curve, answer, level, smooth=False, always=always)
    return {name: body[name] for name in ("method", "points", "trend")}


def _compared(curve: Curve, groups: list[dict[str, str]], answer: str, level: float, *, always: bool) -> dict[str, Any]:
    first, second = groups
    return compare(curve, first, second, answers=[answer], level=level, always=always).to_dict(answer)


def _difference(
    service: Service,
    record: SurveyRecord,
    tracking: Tracking,
    standing: list[RoundStanding],
    words: dict[int, Estimate] | None,
    later: int,
    earlier: int,
    answer: str | None,
    level: float,
) -> DifferenceBody:
    curve = _curve(service, record, tracking, standing, words)
    followed = answer if answer is not None else next(iter(curve.followed_names(1)), None)
    with _as_refusals():
        difference = curve.difference(later, earlier, followed, level)
        picked = tracking.question.followed(followed)
    ends = difference.value, difference.raw, difference.low, difference.high
    return DifferenceBody(later, earlier, picked.name, picked.unit, picked.is_share, *ends, level, difference.method)


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
