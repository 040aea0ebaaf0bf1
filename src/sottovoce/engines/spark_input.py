"""What a Spark job reads: a table with the two columns of reports, or files cut into pieces of about one size."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sottovoce.core.errors import ReportError
from sottovoce.engines.files import ReportFile, why_bad
from sottovoce.engines.spark_tasks import TaskPiece
from sottovoce.formats.report_files import REPORT, REPORT_ID

__all__ = ["check_local", "checked_columns", "cut", "is_table", "why_unread"]

MAX_TASK_ROWS: Final = 1 << 21
"""Most rows of one task, where row groups are small enough."""

_TASKS_A_CORE: Final = 3
"""So that no core waits long for the last task."""


def is_table(reports: object) -> bool:
    """Whether this is a table of Spark's, of whatever kind of session."""
    return hasattr(reports, "mapInArrow") and hasattr(reports, "schema")


def check_local(reports: object) -> None:
    """Refuse addresses of stores that only Spark itself can read."""
    given = [reports] if isinstance(reports, str) or not isinstance(reports, Iterable) else reports
    for one in given:
        if isinstance(one, str) and re.match(r"\w+://", one):
            raise ReportError(f"{one!r} is no path that Python can read: give the table, spark.read.parquet({one!r})")


def why_unread(file: ReportFile, reason: str) -> str:
    """Why a task could not read a file that the driver could look at."""
    if reason == why_bad(FileNotFoundError()) and os.path.exists(file.path):
        return "the workers do not see it; it must be where they find it under the same path"
    return reason


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
    most = task_rows or max(1 << 14, min(MAX_TASK_ROWS, -(-rows // (_TASKS_A_CORE * max(1, cores)))))
    tasks: list[list[TaskPiece]] = [[]]
    held = 0
    for number, file in enumerate(files):
        for piece, count in _pieces(number, file, most):
            if held and held + count > most:
                tasks.append([])
                held = 0
            tasks[-1].append(piece)
            held += count
    return tasks


def _pieces(number: int, file: ReportFile, most: int) -> Iterator[tuple[TaskPiece, int]]:
    if file.kind == "segment":
        for first in range(0, max(1, file.rows), most):
            last = min(first + most, file.rows)
            yield TaskPiece(number, file.path, file.nbytes, True, first, last), last - first
        return
    first = held = 0
    for group, count in enumerate(file.groups):
        if held and held + count > most:
            yield TaskPiece(number, file.path, file.nbytes, False, first, group), held
            first, held = group, 0
        held += count
    yield TaskPiece(number, file.path, file.nbytes, False, first, len(file.groups)), held
