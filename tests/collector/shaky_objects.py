"""Object storage that fails on purpose: files in memory, of which the operation of a chosen number goes wrong."""

from __future__ import annotations

from typing import Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

from sottovoce.collector.store.object_storage import ObjectStorage


class ShakyFiles(MemoryFileSystem):  # type: ignore[misc]
    """Counts operations; the one numbered `fails_at` raises `error`, or writes half of what it was given."""

    protocol = "shaky"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    done: ClassVar[list[str]] = []
    fails_at: ClassVar[int] = -1
    error: ClassVar[Exception] = OSError(5, "input or output")
    tears: ClassVar[bool] = False

    def _count(self, what: str) -> bool:
        """Note an operation; whether it is to go wrong without an error."""
        self.done.append(what)
        if len(self.done) - 1 != ShakyFiles.fails_at:
            return False
        if ShakyFiles.tears and what == "put":
            return True
        raise ShakyFiles.error

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        torn = self._count("put")
        super().pipe_file(path, value[: len(value) // 2] if torn else value, mode, **kwargs)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> Any:
        self._count("get")
        return super().cat_file(path, start, end, **kwargs)

    def rm_file(self, path: str) -> None:
        self._count("remove")
        super().rm_file(path)


fsspec.register_implementation("shaky", ShakyFiles, clobber=True)


def shaky_storage() -> ObjectStorage:
    """An empty one that does not fail yet."""
    ShakyFiles.store.clear()
    ShakyFiles.pseudo_dirs[:] = [""]
    behave()
    return ObjectStorage("shaky://")


def behave(fails_at: int = -1, error: Exception | None = None, *, tears: bool = False) -> None:
    """From now on, count from 0 and fail there."""
    ShakyFiles.done.clear()
    ShakyFiles.fails_at, ShakyFiles.tears = fails_at, tears
    ShakyFiles.error = error or OSError(5, "input or output")


def held() -> list[str]:
    """The names of all objects."""
    return sorted(name.removeprefix("/shaky:").lstrip("/") for name in ShakyFiles.store)
