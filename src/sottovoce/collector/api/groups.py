"""The public groups of a survey: listed, side by side, compared, and weighed to a known population."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from sottovoce.collector.api.reading import answerable_survey
from sottovoce.collector.api.rendered import TAG, Rendered, check_rows, rendered_estimate, response_of
from sottovoce.collector.api.service import Service
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.errors import NoReportsError, SottovoceError
from sottovoce.estimates.comparing import compare
from sottovoce.estimates.comparison import Comparison
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.table_files import to_csv
from sottovoce.protocol.base import Level, Looks, SurveyId
from sottovoce.protocol.groups import (
    AnswerName,
    ByGroupBody,
    ComparisonBody,
    GroupText,
    Variable,
    WeightedBody,
    Weighting,
)
from sottovoce.protocol.surveys import GroupList, GroupStatus
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import Response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.groups import Groups, typed_group
from sottovoce.surveys.survey import Survey

__all__ = ["ROUTES"]

_CSV: Final = "text/csv; charset=utf-8"

_NO_GROUPS: Final = "the survey has no groups, or is a panel or a tracking survey"

_MOST_IN_ADDRESS: Final = 10
"""Answers that an address names."""

_ABOUT: Final[dict[str, Any]] = {
    "scopes": ("read",),
    "errors": {
        409: f"a group has too few reports, or there are too many answers; or {_NO_GROUPS}",
        422: "the variable, group, answer or population is not one of this survey; `field` says which",
        503: "too many requests are in progress, or the database is unavailable; try again later",
    },
}
_FILE: Final[dict[str, Any]] = {**_ABOUT, "headers": {"Content-Disposition": "that it is a file, and its name", **TAG}}

Rows = Annotated[int, Meta(ge=1, le=1000, description="most answers of a group: the first ones of everybody")]
Named = Annotated[
    list[AnswerName],
    Meta(
        max_length=_MOST_IN_ADDRESS,
        description="an answer that is compared, given again for every further one; all of them where there is none; "
        "words must be named, chosen without looking at the estimates",
    ),
]


@route("GET", "/v1/surveys/{survey_id}/groups", scopes=("read",), errors={409: _NO_GROUPS})
async def list_groups(service: Service, survey_id: SurveyId) -> GroupList:
    """The public groups of a survey, each with its own survey's id and its reports."""
    return await service.wait_for_store(_listed, service, survey_id)


def _listed(service: Service, survey_id: str) -> GroupList:
    record, _, groups = _grouped(service, survey_id)
    standing = {entry.round: entry for entry in service.store.standing_rounds(record.id)}
    return GroupList(
        {name: list(values) for name, values in groups.variables},
        [
            GroupStatus(
                number=group.number,
                id=entry.id,
                label=group.label,
                values=group.values,
                state=entry.state,
                n_reports=entry.counted,
                waiting=entry.waiting,
            )
            for group in groups
            if (entry := standing.get(group.number)) is not None
        ],
    )


def _grouped(service: Service, survey_id: str) -> tuple[SurveyRecord, Survey, Groups]:
    """The survey of that id, if people answer it in groups."""
    record, survey = answerable_survey(service, survey_id)
    if survey.groups is None or not record.has_groups:
        raise Refusal(409, "survey_without_groups", f"survey {record.id[:12]} has no groups: ask for its estimate")
    return record, survey, survey.groups


def _weighable(service: Service, survey_id: str) -> tuple[SurveyRecord, Survey, Groups | None]:
    """The survey of that id, if people answer it in groups, or with a form, whose fields are weighed by too."""
    record, survey = answerable_survey(service, survey_id)
    return (record, survey, survey.groups) if survey.question.field_names else _grouped(service, survey_id)


@route("GET", "/v1/surveys/{survey_id}/by", responses={200: ByGroupBody}, headers=TAG, **_ABOUT)
async def get_by_group(
    service: Service,
    request: Request,
    survey_id: SurveyId,
    variable: Variable,
    level: Level = 0.95,
    always: Looks = "0",
    rows: Rows = 20,
) -> Response:
    """The estimates of the groups that a variable makes, side by side, from the reports of each alone."""

    def write(estimate: Estimate) -> list[bytes]:
        return [msgspec.json.encode(estimate.by(variable).to_dict(level, rows))]

    return response_of(request, await _written(service, survey_id, always, ("by", variable, level, rows), write))


@route("GET", "/v1/surveys/{survey_id}/by.csv", responses={200: _CSV}, **_FILE)
async def get_by_group_csv(
    service: Service,
    request: Request,
    survey_id: SurveyId,
    variable: Variable,
    level: Level = 0.95,
    always: Looks = "0",
) -> Response:
    """All answers of all groups that a variable makes, as CSV with a row for each group and answer."""

    def write(estimate: Estimate) -> list[bytes]:
        return to_csv(estimate.by(variable).as_table(level), service.estimating.check_stop)

    made = await _written(service, survey_id, always, ("by.csv", variable, level), write)
    return _as_file(request, made, survey_id, "by")


@route("GET", "/v1/surveys/{survey_id}/comparison", responses={200: ComparisonBody}, headers=TAG, **_ABOUT)
async def get_comparison(
    service: Service,
    request: Request,
    survey_id: SurveyId,
    first: GroupText,
    second: GroupText,
    answer: Named | None = None,
    level: Level = 0.95,
    always: Looks = "0",
) -> Response:
    """The differences of two groups, the first less the second, with intervals and tests."""

    def write(estimate: Estimate) -> list[bytes]:
        return [msgspec.json.encode(_compared(estimate, first, second, answer, level).to_dict())]

    name = ("comparison", first, second, *(answer or ()), level)
    return response_of(request, await _written(service, survey_id, always, name, write))


@route("GET", "/v1/surveys/{survey_id}/comparison.csv", responses={200: _CSV}, **_FILE)
async def get_comparison_csv(
    service: Service,
    request: Request,
    survey_id: SurveyId,
    first: GroupText,
    second: GroupText,
    answer: Named | None = None,
    level: Level = 0.95,
    always: Looks = "0",
) -> Response:
    """The differences of two groups, with intervals and tests, as CSV."""

    def write(estimate: Estimate) -> list[bytes]:
        return to_csv(_compared(estimate, first, second, answer, level).as_table(), service.estimating.check_stop)

    name = ("comparison.csv", first, second, *(answer or ()), level)
    return _as_file(request, await _written(service, survey_id, always, name, write), survey_id, "comparison")


@route("POST", "/v1/surveys/{survey_id}/weighted", responses={200: WeightedBody}, **_ABOUT)
async def weigh(service: Service, request: Request, survey_id: SurveyId, body: Weighting) -> Response:
    """The answers of a population whose shares are known, from people who are not like it; nothing is stored."""

    def write(estimate: Estimate) -> list[bytes]:
        weighted = estimate.weighted(body.population, body.answers, body.level, body.method)
        return [msgspec.json.encode(weighted.to_dict())]

    name = ("weighted", msgspec.json.encode(body))
    return response_of(request, await _written(service, survey_id, "0", name, write, _weighable))


def _compared(estimate: Estimate, first: str, second: str, answers: list[str] | None, level: float) -> Comparison:
    one, other = _arm(estimate, first, "first"), _arm(estimate, second, "second")
    try:
        return compare(one, other, answers=answers or None, level=level)
    except SottovoceError as error:
        raise error.at("answer") if error.field == "answers" else error from None


def _arm(estimate: Estimate, text: str, parameter: str) -> Estimate:
    try:
        return estimate.in_group(typed_group(text))
    except SottovoceError as error:
        raise error.at(parameter) from None


async def _written(
    service: Service,
    survey_id: str,
    always: str,
    name: tuple[object, ...],
    write: Callable[[Estimate], list[bytes]],
    find: Callable[[Service, str], tuple[SurveyRecord, Survey, Groups | None]] = _grouped,
) -> Rendered:
    """What is written of the groups, made once for a number of reports; words are searched for in each group."""
    record, survey, groups = await service.wait_for_store(find, service, survey_id)
    check_rows(
        record, survey.n_answers * len(groups or (None,)), "ask for the estimate of one group, listed at its /groups"
    )

    def write_or_refuse(estimate: Estimate) -> list[bytes]:
        with _as_refusals(record):
            return write(estimate)

    work = service.searching if survey.question.is_searched else service.estimating
    return await rendered_estimate(service, work, record, survey, always, name, write_or_refuse)


@contextmanager
def _as_refusals(record: SurveyRecord) -> Iterator[None]:
    """What the library refuses of the parameters; a group below the minimum is as one without reports."""
    try:
        yield
    except NoReportsError as error:
        note = f"; groups are told of from {max(1, record.minimum_reports):,} counted reports on"
        raise Refusal(409, "too_few_reports", f"{error}{note}", field=error.field) from None
    except SottovoceError as error:
        raise Refusal(422, "invalid_groups", str(error), field=error.field) from None


def _as_file(request: Request, made: Rendered, survey_id: str, what: str) -> Response:
    headers: dict[str, Any] = {"Content-Disposition": f'attachment; filename="survey-{survey_id[:12]}-{what}.csv"'}
    return response_of(request, made, media_type=_CSV, headers=headers)


ROUTES: Final = (
    list_groups,
    get_by_group,
    get_by_group_csv,
    get_comparison,
    get_comparison_csv,
    weigh,
)
