"""Files of reports: which ones a path means, and whether each can be used. Only footers and headers are read here.

A file is Parquet with the two columns of `report_files`, or, where its name ends in ``.svr``, the body of a batch as
devices send it (`wire.encode_batch`).
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal, NamedTuple

from sottovoce.engines.tally import BadFile
from sottovoce.errors import MismatchError, ReportError, SottovoceError
from sottovoce.report_files import EXPORT_FORMAT, PREFIX, REPORT, REPORT_ID, pyarrow
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey
from sottovoce.wire import BATCH_HEADER_BYTES, REPORT_ID_BYTES, batch_survey

__all__ = [
    "SEGMENT",
    "Found",
    "ReportFile",
    "find",
    "identity",
    "look",
    "metadata_fault",
    "stated_survey",
    "type_fault",
    "why_bad",
]

SEGMENT: Final = ".svr"
"""How the name of a raw batch ends."""

_ENDINGS: Final = (".parquet", SEGMENT)
_LOOKING: Final = 8
"""Files looked at at once: it is waiting, not work."""


class ReportFile(NamedTuple):
    """A file that can be used, as far as its footer tells."""

    path: str
    kind: Literal["parquet", "segment"]
    groups: tuple[int, ...]
    """Rows of each row group; a segment is one."""
    nbytes: int
    modified: int
    """In nanoseconds, to see later whether it is still the same."""

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(self.groups)


class Found(NamedTuple):
    """Files that can be used, and those that cannot; both in the order of their names."""

    files: tuple[ReportFile, ...]
    bad: tuple[BadFile, ...]


def find(reports: object) -> list[str]:
    """The files that a path, a folder, a glob, or several of them mean; each once, in the order of their names.

    Raises
    ------
    ReportError
        If one of them means no file: it says which, and what was looked for.
    """
    if isinstance(reports, (str, os.PathLike)):
        reports = [reports]
    if not isinstance(reports, Iterable) or isinstance(reports, (bytes, bytearray)):
        raise ReportError(f"reports must be a path, a glob or several of them, not {type(reports).__name__}")
    names: list[str] = []
    for given in reports:
        if not isinstance(given, (str, os.PathLike)):
            raise ReportError(f"reports must be paths or globs, not {type(given).__name__}")
        names += _meant(os.fspath(given))
    if not names:
        raise ReportError("no path was given; name files, folders or globs of reports")
    once: dict[object, str] = {}
    for name in sorted(names):
        once.setdefault(identity(name), name)
    return sorted(once.values())


def _meant(given: Any) -> list[str]:
    if not isinstance(given, str):
        raise ReportError("reports must be paths of text, not of bytes")
    if os.path.isdir(given):
        return _in_folder(given)
    if os.path.lexists(given):
        return [given]
    matched = glob.glob(given) if glob.has_magic(given) else []
    if not matched:
        raise ReportError(f"there is nothing at {given!r}; name a file, a folder or a glob of Parquet or .svr files")
    return [name for match in matched for name in (_in_folder(match) if os.path.isdir(match) else [match])]


def _in_folder(folder: str) -> list[str]:
    try:
        found = [entry.path for entry in os.scandir(folder) if _fits(entry)]
    except OSError as error:
        raise ReportError(f"{folder!r} cannot be read: {error.strerror}") from error
    if not found:
        raise ReportError(f"there is no *.parquet and no *{SEGMENT} in {folder!r}; name a folder that has some")
    return found


def _fits(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_ENDINGS) and not entry.name.startswith(".") and not os.path.isdir(entry.path)


def identity(name: str | os.PathLike[str]) -> object:
    """What tells a file from others, whatever names and links lead to it."""
    try:
        status = os.stat(name)
    except OSError:
        return os.path.realpath(name)
    return status.st_dev, status.st_ino


def look(survey: Survey, names: Sequence[str]) -> Found:
    """Look at every file's footer or header."""
    pyarrow()  # found missing here rather than once a file
    with ThreadPoolExecutor(_LOOKING) as threads:
        seen = list(threads.map(lambda name: _look(survey, name), names))
    return Found(
        tuple(one for one in seen if isinstance(one, ReportFile)),
        tuple(one for one in seen if isinstance(one, BadFile)),
    )


def _look(survey: Survey, name: str) -> ReportFile | BadFile:
    try:
        status = os.stat(name)
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for without end
            return BadFile(name, "it is no regular file")
        if name.endswith(SEGMENT):
            groups, fault = _segment(survey, name, status.st_size)
        else:
            groups, fault = _parquet(survey, name)
    except Exception as error:
        reason = why_bad(error)
        if reason is None:
            raise
        return BadFile(name, reason)
    if fault:
        return BadFile(name, fault)
    kind: Literal["parquet", "segment"] = "segment" if name.endswith(SEGMENT) else "parquet"
    return ReportFile(name, kind, groups, status.st_size, status.st_mtime_ns)


def why_bad(error: BaseException) -> str | None:
    """Why a file cannot be used, if that is what the error says; never what stands in it."""
    pa, _ = pyarrow()
    if isinstance(error, (SottovoceError, MemoryError)):
        return None
    if isinstance(error, UnicodeEncodeError):
        return "its name is not UTF-8, which Parquet needs: rename it"
    if isinstance(error, FileNotFoundError):
        return "it is gone"
    if isinstance(error, OSError) and error.errno:
        return f"it cannot be read: {error.strerror or 'the system refuses'}"
    if isinstance(error, (pa.ArrowException, OSError)):
        return "truncated, damaged or no Parquet file"
    return None


def _segment(survey: Survey, name: str, nbytes: int) -> tuple[tuple[int, ...], str]:
    width = REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes
    with open(name, "rb") as file:
        head = file.read(BATCH_HEADER_BYTES)
    try:
        stated = batch_survey(head)
    except ReportError:
        return (), "no batch of reports: it does not begin as one"
    if stated != survey.id:
        return (), _foreign(stated)
    rows, rest = divmod(nbytes - BATCH_HEADER_BYTES, width)
    return (rows,), f"truncated: its rows have {width} bytes, and {rest} are left over" if rest else ""


def _parquet(survey: Survey, name: str) -> tuple[tuple[int, ...], str]:
    _, pq = pyarrow()
    with pq.ParquetFile(name) as file:
        fault = type_fault(file.schema_arrow) or metadata_fault(survey, file.schema_arrow.metadata or {})
        footer = file.metadata
        return tuple(footer.row_group(i).num_rows for i in range(footer.num_row_groups)), fault


def type_fault(schema: Any) -> str:
    """What is wrong with a file's columns, by its Arrow schema; empty if nothing is."""
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
    """What is wrong with what a file says of itself; a file that says nothing is taken for what it is."""
    version = metadata.get(f"{PREFIX}format".encode(), str(EXPORT_FORMAT).encode())
    if version != str(EXPORT_FORMAT).encode():
        return f"exported in format {_word(version)}; this version knows {EXPORT_FORMAT}"
    stated = metadata.get(f"{PREFIX}survey".encode(), survey.id.encode())
    return "" if stated == survey.id.encode() else _foreign(_word(stated))


def _foreign(stated: str) -> str:
    return f"reports of survey {stated[:12]}"


def _word(stated: bytes) -> str:
    """What a stranger's file says, fit for a message."""
    return stated[:64].decode("ascii", "replace").encode("ascii", "backslashreplace").decode()


def stated_survey(names: Sequence[str]) -> Survey:
    """The survey that exported Parquet files state in their metadata; all of them must state the same.

    Raises
    ------
    ReportError
        If a file states none, or cannot be read.
    MismatchError
        If two files state different surveys.
    """
    _, pq = pyarrow()
    found: tuple[str, bytes] | None = None
    for name in names:
        try:
            metadata = pq.read_schema(name).metadata or {} if not name.endswith(SEGMENT) else {}
        except Exception as error:
            reason = why_bad(error)
            if reason is None:
                raise
            raise ReportError(f"{name} cannot be used ({reason}), so it does not say which survey it is of") from error
        statement = metadata.get(f"{PREFIX}statement".encode())
        if statement is None:
            raise ReportError(f"{name} does not say which survey its reports are of; name the survey")
        if found is not None and found[1] != statement:
            raise MismatchError(f"{found[0]} and {name} are exports of different surveys; name the one you mean")
        found = found or (name, statement)
    if found is None:
        raise ReportError("no file says which survey its reports are of; name the survey")
    survey = Survey.from_json(found[1])
    if isinstance(survey, Panel):
        raise ReportError(f"{found[0]} names a panel; reports belong to one of its rounds: name that")
    return survey
