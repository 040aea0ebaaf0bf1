"""An estimate as a file: CSV, JSON, Parquet or Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sottovoce.collector.api.reading import answerable_survey
from sottovoce.collector.api.rendered import TAG, check_rows, rendered_table, response_of
from sottovoce.collector.api.service import Service
from sottovoce.collector.reading.table_files import to_json
from sottovoce.estimates.table_files import CheckStop, EstimateTable, to_arrow, to_csv, to_parquet
from sottovoce.protocol.base import Level, Looks, SurveyId
from sottovoce.protocol.pictures import TableBody
from sottovoce.service.http.request import Request
from sottovoce.service.http.response import JSON, Response
from sottovoce.service.http.route import route

__all__ = ["ROUTES"]

_CSV: Final = "text/csv; charset=utf-8"
_PARQUET: Final = "application/vnd.apache.parquet"
_ARROW: Final = "application/vnd.apache.arrow.file"


def _whole_json(table: EstimateTable, check_stop: CheckStop) -> list[bytes]:
    return [*to_json(table, check_stop), b"}"]


_ABOUT: Final = {
    "scopes": ("read",),
    "errors": {
        409: "there are too few reports or too many answers, or the survey is a panel: its rounds have the reports",
        503: "too many tables are being written, or the database is unavailable; try again later",
    },
    "headers": {"Content-Disposition": "that it is a file, and its name", **TAG},
}


@route("GET", "/v1/surveys/{survey_id}/table.csv", responses={200: _CSV}, **_ABOUT)
async def get_table_csv(
    service: Service, request: Request, survey_id: SurveyId, level: Level = 0.95, always: Looks = "0"
) -> Response:
    """All answers with intervals from all reports so far, as CSV."""
    return await _file(service, request, survey_id, level, always, to_csv, "csv", _CSV)


@route("GET", "/v1/surveys/{survey_id}/table.json", responses={200: TableBody}, **_ABOUT)
async def get_table_json(
    service: Service, request: Request, survey_id: SurveyId, level: Level = 0.95, always: Looks = "0"
) -> Response:
    """All answers with intervals from all reports so far, as a file of JSON."""
    return await _file(service, request, survey_id, level, always, _whole_json, "json", JSON)


@route("GET", "/v1/surveys/{survey_id}/table.parquet", responses={200: _PARQUET}, **_ABOUT)
async def get_table_parquet(
    service: Service, request: Request, survey_id: SurveyId, level: Level = 0.95, always: Looks = "0"
) -> Response:
    """All answers with intervals from all reports so far, as Parquet."""
    return await _file(service, request, survey_id, level, always, to_parquet, "parquet", _PARQUET)


@route("GET", "/v1/surveys/{survey_id}/table.arrow", responses={200: _ARROW}, **_ABOUT)
async def get_table_arrow(
    service: Service, request: Request, survey_id: SurveyId, level: Level = 0.95, always: Looks = "0"
) -> Response:
    """All answers with intervals from all reports so far, as an Arrow file (Feather)."""
    return await _file(service, request, survey_id, level, always, to_arrow, "arrow", _ARROW)


async def _file(
    service: Service,
    request: Request,
    survey_id: str,
    level: float,
    always: str,
    write: Callable[[EstimateTable, CheckStop], list[bytes]],
    ending: str,
    media_type: str,
) -> Response:
    record, survey = await service.wait_for_store(answerable_survey, service, survey_id)
    check_rows(record, survey.n_answers, "fetch the estimate in pages, or the aggregate and estimate elsewhere")
    made = await rendered_table(service, service.tables, record, survey, level, always, (ending,), write)
    name = f"survey-{record.id[:12]}.{ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return response_of(request, made, media_type=media_type, headers=headers)


ROUTES: Final = (get_table_csv, get_table_json, get_table_parquet, get_table_arrow)
