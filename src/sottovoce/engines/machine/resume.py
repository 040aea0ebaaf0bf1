"""The working folder of a run: its plan and progress, and whether it can be resumed.

Progress is replaced whole after every group of files, when its data are on disk: a run that is killed at any moment
resumes after the last group.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

from sottovoce.core.errors import ReportError
from sottovoce.core.files import replace_file
from sottovoce.engines.machine.spill import writing
from sottovoce.engines.reports.files import ReportFile
from sottovoce.engines.reports.remote import absolute
from sottovoce.engines.reports.rows import BadFile, Tally
from sottovoce.surveys.survey import Survey

__all__ = ["WorkFolder"]

_FORMAT: Final = 1
_PLAN: Final = "plan.json"
_PROGRESS: Final = "progress.json"
_LOCK: Final = "lock"
_OURS: Final = re.compile(
    r"(plan|progress)\.json|\.(plan|progress)\.json\.[0-9a-f]{16}\.part|lock|counts-\d{6}\.npy|(halves|suspects|cells|taken)(-\d{3})+\.spill"
)
"""Names of the files of a run; no others are ever removed."""
_LISTED: Final = 3
"""How many files a message names."""


class WorkFolder:
    """The working folder of one run; a temporary one unless it is named."""

    def __init__(self, path: Path | None) -> None:
        if path is not None and path.exists() and not path.is_dir():
            raise ReportError(f"{path} is a file; name an empty or new folder for the work")
        self.named = path is not None
        self._path = path
        self._lock: IO[bytes] | None = None

    def folder(self) -> Path:
        """The folder, created on first use."""
        import tempfile

        if self._path is None:
            self._path = Path(tempfile.mkdtemp(prefix="sottovoce-"))
        with writing(self._path):
            self._path.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._path

    def claimed(self) -> Path:
        """The folder, locked by this run."""
        if self.named:
            self.claim()
        return self.folder()

    def clear(self) -> None:
        """Remove this run's files, and the folder if it is empty then; never files of another run."""
        if self._path is None or not self._path.is_dir():
            return
        if self.named and self._lock is None:
            if self.begun:
                return
            with contextlib.suppress(ReportError):
                self.claim()
            if self._lock is None:
                return
        self._remove()
        with contextlib.suppress(OSError):
            self._path.rmdir()
        self.let_go()
        if not self.named:
            self._path = None

    def _remove(self, keep: str = "") -> None:
        if self._path is None:
            return
        with writing(self._path):
            for entry in self._path.iterdir():
                if _OURS.fullmatch(entry.name) and entry.name != keep:
                    entry.unlink(missing_ok=True)

    def claim(self) -> None:
        """Lock the folder until it is released or the process ends."""
        while self._lock is None:
            folder = self.folder()
            with writing(folder):
                lock = open(folder / _LOCK, "ab")  # noqa: SIM115 - held until it is let go
            try:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # a system without file locks
                pass
            except OSError:
                lock.close()
                raise ReportError(
                    f"another run is using {folder}; wait for it to end, or name another folder"
                ) from None
            if _is_at(lock, folder / _LOCK):
                self._lock = lock
            else:  # its owner removed it in between
                lock.close()

    def let_go(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def begun(self) -> bool:
        """Whether the folder has an interrupted run."""
        return self._path is not None and (self._path / _PLAN).exists()

    def begin(self, survey: Survey, files: Sequence[ReportFile], settings: dict[str, int]) -> dict[str, int]:
        """Start a run, or resume the interrupted one; returns the settings that it was started with.

        Raises
        ------
        ReportError
            If the folder has a run of another survey or of other files, or other contents.
        """
        plan = {"format": _FORMAT, "survey": survey.id, "files": _listed(files), "settings": settings, "damaged": []}
        if not self.begun and not all(_OURS.fullmatch(entry.name) for entry in self.folder().iterdir()):
            raise ReportError(f"{self._path} is not empty; name an empty or new folder")
        self.claim()
        held = self._read(_PLAN)
        if held is None:
            self._write(_PLAN, plan)
            return settings
        self._compare(held, plan)
        earlier: dict[str, int] = held["settings"]
        return earlier

    def _compare(self, held: dict[str, Any], plan: dict[str, Any]) -> None:
        remedy = f"to start again delete {self._path} (or restart=True, --restart)"
        if held.get("format") != _FORMAT or not isinstance(held.get("files"), dict):
            raise ReportError(f"{self._path} was written by another version of sottovoce; {remedy}")
        if held["survey"] != plan["survey"]:
            raise ReportError(
                f"{self._path} has an interrupted run of survey {str(held['survey'])[:12]}, not of "
                f"{plan['survey'][:12]}; {remedy}"
            )
        if held["settings"].get("ids_unique", 0) != plan["settings"]["ids_unique"]:
            begun = "that removes duplicates" if plan["settings"]["ids_unique"] else "over ids that should be unique"
            raise ReportError(
                f"{self._path} has an interrupted run {begun}: give ids_unique (--ids-unique) as it was, or {remedy}"
            )
        before, now = held["files"], plan["files"]
        differing = {
            "changed": [path for path in now if path in before and now[path] != before[path]],
            "new": [path for path in now if path not in before],
            "missing or unusable": [path for path in before if path not in now],
        }
        differences = "; ".join(f"{what}: {_listing(paths)}" for what, paths in differing.items() if paths)
        if differences:
            raise ReportError(f"{self._path} has an interrupted run over other files ({differences}); {remedy}")

    def damaged(self) -> tuple[BadFile, ...]:
        """Files that turned out to be damaged, and are skipped."""
        return tuple(BadFile(*bad) for bad in (self._read(_PLAN) or {}).get("damaged", []))

    def leave_out(self, damaged: Sequence[BadFile]) -> None:
        """Start again without these files."""
        plan = self._read(_PLAN)
        if plan is None:
            self.clear()
            return
        # The lock is kept.
        self._remove(keep=_LOCK)
        self._write(_PLAN, {**plan, "damaged": [list(bad) for bad in damaged]})

    def progress(self) -> dict[str, Any] | None:
        """The progress after the last group, if any."""
        return self._read(_PROGRESS) if self.named else None

    def advance(self, groups: int, tally: Tally, kept: dict[str, object]) -> None:
        """Record the number of groups done."""
        before = self.progress() or {}
        rows = {name: n for name, n in tally.to_dict().items() if name != "bad_files"}
        self._write(_PROGRESS, {"groups": groups, "tally": rows, **kept})
        if (last := before.get("counts")) and last != kept.get("counts"):
            (self.folder() / last).unlink(missing_ok=True)

    def _read(self, name: str) -> dict[str, Any] | None:
        if self._path is None:
            return None
        path = self._path / name
        try:
            record = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise ReportError(f"{path} cannot be read; delete {self._path} and start again") from error
        if not isinstance(record, dict):
            raise ReportError(f"{path} is damaged; delete {self._path} and start again")
        return record

    def _write(self, name: str, content: dict[str, Any]) -> None:
        folder = self.folder()
        with writing(folder):
            replace_file(folder / name, json.dumps(content).encode())


def _is_at(lock: IO[bytes], path: Path) -> bool:
    """Whether the open file is the one at that path."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _listed(files: Sequence[ReportFile]) -> dict[str, list[int]]:
    return {absolute(file.path): [file.nbytes, file.modified] for file in files}


def _listing(paths: list[str]) -> str:
    rest = f" and {len(paths) - _LISTED:,} more" if len(paths) > _LISTED else ""
    return ", ".join(sorted(paths)[:_LISTED]) + rest
