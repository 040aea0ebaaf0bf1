"""An estimate as a file to keep: CSV, JSON or Parquet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from litestar.handlers import HTTPRouteHandler

from sottovoce.collector.api.answer import JSON, Answer
from sottovoce.collector.api.page_structs import TableBody
from sottovoce.collector.api.reading import estimate_of, found
from sottovoce.collector.api.route import AnyRequest, Number, Operation, numbers, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import AnswerRow, Bound
from sottovoce.collector.failures import Refused
from sottovoce.collector.table_files import Look, Table, table_of, to_csv, to_parquet, wanted

__all__ = ["MOST_ROWS", "ROUTES"]

MOST_ROWS: Final = 2**20
"""Most answers of a file: more would be some hundred megabytes."""

_CSV: Final = "text/csv; charset=utf-8"
_PARQUET: Final = "application/vnd.apache.parquet"


def _to_json(table: Table, look: Look = wanted) -> bytes:
    bound = Bound(**table.about["bound"])
    rows = [AnswerRow(*row) for row in table.rows(look)]
    look()
    return msgspec.json.encode(TableBody(**{**table.about, "bound": bound, "answers": rows}))


def _table(ending: str, media_type: str, write: Callable[[Table, Look], bytes]) -> HTTPRouteHandler:
    """The address of one kind of file."""

    async def get_table(request: AnyRequest) -> Answer:
        service, level = service_of(request), float(numbers(request)["level"] or 0)
        asked = request.path_params["survey_id"]
        look = service.tables.look
        survey_id, content = await service.tables.run(_written, service, asked, level, write, look)
        name = f"survey-{survey_id[:12]}.{ending}"
        return Answer(content, media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    return route(
        "GET",
        f"/v1/surveys/{{survey_id:str}}/table.{ending}",
        Operation(
            f"get_table_{ending}",
            f"All answers with intervals from all reports so far, as a file: {ending}.",
            {200: TableBody if ending == "json" else media_type},
            {
                400: "a parameter is unknown or out of range",
                404: "there is no such survey",
                409: "there are too few reports or too many answers, or the survey is adaptive: its rounds have the "
                "reports",
                410: "the survey has been deleted",
                503: "too many tables are being written, or the database is away; try again later",
            },
            scopes=("read",),
            query=(Number("level", 0.95, 0, 1, "with what probability each interval holds the truth", open_ends=True),),
            headers={"Content-Disposition": "that it is a file, and its name"},
        ),
    )(get_table)


def _written(
    service: Service, survey_id: str, level: float, write: Callable[[Table, Look], bytes], look: Look
) -> tuple[str, bytes]:
    record, survey = found(service, survey_id)
    if survey.n_answers > MOST_ROWS:
        raise Refused(
            409,
            "too_much",
            f"survey {record.id[:12]} has {survey.n_answers:,} answers, and a file holds {MOST_ROWS:,}; fetch the "
            "aggregate and estimate elsewhere",
        )
    estimate = estimate_of(service, record, survey)
    look()
    table = table_of(estimate, level, record.labels, look)
    look()
    return record.id, write(table, look)


ROUTES: Final = (
    _table("csv", _CSV, to_csv),
    _table("json", JSON, _to_json),
    _table("parquet", _PARQUET, to_parquet),
)
