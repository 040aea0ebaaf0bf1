"""An aggregate as a file: the survey's statement, the number of reports, and the counts in shards.

Shards have `SHARD_CELLS` cells; empty ones are left out, and each is written in the shorter of two ways: all its cells,
or those that are not zero. Files are written and read shard by shard, so that counts may exceed memory; the encoding
is canonical, so that two files can be compared byte by byte. Layout: a
header, the statement, its attachments, the shards in order, an end mark, and the SHA-256 of everything before it.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, Self, final

import numpy as np

from sottovoce.core.errors import MismatchError, ReportError, SottovoceError
from sottovoce.core.files import replacing, write_errors
from sottovoce.core.limits import SHARD_CELLS
from sottovoce.formats.sharded import ShardedAggregate, check_possible
from sottovoce.formats.wire import SURVEY_ID_BYTES
from sottovoce.mechanisms.shards import Shard, shard_length
from sottovoce.surveys.statement import MAX_SURVEY_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["AggregateFile", "write_aggregate"]

_MAGIC: Final = b"SVF"
_FORMAT: Final = 1
_HEADER: Final = struct.Struct(f"<3sB{SURVEY_ID_BYTES}sQQII")  # n, cells, bytes of the statement, attachments
_ATTACHMENT: Final = struct.Struct("<32sQ")  # digest, bytes
_SHARD: Final = struct.Struct("<BQI")  # kind, number, entries
_END, _DENSE, _SPARSE = range(3)
_DIGEST_BYTES: Final = 32
_AT_ONCE: Final = 1 << 22
_SPARSE_ENTRY: Final = 12
"""Bytes of a cell's index and count in a sparse shard; 8 in a dense one."""


def write_aggregate(
    path: str | os.PathLike[str], survey: Survey, n_reports: int, shards: Iterable[Shard]
) -> AggregateFile:
    """Write the file whole or not at all, replacing an existing one, and open it.

    Raises
    ------
    ReportError
        If it cannot be written; nothing is left behind.
    """
    target = Path(path)
    errors = write_errors(target, ReportError, "name another place")
    with errors, replacing(target) as part, part.open("wb") as file:
        _write(_Hashed(file), survey, n_reports, shards)
    return AggregateFile.open(target)


class _Hashed:
    """A file that is hashed as it is written or read."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes | memoryview) -> None:
        self.digest.update(data)
        self.file.write(data)


def _write(out: _Hashed, survey: Survey, n_reports: int, shards: Iterable[Shard]) -> None:
    statement, cells = survey.to_json().encode(), survey.mechanism.cells
    attachments = sorted(survey.attachments.items())
    out.write(
        _HEADER.pack(_MAGIC, _FORMAT, bytes.fromhex(survey.id), n_reports, cells, len(statement), len(attachments))
    )
    out.write(statement)
    for digest, content in attachments:
        out.write(_ATTACHMENT.pack(bytes.fromhex(digest), len(content)))
        out.write(content)
    last = -1
    for shard in shards:
        if not last < shard.number or len(shard.counts) != shard_length(cells, shard.number):
            raise MismatchError("shards must be in order, without repetition, and complete")
        last = shard.number
        _write_shard(out, shard)
    out.write(_SHARD.pack(_END, 0, 0))
    out.file.write(out.digest.digest())


def _write_shard(out: _Hashed, shard: Shard) -> None:
    places = np.flatnonzero(shard.counts)
    if not len(places):
        return
    if _SPARSE_ENTRY * len(places) < 8 * len(shard.counts):
        out.write(_SHARD.pack(_SPARSE, shard.number, len(places)))
        out.write(places.astype("<u4").tobytes())
        out.write(shard.counts[places].astype("<i8").tobytes())
    else:
        out.write(_SHARD.pack(_DENSE, shard.number, len(shard.counts)))
        out.write(shard.counts.astype("<i8").tobytes())


@final
class AggregateFile(ShardedAggregate):
    """An aggregate in a file; `AggregateFile.open` has checked every byte of it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sottovoce as sv
    >>> from sottovoce.formats.sharded import in_shards
    >>> survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    >>> aggregate = survey.aggregate().add([survey.randomize("yes") for _ in range(10)])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "aggregate.bin"
    >>> written = write_aggregate(path, survey, 10, in_shards(aggregate.counts))
    >>> AggregateFile.open(path).aggregate() == aggregate
    True
    """

    def __init__(self, path: Path, survey: Survey, n_reports: int, begin: int, identity: tuple[int, ...]) -> None:
        self.path, self.survey, self._n_reports, self._begin = path, survey, n_reports, begin
        self._identity = identity

    @property
    def n_reports(self) -> int:
        """Number of reports, as stated in the file."""
        return self._n_reports

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Read the file through once.

        Raises
        ------
        ReportError
            If it cannot be read, is not an aggregate, of another version, truncated, too long, or damaged.
        """
        source = Path(path)
        try:
            with source.open("rb") as file:
                _check_digest(file, source)
                file.seek(0)
                survey, n_reports = _read_header(file, source)
                opened = cls(source, survey, n_reports, file.tell(), _identity(file))
        except OSError as error:
            if isinstance(error, SottovoceError):
                raise
            raise ReportError(
                f"{source} cannot be read: {error.strerror}; name a file that sottovoce aggregate wrote"
            ).at("path") from error
        check_possible(survey, n_reports, opened.shards())
        return opened

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return self.path.stat().st_size

    def shards(self) -> Iterator[Shard]:
        """The shards that are not empty, in order, one in memory at a time."""
        cells, last = self.survey.mechanism.cells, -1
        with self._opened() as file:
            if _identity(file) != self._identity:
                raise ReportError(f"{self.path} has changed since it was opened; open it again")
            file.seek(self._begin)
            while (shard := _read_shard(file, cells, self.path)) is not None:
                if shard.number <= last:
                    raise _damaged(self.path)
                last = shard.number
                yield shard
            if len(file.read(_DIGEST_BYTES + 1)) != _DIGEST_BYTES:
                raise _damaged(self.path)

    def _opened(self) -> IO[bytes]:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise ReportError(f"{self.path} can no longer be read: {error.strerror}; aggregate again") from error

    def __repr__(self) -> str:
        return f"<aggregate file of {self.n_reports:,} reports of survey {self.survey.id[:12]}>"


def _identity(file: IO[bytes]) -> tuple[int, ...]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _damaged(path: Path) -> ReportError:
    return ReportError(f"{path} is damaged or not an aggregate file; aggregate the reports again")


def _check_digest(file: IO[bytes], path: Path) -> None:
    """Verify the digest at the end of the file."""
    length = os.fstat(file.fileno()).st_size
    head = file.read(_HEADER.size)
    if len(head) < 4 or head[:3] != _MAGIC:
        raise ReportError(f"{path} is not an aggregate file: it must begin with {_MAGIC.decode()}").at("path")
    if head[3] != _FORMAT:
        raise ReportError(f"{path} has format {head[3]}; this version reads format {_FORMAT}: update sottovoce").at(
            "path"
        )
    if length < _HEADER.size + _SHARD.size + _DIGEST_BYTES:
        raise ReportError(f"{path} is truncated: it has {length} bytes; aggregate the reports again").at("path")
    digest, left = hashlib.sha256(head), length - _DIGEST_BYTES - len(head)
    while left > 0:
        piece = file.read(min(left, _AT_ONCE))
        if not piece:
            break
        digest.update(piece)
        left -= len(piece)
    if file.read(_DIGEST_BYTES) != digest.digest():
        raise ReportError(f"{path} is truncated or damaged: its digest does not match; aggregate again")


def _exactly(file: IO[bytes], length: int, path: Path) -> bytes:
    data = file.read(length)
    if len(data) != length:
        raise _damaged(path)
    return data


def _read_header(file: IO[bytes], path: Path) -> tuple[Survey, int]:
    _, _, survey_id, n, cells, statement_bytes, n_attachments = _HEADER.unpack(_exactly(file, _HEADER.size, path))
    if statement_bytes > MAX_SURVEY_BYTES:
        raise _damaged(path)
    statement = _exactly(file, statement_bytes, path)
    attachments = {}
    for _ in range(n_attachments):
        digest, length = _ATTACHMENT.unpack(_exactly(file, _ATTACHMENT.size, path))
        attachments[digest.hex()] = _exactly(file, min(length, os.fstat(file.fileno()).st_size), path)
    survey = Survey.from_json(statement, attachments)
    if not isinstance(survey, Survey) or survey.id != survey_id.hex() or survey.mechanism.cells != cells:
        raise _damaged(path)
    if n > survey.mechanism.max_reports:
        raise ReportError(f"{path} states {n:,} reports, more than its counters can hold")
    return survey, n


def _read_shard(file: IO[bytes], cells: int, path: Path) -> Shard | None:
    kind, number, entries = _SHARD.unpack(_exactly(file, _SHARD.size, path))
    if kind == _END and not number and not entries:
        return None
    if number * SHARD_CELLS >= cells:
        raise _damaged(path)
    length = shard_length(cells, number)
    if kind == _DENSE and entries == length:
        return Shard(number, np.frombuffer(_exactly(file, 8 * length, path), dtype="<i8").astype(np.int64))
    if kind != _SPARSE or entries > length:
        raise _damaged(path)
    places = np.frombuffer(_exactly(file, 4 * entries, path), dtype="<u4").astype(np.int64)
    if not entries or places[-1] >= length or np.any(places[1:] <= places[:-1]):
        raise _damaged(path)
    counts = np.zeros(length, dtype=np.int64)
    counts[places] = np.frombuffer(_exactly(file, 8 * entries, path), dtype="<i8")
    return Shard(number, counts)
