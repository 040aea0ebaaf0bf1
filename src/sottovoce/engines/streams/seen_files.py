"""A file of the report ids that one batch, or several, added to one bucket of a stream's state.

Layout: the ids in increasing order, the first of every block and its CRC-32, then a footer with their number and the
CRC-32 of what stands between. Look-ups read the blocks they need, and verify those.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Final

import numpy as np

from sottovoce.core.errors import ReportError
from sottovoce.core.files import replacing
from sottovoce.formats.id_blocks import IdBlocks, WrittenIds, block_count, write_ids
from sottovoce.formats.report_ids import IdRun
from sottovoce.formats.wire import REPORT_ID_BYTES

__all__ = ["opened_seen", "seen_count", "write_seen"]

_MAGIC: Final = b"SVI\1"
_FOOTER: Final = struct.Struct("<QI4s")
_FENCE_BYTES: Final = REPORT_ID_BYTES + 4
REMEDY: Final = "restore the state folder from a copy, or count everything again with a new one"


def write_seen(path: Path, pieces: Iterable[IdRun]) -> None:
    """Write distinct ids, in order, at least one: whole or not at all, and always the same bytes for the same ids."""
    with replacing(path) as part, part.open("r+b", buffering=0) as file:
        written = write_ids(file, pieces, checked=True)
        index = np.stack(written.fences, axis=1).astype("<u8").tobytes() + written.checksums.astype("<u4").tobytes()
        file.write(index + _FOOTER.pack(written.n, zlib.crc32(index), _MAGIC))


@contextmanager
def opened_seen(path: Path) -> Iterator[IdBlocks]:
    """The ids of a file.

    Raises
    ------
    ReportError
        If it is missing or damaged; also from within the block, when a block of ids is found to be.
    """
    try:
        with path.open("rb", buffering=0) as file:
            yield IdBlocks(file, _index(file))
    except (OSError, ReportError) as error:
        if isinstance(error, FileNotFoundError):
            raise ReportError(f"{path} of a stream's state is missing: {REMEDY}") from None
        raise ReportError(f"{path} of a stream's state cannot be read, or is damaged: {REMEDY}") from None


def seen_count(path: Path) -> int:
    """How many ids a file has."""
    with opened_seen(path) as ids:
        return ids.n


def _index(file: FileIO) -> WrittenIds:
    length = file.seek(0, 2)
    file.seek(max(0, length - _FOOTER.size))
    footer = file.read(_FOOTER.size)
    n, checksum, magic = _FOOTER.unpack(footer) if len(footer) == _FOOTER.size else (0, 0, b"")
    blocks = block_count(n)
    if magic != _MAGIC or length != n * REPORT_ID_BYTES + blocks * _FENCE_BYTES + _FOOTER.size:
        raise ReportError("its length or its footer is not that of a file of ids")
    file.seek(n * REPORT_ID_BYTES)
    index = file.read(blocks * _FENCE_BYTES)
    if zlib.crc32(index) != checksum:
        raise ReportError("its index is not what was written")
    fences = np.frombuffer(index, dtype="<u8", count=2 * blocks).reshape(-1, 2).astype(np.uint64)
    sums = np.frombuffer(index, dtype="<u4", offset=REPORT_ID_BYTES * blocks).astype(np.uint32)
    return WrittenIds(n, IdRun(np.ascontiguousarray(fences[:, 0]), np.ascontiguousarray(fences[:, 1])), sums)
