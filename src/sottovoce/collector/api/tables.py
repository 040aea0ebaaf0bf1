"""An estimate as a file: CSV, JSON or Parquet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from sottovoce.collector.api.page_structs import TableBody
from sottovoce.collector.api.reading import answerable_survey, estimate_of
from sottovoce.collector.api.response import JSON, Response
from sottovoce.collector.api.route import route
from sottovoce.collector.api.service import Service
from sottovoce.collector.api.structs import AnswerRow, Level, SurveyId
from sottovoce.collector.refusal import Refusal
from sottovoce.collector.table_files import CheckStop, EstimateTable, never_stop, table_of, to_csv, to_parquet

__all__ = ["MOST_ROWS", "ROUTES"]

MOST_ROWS: Final = 2**20
"""Most answers of a file: more would be some hundred megabytes."""

_CSV: Final = "text/csv; charset=utf-8"
_PARQUET: Final = "application/vnd.apache.parquet"


def _to_json(table: EstimateTable, check_stop: CheckStop = never_stop) -> bytes:
    rows = [AnswerRow(*row) for row in table.rows(check_stop)]
    check_stop()
    return msgspec.json.encode(TableBody(**table.about, answers=rows))


_ABOUT: Final = {
    "scopes": ("read",),
    "errors": {
        409: "there are too few reports or too many answers, or the survey is adaptive: its rounds have the reports",
        503: "too many tables are being written, or the database is unavailable; try again later",
    },
    "headers": {"Content-Disposition": "that it is a file, and its name"},
}


@route("GET", "/v1/surveys/{survey_id}/table.csv", responses={200: _CSV}, **_ABOUT)
async def get_table_csv(service: Service, survey_id: SurveyId, level: Level = 0.95) -> Response:
    """All answers with intervals from all reports so far, as CSV."""
    return await _file(service, survey_id, level, to_csv, "csv", _CSV)


@route("GET", "/v1/surveys/{survey_id}/table.json", responses={200: TableBody}, **_ABOUT)
async def get_table_json(service: Service, survey_id: SurveyId, level: Level = 0.95) -> Response:
    """All answers with intervals from all reports so far, as a file of JSON."""
    return await _file(service, survey_id, level, _to_json, "json", JSON)


@route("GET", "/v1/surveys/{survey_id}/table.parquet", responses={200: _PARQUET}, **_ABOUT)
async def get_table_parquet(service: Service, survey_id: SurveyId, level: Level = 0.95) -> Response:
    """All answers with intervals from all reports so far, as Parquet."""
    return await _file(service, survey_id, level, to_parquet, "parquet", _PARQUET)


async def _file(
    service: Service,
    survey_id: str,
    level: float,
    write: Callable[[EstimateTable, CheckStop], bytes],
    ending: str,
    media_type: str,
) -> Response:
    check_stop = service.tables.check_stop
    survey_id, content = await service.tables.run(_written, service, survey_id, level, write, check_stop)
    name = f"survey-{survey_id[:12]}.{ending}"
    return Response(content, media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _written(
    service: Service,
    survey_id: str,
    level: float,
    write: Callable[[EstimateTable, CheckStop], bytes],
    check_stop: CheckStop,
) -> tuple[str, bytes]:
    record, survey = answerable_survey(service, survey_id)
    if survey.n_answers > MOST_ROWS:
        raise Refusal(
            409,
            "too_much",
            f"survey {record.id[:12]} has {survey.n_answers:,} answers, and a file holds {MOST_ROWS:,}; fetch the "
            "aggregate and estimate elsewhere",
        )
    estimate = estimate_of(service, record, survey)
    check_stop()
    table = table_of(estimate, level, record.labels, check_stop)
    check_stop()
    return record.id, write(table, check_stop)


ROUTES: Final = (get_table_csv, get_table_json, get_table_parquet)
