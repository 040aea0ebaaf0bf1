"""One file that holds a whole store, and the way back, into SQLite or PostgreSQL alike.

The file is an uncompressed ZIP: a member for each table, rows as MessagePack arrays each after its length, and a
manifest with the digests of all of them. The signing key and the sealing keys are not part of it: keep
those files apart, and as secret.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, cast

import msgspec

from sottovoce.collector.store import DATABASE_FILE, open_store
from sottovoce.collector.store.migrations import COLUMNS, Dialect, latest
from sottovoce.collector.store.object_storage import ObjectStorage
from sottovoce.collector.store.sql import SqlStore
from sottovoce.core.errors import StoreError
from sottovoce.core.files import sync
from sottovoce.core.words import plural
from sottovoce.service.running.volume import folder_lock
from sottovoce.service.running.watermark import WATERMARK_FILE
from sottovoce.service.storage.sql import Row, Transaction

__all__ = ["Contents", "backup", "restore", "verify"]

_FORMAT: Final = "sottovoce backup 1"
_ANY_FORMAT: Final = re.compile(r"sottovoce backup [0-9]{1,9}")
_MANIFEST: Final = "manifest.json"
_LENGTH_BYTES: Final = 4
_CHUNK_BYTES: Final = 4 * 1024 * 1024

_SYNC_BYTES: Final = 4 * 1024 * 1024
"""What is written is brought to the disk in pieces of about this length: a service on the same disk, which waits for
its own few bytes, would have to wait for all that were left to the end."""

_ERASURES: Final = "(SELECT survey FROM erasures)"
_LEFT_OUT: Final = {
    **dict.fromkeys(("waiting", "segments", "checkpoints", "checkpoint_parts"), f"survey IN {_ERASURES}"),
    "segment_parts": f"segment IN (SELECT number FROM segments WHERE survey IN {_ERASURES})",
}
"""Reports and counts of deleted surveys that have not been erased yet."""


class Contents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a backup holds."""

    surveys: int
    """Deleted ones too, whose ids must not come back; and rounds."""
    counted: int
    """Reports that have been counted."""
    waiting: int
    """Reports that have not; one that was sent twice may be there twice."""
    tokens: int
    objects: int = 0
    """Objects that hold some of the counted reports; the backup has their names, and not them."""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rows: int
    sha256: str


class _Head(msgspec.Struct, frozen=True):
    """What the manifest of every version tells, whatever else is in it."""

    format: str
    schema: int


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    schema: int
    contents: Contents
    tables: dict[str, _Table]


def backup(database: str, data: Path, archive: Path) -> Contents:
    """Write everything in a store, as it is at one moment, to a new file; the store may be in use meanwhile.

    Parameters
    ----------
    database, data
        The store, as `open_store` takes them.
    archive
        The file to make; one that exists is never overwritten.
    """
    if not database and not (data / DATABASE_FILE).is_file():
        raise StoreError(f"{data} has no database; name the folder that the collector was started with")
    try:
        # Reports are private enough to keep other users of the machine out.
        file = os.fdopen(os.open(archive, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b")
    except FileExistsError:
        raise StoreError(f"{archive} exists already, and a backup never overwrites; choose another name") from None
    except OSError as error:
        raise StoreError(f"{archive} cannot be made: {error.strerror}; choose another path") from error
    try:
        with file:
            with closing(cast(SqlStore, open_store(database, data))) as store, store.read() as transaction:
                _write(transaction, file, latest(store.dialect))
            file.flush()
            os.fsync(file.fileno())
        contents = verify(archive)
        sync(archive.absolute().parent)
    except BaseException as error:
        archive.unlink()
        if isinstance(error, OSError) and not isinstance(error, StoreError):
            raise StoreError(f"{archive} cannot be written: {error.strerror}; nothing was left there") from error
        raise
    return contents


def verify(archive: Path) -> Contents:
    """Read a backup through, and say what it holds; one that is damaged is refused."""
    with _opened(archive, latest("sqlite")) as (_, manifest):
        return manifest.contents


def restore(
    archive: Path, database: str, data: Path, objects: str = "", *, leave_out_missing: bool = False
) -> Contents:
    """Fill an empty store with a backup, in one transaction. A damaged one is refused before anything is written.

    So is one that names objects which are not all there, in their lengths.

    Parameters
    ----------
    archive
        What `backup` wrote, from either kind of database.
    database, data
        The store to make, as `open_store` takes them. A store with anything in it is refused, and so is the
        folder of a service that runs on SQLite.
    objects
        The storage of the objects that the backup names.
    leave_out_missing
        Whether a survey with missing objects is restored as deleted, instead of refusing the backup: it was
        deleted after the backup was made, and its objects with it.
    """
    dialect: Dialect = "postgresql" if database else "sqlite"
    with _opened(archive, latest(dialect)) as (source, manifest), _reserved(database, data):
        with closing(cast(SqlStore, open_store(database, data, objects=objects))) as store:
            with store.write() as transaction:
                if store.dialect == "postgresql":
                    transaction.run("LOCK TABLE surveys, tokens IN EXCLUSIVE MODE")
                if any(transaction.rows(f"SELECT 1 FROM {table} LIMIT 1") for table in COLUMNS):
                    raise StoreError(
                        "the database to restore into already holds surveys or tokens, and nothing in it was changed; "
                        "choose an empty one"
                    )
                for table in COLUMNS:
                    _fill(transaction, table, source, manifest.tables[table])
                left_out = _check_objects(archive, transaction, store.objects, leave_out_missing)
                # Leases were held on another database.
                transaction.run("UPDATE leases SET holder = '', expires = 0")
                if store.dialect == "postgresql":
                    _continue_numbers(transaction)
            for survey_id in left_out:
                store.delete(survey_id)
            contents = _contents(store) if left_out else manifest.contents
            # It tells of another database; the next service begins anew. One that stays is only said to be wrong.
            with suppress(OSError):
                (data / WATERMARK_FILE).unlink()
        return contents


@contextmanager
def _reserved(database: str, data: Path) -> Iterator[None]:
    """SQLite's folder, which no service may use until the restore has ended."""
    if database:
        yield
        return
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the data folder {data} cannot be made: {error.strerror}; choose another") from error
    with folder_lock(data):
        yield


def _write(transaction: Transaction, file: IO[bytes], schema: int) -> None:
    tables: dict[str, _Table] = {}
    unsynced = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
        for table, columns in COLUMNS.items():
            digest = hashlib.sha256()
            n = 0
            # A ZipInfo made by hand tells no time.
            with target.open(zipfile.ZipInfo(table), "w", force_zip64=True) as member:
                order = ", ".join(str(column + 1) for column in range(min(len(columns), 3)))
                kept = f"NOT ({_LEFT_OUT[table]})" if table in _LEFT_OUT else "1 = 1"
                for row in transaction.stream(
                    f"SELECT {', '.join(columns)} FROM {table} WHERE {kept} ORDER BY {order}"
                ):
                    encoded = msgspec.msgpack.encode(row)
                    framed = len(encoded).to_bytes(_LENGTH_BYTES, "little") + encoded
                    digest.update(framed)
                    member.write(framed)
                    n += 1
                    unsynced += len(framed)
                    if unsynced >= _SYNC_BYTES:
                        file.flush()
                        os.fsync(file.fileno())
                        unsynced = 0
            tables[table] = _Table(n, digest.hexdigest())
        manifest = _Manifest(_FORMAT, schema, _count(transaction), tables)
        target.writestr(zipfile.ZipInfo(_MANIFEST), msgspec.json.format(msgspec.json.encode(manifest)))


def _count(transaction: Transaction) -> Contents:
    ((surveys, counted, waiting, tokens, objects),) = transaction.rows(
        "SELECT (SELECT COUNT(*) FROM surveys), "
        f"(SELECT COALESCE(SUM(n), 0) FROM segments WHERE NOT ({_LEFT_OUT['segments']})), "
        f"(SELECT COALESCE(SUM(n), 0) FROM waiting WHERE NOT ({_LEFT_OUT['waiting']})), "
        "(SELECT COUNT(*) FROM tokens), "
        f"(SELECT COUNT(*) FROM segments WHERE object IS NOT NULL AND NOT ({_LEFT_OUT['segments']}))"
    )
    return Contents(surveys, int(counted), int(waiting), tokens, objects)


@contextmanager
def _opened(archive: Path, schema: int) -> Iterator[tuple[zipfile.ZipFile, _Manifest]]:
    """A backup whose content is as it was written, and its manifest."""
    try:
        file = archive.open("rb")
    except FileNotFoundError:
        raise StoreError(f"the file {archive} does not exist") from None
    except OSError as error:
        raise StoreError(f"{archive} cannot be read: {error.strerror}") from error
    with file:
        try:
            source = zipfile.ZipFile(file)
            # First: another version may have other tables, and is not damaged for that.
            _refuse_other_version(archive, source, schema)
            manifest = _checked(source)
        except StoreError:
            raise
        # A damaged ZIP raises half a dozen kinds of error, from struct's to NotImplementedError.
        except Exception as error:
            raise StoreError(
                f"{archive} is not a backup of Sottovoce, or is damaged; nothing was written: use another copy"
            ) from error
        with source:
            yield source, manifest


def _refuse_other_version(archive: Path, source: zipfile.ZipFile, schema: int) -> None:
    head = msgspec.json.decode(source.read(_MANIFEST), type=_Head)
    if head.format != _FORMAT and _ANY_FORMAT.fullmatch(head.format):
        raise StoreError(
            f"{archive} has the format {head.format!r}, and this version of Sottovoce reads {_FORMAT!r}; nothing was "
            "written: restore it with the version that made it"
        )
    if head.format == _FORMAT and head.schema != schema:
        remedy = "then upgrade" if head.schema < schema else "or a newer one"
        raise StoreError(
            f"{archive} was made with schema {head.schema}, and this version of Sottovoce writes schema {schema}; "
            f"nothing was written: restore it with the version that made it, {remedy}"
        )


def _checked(source: zipfile.ZipFile) -> _Manifest:
    if any(info.compress_type != zipfile.ZIP_STORED for info in source.infolist()):
        raise ValueError("compressed")
    if sorted(source.namelist()) != sorted([*COLUMNS, _MANIFEST]):
        raise ValueError("members")
    manifest = msgspec.json.decode(source.read(_MANIFEST), type=_Manifest)
    if manifest.format != _FORMAT or manifest.tables.keys() != COLUMNS.keys():
        raise ValueError("manifest")
    for table, expected in manifest.tables.items():
        digest = hashlib.sha256()
        with source.open(table) as member:
            while chunk := member.read(_CHUNK_BYTES):
                digest.update(chunk)
        if digest.hexdigest() != expected.sha256:
            raise ValueError("digest")
    return manifest


def _fill(transaction: Transaction, table: str, source: zipfile.ZipFile, expected: _Table) -> None:
    columns = COLUMNS[table]
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    digest = hashlib.sha256()
    pending: list[Row] = []
    n = size = 0
    with source.open(table) as member:
        while head := member.read(_LENGTH_BYTES):
            encoded = member.read(int.from_bytes(head, "little"))
            digest.update(head)
            digest.update(encoded)
            pending.append(tuple(msgspec.msgpack.decode(encoded, type=list[Any])))
            n, size = n + 1, size + len(encoded)
            if size >= _CHUNK_BYTES:
                transaction.many(statement, pending)
                pending, size = [], 0
    transaction.many(statement, pending)
    # The file was whole a moment ago; it must still be the same one.
    if (n, digest.hexdigest()) != (expected.rows, expected.sha256):
        raise StoreError("the backup changed while it was read; nothing was written")


def _contents(store: SqlStore) -> Contents:
    with store.read() as transaction:
        return _count(transaction)


def _check_objects(
    archive: Path, transaction: Transaction, storage: ObjectStorage | None, leave_out_missing: bool
) -> list[str]:
    """Surveys with missing objects; a refusal unless they may be left out."""
    named = transaction.rows(
        "SELECT o.name, o.length, COALESCE(s.parent, s.id) FROM objects o JOIN segments g ON g.object = o.name "
        "JOIN surveys s ON s.number = g.survey ORDER BY o.name"
    )
    if not named:
        return []
    names = f"{archive} names {plural(len(named), 'object')} of counted reports"
    if storage is None:
        raise StoreError(
            f"{names}, and no object storage is given; nothing was written: set objects (--objects) to where they are"
        )
    amiss = [(name, survey) for name, length, survey in named if storage.length(name) != length]
    if amiss and not leave_out_missing:
        raise StoreError(
            f"{names}; missing or of another length: {len(amiss):,}, {amiss[0][0]} the first; nothing was written: put "
            "back what is missing from a copy of the object storage, set objects (--objects) to where it is, or leave "
            "these surveys out (--leave-out-missing)"
        )
    return sorted({survey for _, survey in amiss})


def _continue_numbers(transaction: Transaction) -> None:
    """PostgreSQL does not notice numbers that it has not given itself."""
    for table, columns in COLUMNS.items():
        if columns[0] == "number":
            transaction.rows(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), COALESCE(MAX(number), 0) + 1, false) "
                f"FROM {table}"
            )
