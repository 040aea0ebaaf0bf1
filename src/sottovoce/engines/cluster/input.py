"""What a Spark job reads: a table with the two columns of reports, or files cut into pieces of about one size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sottovoce.core.addresses import is_address
from sottovoce.core.errors import ReportError, SottovoceError
from sottovoce.engines.cluster.job import MAX_TASK_ROWS, TASKS_A_CORE
from sottovoce.engines.cluster.reading import TaskPiece
from sottovoce.engines.files import ReportFile, ScannedFiles, find_files, scan_files
from sottovoce.engines.reading import FilePiece, in_pieces
from sottovoce.formats.report_files import REPORT, REPORT_ID
from sottovoce.surveys.survey import Survey

__all__ = ["checked_columns", "cut", "found_files", "is_table"]

_LEAST_TASK_ROWS: Final = 1 << 19
"""Fewer would take less time than a task takes to begin; and over Spark Connect nobody knows how many cores it has."""


def is_table(reports: object) -> bool:
    """Whether this is a table of Spark's, of whatever kind of session."""
    return hasattr(type(reports), "mapInArrow")  # of its type: a table of Spark Connect asks its server for the rest


def found_files(survey: Survey, reports: object) -> ScannedFiles:
    """The files of paths and addresses, their footers looked at.

    Raises
    ------
    SottovoceError
        If there are none, or Python cannot read an address that perhaps Spark itself can.
    """
    try:
        return scan_files(survey, find_files(reports))
    except SottovoceError as error:
        given = [reports] if isinstance(reports, str) or not isinstance(reports, Iterable) else reports
        if any(isinstance(one, str) and is_address(one) for one in given):
            error.add_note("; what only Spark itself can read, give as a table: spark.read.parquet(...)")
        raise


def checked_columns(table: Any) -> Any:
    """The table's two columns of reports.

    Raises
    ------
    ReportError
        If one is missing, there twice, or not of bytes.
    """
    fields = table.schema.fields
    for name in (REPORT_ID, REPORT):
        types = [field.dataType.simpleString() for field in fields if field.name == name]
        if not types:
            there = ", ".join(field.name for field in fields[:8]) or "none"
            raise ReportError(
                f"the table has no column {name}: it needs {REPORT_ID} and {REPORT}, both of type binary; it has "
                f"{there}. Rename what holds them: table.withColumnRenamed(...)"
            )
        if len(types) > 1:
            raise ReportError(f"the table has {len(types)} columns {name}: drop all but one")
        if types[0] != "binary":
            raise ReportError(
                f"column {name} of the table is of type {types[0]}, not of bytes (binary): decode it first, with "
                "unhex or unbase64 for text"
            )
    return table.select(REPORT_ID, REPORT)


def cut(files: Sequence[ReportFile], cores: int, task_rows: int | None = None) -> list[list[TaskPiece]]:
    """The pieces of the files, in lists of about as many rows, one a task.

    A row group is never cut; small files share a task.
    """
    rows = sum(file.rows for file in files)
    most = task_rows or max(_LEAST_TASK_ROWS, min(MAX_TASK_ROWS, -(-rows // (TASKS_A_CORE * max(1, cores)))))
    tasks: list[list[TaskPiece]] = [[]]
    held = 0
    for number, file in enumerate(files):
        # What a task reads of a file tells it of no other row group.
        for part in in_pieces([file], most) or [FilePiece(file, 0, 0, 0)]:
            if held and held + part.rows > most:
                tasks.append([])
                held = 0
            tasks[-1].append(TaskPiece(number, part._replace(file=file._replace(groups=()))))
            held += part.rows
    return tasks
