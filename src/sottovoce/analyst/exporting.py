"""The counted reports of a published survey as Parquet files, fetched segment by segment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from sottovoce.analyst.connection import read
from sottovoce.core.errors import ServiceError
from sottovoce.device.http import Http
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.protocol.surveys import SegmentEntry
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["Exported", "export_reports", "list_segments"]

_MOST_LOST: Final = 100
"""How many segments may be merged into others while they are fetched."""

_HEADER: Final = 2**16
"""Upper bound on the header of a batch."""


class Exported(NamedTuple):
    """The result of an export: files and reports written, and files that existed already."""

    files: int
    reports: int
    kept: int

    def __add__(self, other: object) -> Exported:
        """Both exports together."""
        if not isinstance(other, Exported):
            return NotImplemented
        return Exported(self.files + other.files, self.reports + other.reports, self.kept + other.kept)


def list_segments(http: Http, survey_id: str) -> list[SegmentEntry]:
    """The segments of a survey's counted reports."""
    answer = http.get(f"/v1/surveys/{survey_id}/segments")
    return read(answer, dict[str, list[SegmentEntry]]).get("segments", [])


def export_reports(http: Http, survey: Survey, folder: Path, advance: Callable[[int], object]) -> Exported:
    """Write the reports of a survey that are not in the folder yet, one file per segment."""
    from sottovoce.analyst.parquet import Folder

    list_segments(http, survey.id)  # checks permission before a folder is made
    held = Folder(survey, folder)
    held.prepare()
    kept, files, reports = len(held.files()), 0, 0
    row = REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes
    lost = 0
    while missing := held.missing(listed := list_segments(http, survey.id)):
        written = held.superseded(listed)
        for segment in missing:
            path, most = f"/v1/surveys/{survey.id}/segments/{segment.number}", _HEADER + row * segment.n
            try:
                body = http.get_bytes(path, most=most)
            except ServiceError as error:
                lost += 1
                if error.status != 404 or lost > _MOST_LOST:
                    raise
                break  # it was merged into another one meanwhile: list again
            reports += held.write(segment, body, written.get(segment.epoch, set()))
            files += 1
            advance(segment.n)
    return Exported(files, reports, kept)
