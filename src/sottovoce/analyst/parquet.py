"""Reports as Parquet files, one per segment: written whole or not at all, resumable, never overwritten.

Columns: ``report_id`` (16 bytes), ``report`` (the bytes a device sent), ``epoch`` (coarse time). The metadata
has the format's version, the survey's id and statement, the segment's number and its number of reports; and the
export, a random name that the files of a folder share: report ids are unique among them. What the statement names by
digest is in a file of that name.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MismatchError, ReportError, ServiceError
from sottovoce.core.files import creating, write_errors
from sottovoce.core.words import plural
from sottovoce.device.http import BAD_ANSWER
from sottovoce.formats.report_files import EXPORT_FORMAT, LAYOUT, PREFIX, REPORT, REPORT_ID, pyarrow
from sottovoce.formats.wire import REPORT_ID_BYTES, batch_rows
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

if TYPE_CHECKING:
    from sottovoce.protocol.surveys import SegmentEntry

__all__ = ["EXPORT_FORMAT", "Folder", "read_export"]

_NAME: Final = re.compile(r"reports-(\d{10})\.parquet")

Rows = NDArray[np.uint8]


class _Described(NamedTuple):
    """The metadata of a file."""

    number: int
    n: int
    export: str | None


class Folder:
    """A folder with the exported reports of one survey."""

    def __init__(self, survey: Survey, path: str | os.PathLike[str]) -> None:
        self.survey, self.path = survey, Path(path)
        self._width = len(survey.tag) + survey.mechanism.report_bytes
        self._export = secrets.token_hex(16)
        pyarrow()  # fails early if it is missing

    def prepare(self) -> None:
        """Make the folder; refuse it if it contains files of another survey or is not writable."""
        with _write_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            for left in self.path.glob(".reports-*.part"):
                left.unlink()
        exports = {self._described(path).export for path in self.files()}
        # Files of an earlier version, or of two folders, are left to engines to look through.
        if len(exports) == 1:
            self._export = exports.pop() or self._export
        for digest, content in self.survey.attachments.items():
            with _write_errors(self.path), contextlib.suppress(FileExistsError), creating(self.path / digest) as part:
                part.write_bytes(content)

    def files(self) -> list[Path]:
        """The exported files, in order."""
        return sorted(path for path in self.path.glob("reports-*.parquet") if _NAME.fullmatch(path.name))

    def missing(self, listed: list[SegmentEntry]) -> list[SegmentEntry]:
        """The collector's segments without a file; raises if a file does not match its segment."""
        held = {described.number: described.n for described in map(self._described, self.files())}
        for segment in listed:
            if held.get(segment.number, segment.n) != segment.n:
                raise MismatchError(
                    f"{self._place(segment.number)} was written from a segment of "
                    f"{plural(held[segment.number], 'report')}, and the collector's has {segment.n:,}: it is "
                    "from another collector. It was not changed; name another folder"
                )
        return [segment for segment in listed if segment.number not in held]

    def superseded(self, listed: list[SegmentEntry]) -> dict[int, set[bytes]]:
        """The report ids, by epoch, in files whose segments the collector has since merged into later ones."""
        current = {segment.number for segment in listed}
        written: dict[int, set[bytes]] = {}
        for path in self.files():
            if self._described(path).number not in current:
                table = _read_table(path)
                for epoch, report_id in zip(
                    table.column("epoch").to_pylist(), table.column(REPORT_ID).to_pylist(), strict=True
                ):
                    written.setdefault(epoch, set()).add(report_id)
        return written

    def write(self, segment: SegmentEntry, body: bytes, written: set[bytes]) -> int:
        """Write a segment's file, without the reports whose ids are in `written`; returns how many it holds."""
        pa, pq = pyarrow()

        rows = batch_rows(body, self.survey.id, self.survey.mechanism.report_bytes)
        if len(rows) != segment.n:
            raise ServiceError(
                f"segment {segment.number} came with {plural(len(rows), 'report')} and has {segment.n:,}; try again",
                code=BAD_ANSWER,
            )
        ids = [row.tobytes() for row in np.ascontiguousarray(rows[:, :REPORT_ID_BYTES])]
        if written:
            fresh = np.array([report_id not in written for report_id in ids], dtype=bool)
            rows, ids = rows[fresh], [report_id for report_id in ids if report_id not in written]
        reports = [row.tobytes() for row in np.ascontiguousarray(rows[:, REPORT_ID_BYTES:])]
        table = pa.table(
            [
                pa.array(ids, type=pa.binary(REPORT_ID_BYTES)),
                pa.array(reports, type=pa.binary(self._width)),
                pa.array(np.full(len(ids), segment.epoch), type=pa.int64()),
            ],
            schema=self._schema(segment, len(ids)),
        )
        path = self._place(segment.number)
        with _write_errors(self.path), creating(path) as part:
            pq.write_table(table, part, **LAYOUT)
        return len(ids)

    def batches(self) -> Iterator[tuple[Path, Rows, list[bytes]]]:
        """Each file with its report ids, one row each, and its reports."""
        for path in self.files():
            self._described(path)
            table = _read_table(path)
            ids = b"".join(table.column(REPORT_ID).to_pylist())
            yield (
                path,
                np.frombuffer(ids, dtype=np.uint8).reshape(-1, REPORT_ID_BYTES),
                table.column(REPORT).to_pylist(),
            )

    def _place(self, number: int) -> Path:
        return self.path / f"reports-{number:010d}.parquet"

    def _schema(self, segment: SegmentEntry, rows: int) -> Any:
        pa, _ = pyarrow()
        stated = {
            "format": str(EXPORT_FORMAT),
            "survey": self.survey.id,
            "statement": self.survey.to_json(),
            "segment": str(segment.number),
            "reports": str(segment.n),
            "rows": str(rows),
            "unique_in": self._export,
        }
        return pa.schema(
            [
                pa.field(REPORT_ID, pa.binary(REPORT_ID_BYTES), nullable=False),
                pa.field(REPORT, pa.binary(self._width), nullable=False),
                pa.field("epoch", pa.int64(), nullable=False),
            ],
            metadata={PREFIX + name: value for name, value in stated.items()},
        )

    def _described(self, path: Path) -> _Described:
        """The metadata of a file; raises unless it is an export of this survey in this format."""
        pa, pq = pyarrow()

        try:
            metadata = pq.read_schema(path).metadata or {}
            stated = {name.decode(): value.decode() for name, value in metadata.items()}
            version, survey = stated[PREFIX + "format"], stated[PREFIX + "survey"]
            number, n = int(stated[PREFIX + "segment"]), int(stated[PREFIX + "reports"])
            described = _Described(number, n, stated.get(PREFIX + "unique_in"))
        except (pa.ArrowException, OSError, KeyError, ValueError) as error:
            raise MismatchError(
                f"{path} is not an exported file, or is damaged; it was not changed: name another folder"
            ) from error
        if version != str(EXPORT_FORMAT):
            raise MismatchError(f"{path} was exported in format {version}; this version reads {EXPORT_FORMAT}")
        if survey != self.survey.id or self._place(described.number).name != path.name:
            raise MismatchError(
                f"{path} contains segment {described.number} of survey {survey[:12]}, which does not match its name or "
                f"survey {self.survey.id[:12]}; it was not changed: name another folder"
            )
        return described


def read_export(survey: Survey, folder: str | os.PathLike[str]) -> Aggregate:
    """Count the exported reports of a survey again: the same integers as the collector's aggregate.

    Raises
    ------
    MismatchError
        If a file is of another survey, or not an exported file.
    ReportError
        If a report is malformed, or two have one id.
    """
    held = Folder(survey, folder)
    aggregate, ids = survey.aggregate(), []
    for path, report_ids, reports in held.batches():
        aggregate = aggregate.add(reports)
        ids.append((path, report_ids))
    if not ids:
        raise ReportError(f"{held.path} has no exported reports; name the folder of an export").at("folder")
    together = np.concatenate([report_ids for _, report_ids in ids])
    if len(np.unique(together, axis=0)) < len(together):
        raise ReportError(
            f"two reports in {held.path} have the same id: it mixes files of different exports; export again"
        )
    return aggregate


def _read_table(path: Path) -> Any:
    pa, pq = pyarrow()

    try:
        return pq.read_table(path, columns=[REPORT_ID, REPORT, "epoch"], page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise MismatchError(f"{path} is damaged and cannot be read; it was not changed") from error


def _write_errors(folder: Path) -> contextlib.AbstractContextManager[None]:
    return write_errors(folder, ReportError, "name another folder")
