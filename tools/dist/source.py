"""The source that is built: exactly the files of a commit, copied into an empty folder.

What lies about in a checkout (caches, results, files that git ignores) so never gets into a package.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.dist.processes import BuildError, output

__all__ = ["commit_time", "export", "uncommitted"]


def _git(root: Path, *words: str, **settings: str) -> bytes:
    return output("git", *words, within=root, **settings)


def uncommitted(root: Path) -> list[str]:
    """Paths that are changed, or neither tracked nor ignored."""
    listed = _git(root, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all").decode().split("\0")
    return [entry[3:] for entry in listed if entry]


def commit_time(root: Path) -> str:
    """Seconds since 1970 of the last commit: the time that every file of a package gets."""
    return _git(root, "log", "-1", "--format=%ct", "HEAD").decode().strip()


def export(root: Path, to: Path, with_changes: bool = False) -> None:
    """Copy the files of the last commit, or of the checkout as it is, into an empty folder."""
    if not with_changes and (changed := uncommitted(root)):
        some = ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
        raise BuildError(
            f"{len(changed)} uncommitted: {some}. A release is built from a commit: commit or stash, "
            "or pass --with-changes for a trial"
        )
    packed = _git(root, "archive", "--format=tar", _tree(root) if with_changes else "HEAD")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(to, filter="data")


def _tree(root: Path) -> str:
    """The checkout as a tree of git's, by an index of its own: what the user has staged stays as it is."""
    with TemporaryDirectory() as folder:
        index = str(Path(folder) / "index")
        _git(root, "read-tree", "HEAD", GIT_INDEX_FILE=index)
        _git(root, "add", "--all", GIT_INDEX_FILE=index)
        return _git(root, "write-tree", GIT_INDEX_FILE=index).decode().strip()
