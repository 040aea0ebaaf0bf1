"""A check, by the system's list of mounts, that the files of a service outlive the container that it runs in.

A folder that no volume is mounted on looks like any other until the container is replaced, and everything in it is
gone. So the image asks for a volume, and the service looks before it writes. The list is `proc_pid_mountinfo(5)`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sottovoce.core.errors import SettingsError

__all__ = ["MountPoint", "check_volume", "folder_lock", "mount_points", "why_gone"]

_LIST: Final = Path("/proc/self/mountinfo")

_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
"""Blanks and the like in names."""

_IN_MEMORY: Final = ("tmpfs", "ramfs")

_NAMELESS: Final = re.compile(r"/volumes/[0-9a-f]{64}/_data(/|$)")
"""Docker and Podman make such a volume where an image declares one and nobody names one; no later container gets it."""

_OF_A_POD: Final = "/kubernetes.io~empty-dir/"
"""Kubernetes deletes such a folder with its pod."""


@dataclass(frozen=True)
class MountPoint:
    """One line of the list."""

    path: Path
    """The folder that it is mounted at."""
    root: str
    """The folder of the file system that is mounted."""
    kind: str
    """Kind of the file system."""


def mount_points(text: str) -> list[MountPoint]:
    """The lines of the list; where two are mounted at one path, the later hides the earlier.

    Examples
    --------
    >>> mount_points("36 35 98:0 /a /my\\\\040data rw,noatime shared:1 - ext4 /dev/root rw")
    [MountPoint(path=PosixPath('/my data'), root='/a', kind='ext4')]
    """
    mounts = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        _, _, _, root, path, *_ = (_ESCAPED.sub(lambda code: chr(int(code[1], 8)), word) for word in before.split(" "))
        mounts[path] = MountPoint(Path(path), root, after.split(" ")[0])
    return list(mounts.values())


def why_gone(path: Path, mounted: Iterable[MountPoint]) -> str | None:
    """Why a file or folder goes with the container; None for one that stays.

    Examples
    --------
    >>> listed = mount_points("1 0 0:1 / / rw - overlay overlay rw\\n2 1 0:2 / /tmp rw - tmpfs tmpfs rw")
    >>> why_gone(Path("/data"), listed)
    "lies in the container's own layer"
    >>> why_gone(Path("/tmp/data"), listed)
    'lies in memory (tmpfs)'
    """
    mount = _mount_of(path, mounted)
    if mount.path == Path("/"):
        return "lies in the container's own layer"
    if mount.kind in _IN_MEMORY:
        return f"lies in memory ({mount.kind})"
    if _NAMELESS.search(mount.root):
        return "lies in a volume without a name, which no later container gets"
    if _OF_A_POD in mount.root:
        return "lies in an emptyDir, which goes with its pod"
    return None


def check_volume(folder: Path, held: str, *, keys: Sequence[str] = (), listed: Path = _LIST) -> None:
    """Raise `SettingsError` where what a service keeps in this folder would be gone with its container.

    Parameters
    ----------
    folder
        It need not exist.
    held
        What would be lost, for people.
    keys
        Names of files, if only these are to last: each may instead be mounted by itself, as secrets are.
    listed
        The list of mounts.
    """
    try:
        mounted = mount_points(listed.read_text("utf-8", "surrogateescape"))
    except OSError as error:
        raise SettingsError(
            f"require_volume is yes, and {listed} cannot be read ({error.strerror}), which says whether {folder} is "
            "on a volume; set require_volume to no where that file does not exist"
        ) from None
    reason = why_gone(folder, mounted)
    if reason is None or (keys and all(_given(folder / key, mounted) for key in keys)):
        return
    raise SettingsError(
        f"the data folder {folder} {reason}: {held} would be lost with the container. Nothing was written. Mount a "
        f"volume with a name there (podman run --volume sottovoce:{folder} ...); to try it without one, set "
        "require_volume to no"
    )


def _given(key: Path, mounted: Sequence[MountPoint]) -> bool:
    """Whether somebody has mounted this file. Secrets are often in memory, and come from where they last."""
    return key.is_file() and _mount_of(key, mounted) != _mount_of(key.parent, mounted)


def _mount_of(path: Path, mounted: Iterable[MountPoint]) -> MountPoint:
    real = path.resolve()
    above = [mount for mount in mounted if real.is_relative_to(mount.path)]
    return max(above, key=lambda mount: len(mount.path.parts), default=MountPoint(Path("/"), "/", ""))


@contextlib.contextmanager
def folder_lock(folder: Path, flag: str = "--data") -> Iterator[None]:
    """Keep other services, and restores, away from a data folder that exists, for the length of the block.

    Counting processes, backups and commands for tokens ask for no lock: they may work beside a service.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SettingsError(_reason(folder, error, flag)) from None
        yield
    finally:
        os.close(descriptor)


def _reason(folder: Path, error: OSError, flag: str) -> str:
    if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
        return (
            f"another service, or a restore, works in the data folder {folder}; stop it first, or choose another "
            f"folder with {flag} (several collectors can share a PostgreSQL database)"
        )
    return (
        f"the data folder {folder} cannot be locked: {error.strerror}; it must be on a local disk, since network file "
        f"systems lack locks that SQLite can trust; choose another with {flag}"
    )
