"""Object storage: a folder or a bucket, by an address that fsspec understands.

An object is written once, under a name that is never used again, and is checked against its SHA-256 whenever it is
read. Nothing is ever listed, so that files of others in the same folder are neither read nor touched. The objects of
segments are Parquet files of reports, as exports have them.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.store.records import NewSegment
from sottovoce.core.addresses import file_system
from sottovoce.core.errors import ObjectStorageError, SettingsError
from sottovoce.core.files import create_file, leftover_parts, sync
from sottovoce.formats.report_files import REPORT, REPORT_ID, pyarrow, write_reports
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["ObjectStorage", "object_bytes", "object_name", "reports_in"]

_WHERE: Final = "the object storage (setting objects)"


def object_name(survey_id: str, epoch: int, content: bytes) -> str:
    """A new name for the content: a folder a survey, then coarse time, digest, and a random part.

    The random part makes a name good for one attempt: what is removed can never be what somebody else has just written.
    """
    return f"{survey_id}/{epoch}-{hashlib.sha256(content).hexdigest()}-{secrets.token_hex(8)}.parquet"


@final
class ObjectStorage:
    """The storage of objects. Safe to use from several threads.

    Parameters
    ----------
    address
        A folder, or a URL such as s3://bucket/folder.

    Raises
    ------
    MissingExtraError
        If fsspec, or the package that it needs for this kind of storage, is not installed.
    SettingsError
        If the address cannot be used.

    Examples
    --------
    >>> storage = ObjectStorage("memory://example")
    >>> storage.put("a/b", b"reports")
    >>> storage.get("a/b", hashlib.sha256(b"reports").hexdigest())
    b'reports'
    >>> storage.remove("a/b"), storage.length("a/b")
    (None, None)
    """

    def __init__(self, address: str) -> None:
        self._files, self._root = file_system(address, "objects", SettingsError)
        self._folder = Path(self._root) if "file" in _protocols(self._files) else None
        if self._folder is not None:
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise SettingsError(
                    f"objects: the folder cannot be made ({error.strerror}); name one that this user may write to"
                ).at("objects") from None

    def put(self, name: str, content: bytes) -> None:
        """Write an object, and read it back: on return it is there, durable and whole."""
        with _translated("written", "create objects"):
            if self._folder is not None:
                _write_file(self._folder / name, content)
            else:
                self._pipe(self._path(name), content)
        self.get(name, hashlib.sha256(content).hexdigest())

    def get(self, name: str, sha256: str) -> bytes:
        """The object's content; one that is missing or not as it was written is refused."""
        try:
            with _translated("read", "read objects"):
                content: bytes = self._files.cat_file(self._path(name))
        except FileNotFoundError:
            raise ObjectStorageError(
                f"{_WHERE} has no object {_short(name)}; put it back from a copy, or set objects to where it is"
            ) from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ObjectStorageError(
                f"{_WHERE} has an object {_short(name)} of {len(content):,} bytes that is not what was written; "
                "put it back from a copy"
            )
        return content

    def length(self, name: str) -> int | None:
        """How many bytes the object has; None when it is not there."""
        try:
            with _translated("looked at", "read objects"):
                self._files.invalidate_cache()
                return int(self._files.info(self._path(name))["size"])
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove the object, if it is there."""
        with contextlib.suppress(FileNotFoundError), _translated("removed", "delete objects"):
            self._files.rm_file(self._path(name))
        if self._folder is not None:
            path = self._folder / name
            with contextlib.suppress(FileNotFoundError), _translated("removed", "delete objects"):
                # A kill while it was written has left what was written until then.
                for part in leftover_parts(path):
                    part.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # other objects of the survey, or somebody's files
                path.parent.rmdir()

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def _pipe(self, path: str, content: bytes) -> None:
        try:
            self._files.pipe_file(path, content)
        except FileNotFoundError:
            # Some kinds of storage have folders; the one that the setting names is not made here.
            self._files.mkdir(path.rsplit("/", 1)[0], create_parents=False)
            self._files.pipe_file(path, content)


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)


def _write_file(path: Path, content: bytes) -> None:
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(mode=0o700)
        sync(path.parent.parent)
    create_file(path, content, mode=0o600)


def _short(name: str) -> str:
    """Enough of a name to find the object; survey and digest are long."""
    survey, _, rest = name.partition("/")
    return f"{survey[:12]}.../{rest[:24]}..."


@contextlib.contextmanager
def _translated(what: str, right: str) -> Iterator[None]:
    """Errors of any storage in our words; of theirs only the kind is kept, since they may hold an address or a key."""
    try:
        yield
    except FileNotFoundError:
        if what in ("read", "looked at", "removed"):
            raise
        raise ObjectStorageError(
            "an object cannot be written: the folder that the setting objects names does not exist; make it, or "
            "mount it again"
        ) from None
    except PermissionError:
        raise ObjectStorageError(
            f"an object cannot be {what}: {_WHERE} does not permit it; allow the service to {right} there"
        ) from None
    except Exception as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
        raise ObjectStorageError(
            f"an object cannot be {what}: {_WHERE} fails ({reason}); look at the storage, it is tried again"
        ) from None


def object_bytes(survey: Survey, segment: NewSegment) -> bytes:
    """A file of the segment's reports, which engines read; it tells no time but the segment's epoch.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    >>> content = object_bytes(survey, NewSegment(7, 1, bytes(16), survey.mechanism.encode(1)))
    >>> reports_in(content) == (bytes(16), survey.mechanism.encode(1))
    True
    """
    payloads = np.frombuffer(segment.payloads, dtype=np.uint8).reshape(segment.n, survey.mechanism.report_bytes)
    ids = np.frombuffer(segment.ids, dtype=np.uint8).reshape(segment.n, REPORT_ID_BYTES)
    file = io.BytesIO()
    write_reports(file, survey, ids, payloads, epoch=segment.epoch)
    return file.getvalue()


def reports_in(content: bytes) -> tuple[bytes, bytes]:
    """The ids and payloads in such a file, each one after the other."""
    pa, pq = pyarrow()
    ids, payloads = [], []
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        # Not read_table, which would import pandas where it is installed.
        for batch in file.iter_batches(columns=[REPORT_ID, REPORT], use_threads=False):
            ids.append(_rows(batch.column(REPORT_ID)).tobytes())
            payloads.append(_rows(batch.column(REPORT))[:, TAG_BYTES:].tobytes())
    return b"".join(ids), b"".join(payloads)


def _rows(array: Any) -> NDArray[np.uint8]:
    """Values of one width as rows of bytes."""
    width = array.type.byte_width
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return data[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)
