"""Records that do not fit in memory: partitioned into files by a number, and read part by part."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError, SottovoceError
from sottovoce.core.files import sync

__all__ = ["MOST_PARTS", "Spill", "parts_for", "writing"]

MOST_PARTS: Final = 256
"""Files written at the same time; parts that are still too large are partitioned again."""

Bytes = NDArray[np.uint8]


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn an `OSError` into a `ReportError` that says what to do."""
    try:
        yield
    except OSError as error:
        if isinstance(error, SottovoceError):
            raise
        reason = error.strerror or "the system refuses"
        few_files = error.errno in (errno.EMFILE, errno.ENFILE)
        remedy = "Allow more (ulimit -n 4096)" if few_files else "Free some space there"
        raise ReportError(
            f"{folder} cannot be written: {reason}. {remedy}, or name another folder for the work, and run the same "
            "again: a named folder lets it resume. To give up instead, delete that folder"
        ) from error


def parts_for(nbytes: int, limit: int) -> int:
    """Number of parts that are small enough: a power of two, from 2 to `MOST_PARTS`."""
    return min(MOST_PARTS, max(2, 1 << (max(1, nbytes // max(1, limit))).bit_length()))


class Spill:
    """Records of one width in files, one per part. Thread-safe.

    Parameters
    ----------
    lengths
        Bytes of each existing file to keep; none by default.
    """

    def __init__(self, folder: Path, name: str, width: int, parts: int, lengths: list[int] | None = None) -> None:
        self.folder, self.name, self.width, self.parts = folder, name, width, parts
        self._lock = Lock()
        self._files: list[IO[bytes]] = []
        self._lengths = lengths or [0] * parts
        try:
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
                for part, length in enumerate(self._lengths):
                    self._files.append(open(self.path(part), "ab"))  # noqa: SIM115 - closed by `close`
                    self._cut(part, length)
        except BaseException:
            self.close()
            raise

    def _cut(self, part: int, length: int) -> None:
        file = self._files[part]
        if os.fstat(file.fileno()).st_size < length:
            raise ReportError(f"{self.path(part)} is shorter than recorded; delete {self.folder} and start again")
        file.truncate(length)

    def path(self, part: int) -> Path:
        """The file of a part."""
        return self.folder / f"{self.name}-{part:03d}.spill"

    def add(self, records: Bytes, numbers: NDArray[np.int64]) -> None:
        """Append each record, a row, to the part of its number."""
        # As bytes, which numpy sorts in linear time; and whole records are moved faster than rows of bytes.
        order = np.argsort(numbers.astype(np.uint8), kind="stable")
        whole = np.ascontiguousarray(records).view(f"V{self.width}")[:, 0][order]
        self.append(whole.view(np.uint8).reshape(-1, self.width), np.bincount(numbers, minlength=self.parts))

    def append(self, records: Bytes, sizes: NDArray[np.int64]) -> None:
        """Append records that are in the order of their parts, `sizes` of each part."""
        ends = np.cumsum(sizes)
        with self._lock, writing(self.folder):
            for part in np.flatnonzero(sizes).tolist():
                rows = records[ends[part] - sizes[part] : ends[part]]
                self._files[part].write(rows.data)
                self._lengths[part] += rows.size

    def size(self, part: int) -> int:
        """Bytes in a part."""
        return self._lengths[part]

    def kept(self) -> list[int]:
        """Sync all parts to disk and return their lengths."""
        with self._lock, writing(self.folder):
            for part, file in enumerate(self._files):
                file.flush()
                if self._lengths[part]:
                    sync(self.path(part))
        return list(self._lengths)

    def read(self, part: int, nbytes: int) -> Iterator[Bytes]:
        """The records of a part, in chunks of about `nbytes`."""
        with self._lock, writing(self.folder):
            self._files[part].flush()
        at_once = max(1, nbytes // self.width) * self.width
        gone = f"{self.path(part)} is missing or truncated; delete {self.folder} and start again"
        try:
            file = self.path(part).open("rb")
        except FileNotFoundError:
            raise ReportError(gone) from None
        with file:
            left = self._lengths[part]
            while left > 0:
                wanted = min(at_once, left)
                data = file.read(wanted)
                if len(data) != wanted:
                    raise ReportError(gone)
                left -= len(data)
                yield np.frombuffer(data, dtype=np.uint8).reshape(-1, self.width)

    def drop(self, part: int) -> None:
        """Delete a part."""
        self._files[part].close()
        self.path(part).unlink(missing_ok=True)

    def close(self, *, remove: bool = False) -> None:
        """Close all files, and remove them if asked."""
        for part, file in enumerate(self._files):
            with contextlib.suppress(OSError):
                file.close()
            if remove:
                self.path(part).unlink(missing_ok=True)
