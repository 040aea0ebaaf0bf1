"""Find report files and check their footers and headers.

A file is Parquet with the columns of `report_files`, or, if its name ends in ``.svr``, the body of a batch
(`wire.encode_batch`).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal, NamedTuple

from sottovoce.core.addresses import is_address
from sottovoce.core.errors import MismatchError, ReportError, SottovoceError
from sottovoce.engines.reports.remote import AttachmentFiles, absolute, folders_of, look_up, opened, source, status
from sottovoce.engines.reports.rows import BadFile
from sottovoce.formats.report_files import EXPORT_FORMAT, PREFIX, REPORT, REPORT_ID, pyarrow
from sottovoce.formats.wire import BATCH_HEADER_BYTES, REPORT_ID_BYTES, batch_survey
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = [
    "SEGMENT",
    "ReportFile",
    "ScannedFiles",
    "check_unchanged",
    "find_files",
    "identity",
    "metadata_fault",
    "scan_files",
    "stated_survey",
    "type_fault",
    "why_bad",
]

SEGMENT: Final = ".svr"
"""File name extension of raw batches."""

_ENDINGS: Final = (".parquet", SEGMENT)
_LOOKING: Final = 8
"""Files checked in parallel."""


class ReportFile(NamedTuple):
    """A file with a valid footer or header."""

    path: str
    kind: Literal["parquet", "segment"]
    groups: tuple[int, ...]
    """Rows of each row group; a segment is one group."""
    nbytes: int
    modified: int
    """Time in nanoseconds, to detect changes."""
    part: tuple[bytes, bytes] | None = None
    """An export and the number of one of its segments, if the metadata state that ids are unique in all of them."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.groups)


class ScannedFiles(NamedTuple):
    """Usable and unusable files, each in the order of names."""

    files: tuple[ReportFile, ...]
    bad: tuple[BadFile, ...]

    @property
    def ids_unique(self) -> bool:
        """Whether all usable files state it, as different parts of one export."""
        parts = {file.part for file in self.files if file.part is not None}
        return len(parts) == len(self.files) > 0 and len({export for export, _ in parts}) == 1


def find_files(reports: object) -> list[str]:
    """The files of a path, a folder, a glob, or several of them; each once, in the order of names.

    Raises
    ------
    ReportError
        If one of them matches no file.
    """
    if isinstance(reports, (str, os.PathLike)):
        reports = [reports]
    if not isinstance(reports, Iterable) or isinstance(reports, (bytes, bytearray)):
        raise ReportError(f"reports must be a path, a glob or several of them, not {type(reports).__name__}").at(
            "reports"
        )
    names: list[str] = []
    for given in reports:
        if not isinstance(given, (str, os.PathLike)):
            raise ReportError(f"reports must be paths or globs, not {type(given).__name__}").at("reports")
        names += _meant(os.fspath(given))
    if not names:
        raise ReportError("no path was given; give files, folders or globs of reports").at("reports")
    once: dict[object, str] = {}
    for name in sorted(names):
        once.setdefault(identity(name), name)
    return sorted(once.values())


def _meant(given: Any) -> list[str]:
    if not isinstance(given, str):
        raise ReportError("reports must be paths of text, not of bytes").at("reports")
    if is_address(given):
        return look_up(given, _ENDINGS)
    if os.path.isdir(given):
        return _in_folder(given)
    if os.path.lexists(given):
        return [given]
    matched = glob.glob(given) if glob.has_magic(given) else []
    if not matched:
        raise ReportError(f"nothing matches {given!r}; give a file, a folder or a glob of Parquet or .svr files").at(
            "reports"
        )
    return [name for match in matched for name in (_in_folder(match) if os.path.isdir(match) else [match])]


def _in_folder(folder: str) -> list[str]:
    try:
        names = [entry.path for entry in os.scandir(folder) if _fits(entry)]
    except OSError as error:
        raise ReportError(f"{folder!r} cannot be read: {error.strerror}").at("reports") from error
    if not names:
        raise ReportError(f"{folder!r} has no *.parquet or *{SEGMENT} files; give another folder").at("reports")
    return names


def _fits(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_ENDINGS) and not entry.name.startswith(".") and not os.path.isdir(entry.path)


def identity(name: str | os.PathLike[str]) -> object:
    """The identity of a file, independent of names and links."""
    try:
        about = os.stat(name)
    except OSError:
        return absolute(os.fspath(name))
    return about.st_dev, about.st_ino


def scan_files(survey: Survey, names: Sequence[str]) -> ScannedFiles:
    """Check every file's footer or header."""
    pyarrow()  # fails once if it is missing, not once per file
    with ThreadPoolExecutor(_LOOKING) as threads:
        seen = list(threads.map(lambda name: _scan_file(survey, name), names))
    return ScannedFiles(
        tuple(file for file in seen if isinstance(file, ReportFile)),
        tuple(file for file in seen if isinstance(file, BadFile)),
    )


def _scan_file(survey: Survey, name: str) -> ReportFile | BadFile:
    try:
        about = status(name)
        if not about.regular:  # a pipe would block forever
            return BadFile(name, "not a regular file")
        part = None
        if name.endswith(SEGMENT):
            groups, fault = _segment(survey, name, about.nbytes)
        else:
            groups, fault, part = _parquet(survey, name)
    except Exception as error:
        reason = why_bad(error)
        if reason is None:
            raise
        return BadFile(name, reason)
    if fault:
        return BadFile(name, fault)
    kind: Literal["parquet", "segment"] = "segment" if name.endswith(SEGMENT) else "parquet"
    return ReportFile(name, kind, groups, about.nbytes, about.modified, part)


def check_unchanged(files: Iterable[ReportFile]) -> None:
    """Raise if a file is another than it was when it was found."""
    for file in files:
        try:
            now = status(file.path)
            same = (now.nbytes, now.modified) == (file.nbytes, file.modified)
        except OSError:
            same = False
        if not same:
            raise ReportError(f"{file.path} changed while it was counted; nothing was counted: run it again")


def why_bad(error: BaseException) -> str | None:
    """Why a file cannot be used, if the error is about the file; never quotes its content."""
    pa, _ = pyarrow()
    if isinstance(error, (SottovoceError, MemoryError)):
        return None
    if isinstance(error, UnicodeEncodeError):
        return "its name is not UTF-8, which Parquet requires: rename it"
    if isinstance(error, FileNotFoundError):
        return "it does not exist any more"
    if isinstance(error, OSError) and error.errno:
        return f"it cannot be read: {error.strerror or 'the system refuses'}"
    if isinstance(error, (pa.ArrowException, OSError)):
        return "truncated, damaged or not a Parquet file"
    return None


def _segment(survey: Survey, name: str, nbytes: int) -> tuple[tuple[int, ...], str]:
    width = REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes
    with opened(name) as file:
        head = file.read(BATCH_HEADER_BYTES)
    try:
        stated = batch_survey(head)
    except ReportError:
        return (), "not a batch of reports"
    if stated != survey.id:
        return (), _foreign(stated)
    rows, rest = divmod(nbytes - BATCH_HEADER_BYTES, width)
    return (rows,), f"truncated: {rest} bytes are left after rows of {width} bytes" if rest else ""


def _parquet(survey: Survey, name: str) -> tuple[tuple[int, ...], str, tuple[bytes, bytes] | None]:
    _, pq = pyarrow()
    with pq.ParquetFile(source(name)) as file:
        metadata = file.schema_arrow.metadata or {}
        fault = type_fault(file.schema_arrow) or metadata_fault(survey, metadata)
        footer = file.metadata
        groups = tuple(footer.row_group(i).num_rows for i in range(footer.num_row_groups))
        return groups, fault, _part(metadata, sum(groups))


def _part(metadata: dict[bytes, bytes], rows: int) -> tuple[bytes, bytes] | None:
    """The export of a file, and its part in it. Programs that join or filter files copy metadata: rows must agree."""
    export, segment, stated = (metadata.get(f"{PREFIX}{name}".encode()) for name in ("unique_in", "segment", "rows"))
    return (export, segment) if export and segment and stated == str(rows).encode() else None


def type_fault(schema: Any) -> str:
    """What is wrong with a file's columns; empty if nothing is."""
    pa, _ = pyarrow()
    for name in (REPORT_ID, REPORT):
        places = schema.get_all_field_indices(name)
        if len(places) != 1:
            return f"it has {'no column' if not places else 'more than one column'} {name}"
        kind, types = schema.field(places[0]).type, pa.types
        held = kind.value_type if types.is_dictionary(kind) else kind
        of_bytes = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
        if not any(fits(held) for fits in of_bytes):
            return f"column {name} is of type {kind}, not of bytes (binary)"
    return ""


def metadata_fault(survey: Survey, metadata: dict[bytes, bytes]) -> str:
    """What is wrong with a file's metadata; files without metadata are accepted."""
    version = metadata.get(f"{PREFIX}format".encode(), str(EXPORT_FORMAT).encode())
    if version != str(EXPORT_FORMAT).encode():
        return f"exported in format {_word(version)}; this version reads {EXPORT_FORMAT}"
    stated = metadata.get(f"{PREFIX}survey".encode(), survey.id.encode())
    return "" if stated == survey.id.encode() else _foreign(_word(stated))


def _foreign(stated: str) -> str:
    return f"reports of survey {stated[:12]}"


def _word(stated: bytes) -> str:
    """Untrusted metadata, made safe for a message."""
    return stated[:64].decode("ascii", "replace").encode("ascii", "backslashreplace").decode()


def stated_survey(names: Sequence[str]) -> Survey:
    """The survey in the metadata of exported Parquet files, which must be the same in all.

    An attachment that it names is read from the file of that name in the folder of one of them.

    Raises
    ------
    ReportError
        If a file has none, or cannot be read.
    SurveyError
        If an attachment is missing, or is not what its digest says.
    MismatchError
        If two files are of different surveys.
    """
    _, pq = pyarrow()
    first: tuple[str, bytes] | None = None
    for name in names:
        try:
            metadata = pq.read_schema(source(name)).metadata or {} if not name.endswith(SEGMENT) else {}
        except Exception as error:
            reason = why_bad(error)
            if reason is None:
                raise
            raise ReportError(f"{name} cannot be used ({reason}), so its survey is unknown") from error
        statement = metadata.get(f"{PREFIX}statement".encode())
        if statement is None:
            raise ReportError(f"{name} does not name the survey of its reports; name the survey")
        if first is not None and first[1] != statement:
            raise MismatchError(f"{first[0]} and {name} are exports of different surveys; name one survey")
        first = first or (name, statement)
    if first is None:
        raise ReportError("no file names the survey of its reports; name the survey")
    survey = Survey.from_json(first[1], AttachmentFiles(folders_of(names)))
    if not isinstance(survey, Survey):
        part = "round" if isinstance(survey, Panel) else "period"
        raise ReportError(f"{first[0]} names a survey whose reports belong to one of its {part}s: name the {part}")
    return survey
