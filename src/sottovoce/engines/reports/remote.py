"""Files by address (s3://bucket/folder) beside those by path, and attachments of a survey, each named by its digest."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Final, NamedTuple, cast

from sottovoce.core.addresses import file_system, is_address
from sottovoce.core.errors import ReportError, SottovoceError, SurveyError
from sottovoce.surveys.statement import MAX_SURVEY_BYTES, is_digest

__all__ = ["AttachmentFiles", "FileStatus", "absolute", "folders_of", "look_up", "opened", "source", "status"]


_GIVEN: Final = "reports"

_AHEAD: Final = 1 << 22
"""Bytes asked for at a time: every question to an object storage costs milliseconds."""


class FileStatus(NamedTuple):
    """What tells that a file is the same as before."""

    nbytes: int
    modified: int
    """Time in nanoseconds, or what stands for it in an object storage."""
    regular: bool


def look_up(address: str, endings: tuple[str, ...]) -> list[str]:
    """The files of an address: itself, those in a folder that have one of the endings, or those that match a glob."""
    files, path = file_system(address, _GIVEN, ReportError)
    try:
        if "*" in path:
            names = files.glob(path)
        elif files.isdir(path):
            names = [entry["name"] for entry in files.ls(path, detail=True, refresh=True) if entry["type"] == "file"]
            names = [name for name in names if name.endswith(endings)]
        else:
            names = [path] if files.exists(path) else []
    except SottovoceError:
        raise
    except Exception as error:
        raise ReportError(f"reports at an address cannot be listed: the storage fails ({_reason(error)})") from None
    names = [name for name in names if not name.rsplit("/", 1)[-1].startswith(".")]
    if not names:
        raise ReportError(f"nothing is at {address!r}; give a file, a folder or a glob of Parquet or .svr files").at(
            "reports"
        )
    return [str(files.unstrip_protocol(name)) for name in names]


def absolute(name: str) -> str:
    """The name that stays the same wherever the program runs."""
    return name if is_address(name) else os.path.realpath(name)


def status(name: str) -> FileStatus:
    """Length and time of a file; raises `OSError`."""
    if not is_address(name):
        local = os.stat(name)
        return FileStatus(local.st_size, local.st_mtime_ns, stat.S_ISREG(local.st_mode))
    files, path = file_system(name, _GIVEN, ReportError)
    with _OneKind():
        files.invalidate_cache()
        about = files.info(path)
        key = hashlib.sha256(str(files.ukey(path)).encode()).digest()
    return FileStatus(int(about["size"]), int.from_bytes(key[:7], "big"), about["type"] == "file")


def opened(name: str) -> IO[bytes]:
    """The file, to be read; raises `OSError`."""
    if not is_address(name):
        return open(name, "rb")
    files, path = file_system(name, _GIVEN, ReportError)
    with _OneKind():
        return cast(IO[bytes], files.open(path, "rb", block_size=_AHEAD))


def source(name: str) -> Any:
    """What pyarrow reads the file from: its path, or the open file."""
    return opened(name) if is_address(name) else name


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__


class _OneKind:
    """Turns whatever a storage raises into an `OSError`, which says that a file cannot be read and not why."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (OSError, SottovoceError)):
            raise OSError(5, f"the storage fails ({type(error).__name__})") from None


_SHOWN: Final = 5


class AttachmentFiles(Mapping[str, bytes]):
    """What a survey names by digest, read from folders when it is asked for; the survey checks the content."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = folders

    def __getitem__(self, digest: str) -> bytes:
        if not is_digest(digest):  # it becomes part of a path
            raise SurveyError("the survey's attachment must be named by a SHA-256: 64 hexadecimal digits in lower case")
        tried = list(dict.fromkeys(self._folders))
        for folder in tried:
            path = _inside(folder, digest)
            try:
                about = status(path)
                if not about.regular:
                    continue
                with opened(path) as file:
                    content = file.read(MAX_SURVEY_BYTES + 1)
            except FileNotFoundError:
                continue
            except OSError as error:
                reason = error.strerror or "the system refuses"
                raise SurveyError(f"the survey's attachment {path!r} cannot be read: {reason}") from error
            if len(content) > MAX_SURVEY_BYTES:
                raise SurveyError(f"the survey's attachment {path!r} is longer than {MAX_SURVEY_BYTES:,} bytes")
            return content
        looked = ", ".join(repr(folder) for folder in tried[:_SHOWN])
        more = f" and {len(tried) - _SHOWN} more" if len(tried) > _SHOWN else ""
        raise SurveyError(
            f"the survey's attachment {digest} is missing: no file has that name in {looked}{more}; put it "
            f"there, from an export of the survey or from /v1/attachments/{digest} of its collector"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def folders_of(names: Sequence[str]) -> Iterator[str]:
    """The folders of files, each once."""
    return iter(dict.fromkeys(_folder(name) for name in names))


def _folder(name: str) -> str:
    return name.rpartition("/")[0] if is_address(name) else os.path.dirname(name) or "."


def _inside(folder: str, name: str) -> str:
    return f"{folder}/{name}" if is_address(folder) else os.path.join(folder, name)
