"""What a stream knows of the batches it has counted: one small document, replaced whole, in a folder of its own.

The document names the files that count. Whatever else is in the folder was written by a batch that did not come to its
end, and is removed: a batch counts from the moment the document names its files, and not before.

Ids are forgotten by the span, an eighth of the horizon, so that the ids of a span can lie in one file: an id is
remembered for at least the horizon, and for at most an eighth longer.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from sottovoce.core.errors import ReportError
from sottovoce.core.files import leftover_parts, replace_file, write_errors
from sottovoce.engines.reports.rows import BadFile, Tally
from sottovoce.engines.streams.seen_files import REMEDY
from sottovoce.kernels.repeats import secret_multiplier

__all__ = ["BatchSpan", "Horizon", "SeenRun", "StateFolder", "StreamState"]


_SPANS: Final = 8
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_LONGEST: Final = 1 << 40


class Horizon(NamedTuple):
    """A length in seconds or in batches. The moment of a batch, its stamp, is counted in the same unit."""

    length: int
    unit: str

    @classmethod
    def parse(cls, given: object) -> Horizon:
        """Read a horizon such as "7 days", "500 batches" or a `timedelta`.

        Examples
        --------
        >>> Horizon.parse("2 hours"), Horizon.parse("500 batches")
        (Horizon(length=7200, unit='seconds'), Horizon(length=500, unit='batches'))
        """
        horizon = None
        if isinstance(given, timedelta):
            horizon = cls(math.ceil(given.total_seconds()), "seconds")
        elif isinstance(given, str) and (words := re.fullmatch(r"\s*(\d{1,12})\s+(\w+?)(?:s|(?<=batch)es)?\s*", given)):
            number, unit = int(words[1]), words[2].lower()
            if unit == "batch":
                horizon = cls(number, "batches")
            elif unit in _SECONDS:
                horizon = cls(number * _SECONDS[unit], "seconds")
        if horizon is None or not 0 < horizon.length < _LONGEST:
            raise ReportError(
                f"horizon is {given!r}: give a whole number of {', '.join(f'{unit}s' for unit in _SECONDS)} or batches "
                "that is positive, like '7 days', or a timedelta of at least a second"
            ).at("horizon")
        return horizon

    @classmethod
    def from_json(cls, data: Any) -> Horizon:
        """What a JSON document has of it."""
        length, unit = data
        if not isinstance(length, int) or unit not in ("seconds", "batches"):
            raise ValueError("not a horizon")
        return cls(length, unit)

    def __str__(self) -> str:
        return f"{self.length:,} {self.unit}"

    def until(self, stamp: int) -> int:
        """The last stamp of the span that `stamp` is in."""
        span = -(-self.length // _SPANS)
        return (stamp // span + 1) * span - 1

    def remembers(self, until: int, stamp: int) -> bool:
        """Whether ids of the span that ends with `until` are known to a batch of this stamp."""
        return until >= stamp - self.length


_FORMAT: Final = 1
_NAME: Final = "stream.json"
_LOCK: Final = "lock"
_OURS: Final = re.compile(r"run-[0-9a-f]{16}|\d{9}-\d{9}\.bin|\.\d{9}-\d{9}\.bin\.[0-9a-f]{16}\.part")
"""Names within the folder's folders; no others are ever removed."""

FAN_IN: Final = 8
"""Files of about one size that are merged into one."""


class SeenRun(NamedTuple):
    """A folder with the ids that some batches added, one file for each bucket that got any."""

    name: str
    until: int
    """The last stamp that any of these batches can have."""
    ids: tuple[int, ...]
    """How many there are in each bucket."""


class BatchSpan(NamedTuple):
    """Batches, the last included, whose counts are in one aggregate file."""

    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"{self.first:09}-{self.last:09}.bin"


@final
@dataclass(frozen=True)
class StreamState:
    """Everything that is known after a batch."""

    survey: str
    reports: str
    """What is followed."""
    horizon: Horizon
    buckets: int
    keys: tuple[int, int] = field(default_factory=lambda: (secret_multiplier(), secret_multiplier()))
    """Keys of the hash that chooses buckets: secret, so that nobody can choose ids that fill one of them."""
    checkpoint: str = ""
    """The name that Spark gave to its own record of what it has read."""
    batches: int = 0
    stamp: int = 0
    """Stamp of the last batch that was begun; stamps never decrease."""
    begun: bool = False
    """Whether that batch was not counted to its end: it comes again, and then has the same stamp."""
    content: str = ""
    """The digest of that batch's file names; empty for a table."""
    tally: Tally = field(default_factory=Tally)
    runs: tuple[SeenRun, ...] = ()
    counts: tuple[BatchSpan, ...] = ()

    def remembered(self) -> tuple[SeenRun, ...]:
        """The runs within the horizon of the batch that was begun last."""
        return tuple(run for run in self.runs if self.horizon.remembers(run.until, self.stamp))

    def counted(self, tally: Tally, run: SeenRun | None) -> StreamState:
        """The state after the begun batch: its reports count, its ids are known, and old ones are forgotten."""
        return replace(
            self,
            batches=self.batches + 1,
            begun=False,
            tally=self.tally + tally,
            runs=(*self.remembered(), *([run] if run else [])),
            counts=(*self.counts, BatchSpan(self.batches, self.batches)),
        )

    def runs_to_merge(self) -> tuple[SeenRun, ...]:
        """Neighbours that should be one run: all of a span that is over, or as many of about one size."""
        by_span: dict[int, list[SeenRun]] = {}
        for run in self.runs:
            by_span.setdefault(run.until, []).append(run)
        now = self.runs[-1].until if self.runs else 0
        for until, runs in by_span.items():
            if until != now and len(runs) > 1:
                return tuple(runs)
        last = by_span.get(now, [])[-FAN_IN:]
        few = len(last) < FAN_IN or sum(last[0].ids) >= FAN_IN * sum(last[-1].ids)
        return () if few else tuple(last)

    def merged(self, old: tuple[SeenRun, ...], new: SeenRun) -> StreamState:
        """The state with one run in place of several."""
        at = self.runs.index(old[0])
        rest = [run for run in self.runs if run not in old]
        return replace(self, runs=(*rest[:at], new, *rest[at:]))

    def counts_to_merge(self) -> tuple[BatchSpan, ...]:
        """Neighbours whose counts should be in one file."""
        last = self.counts[-FAN_IN:]
        return last if len(last) == FAN_IN and len({span.last - span.first for span in last}) == 1 else ()

    def to_bytes(self) -> bytes:
        """The state as JSON, with its digest on a line of its own."""
        document = {
            "format": _FORMAT,
            "survey": self.survey,
            "reports": self.reports,
            "horizon": list(self.horizon),
            "buckets": self.buckets,
            "keys": list(self.keys),
            "checkpoint": self.checkpoint,
            "batches": self.batches,
            "stamp": self.stamp,
            "begun": self.begun,
            "content": self.content,
            "tally": self.tally.to_dict(),
            "runs": [list(run) for run in self.runs],
            "counts": [list(span) for span in self.counts],
        }
        body = json.dumps(document).encode() + b"\n"
        return body + hashlib.sha256(body).hexdigest().encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> StreamState:
        """Read what `to_bytes` wrote; `ValueError` if it is anything else."""
        body, _, digest = data.rstrip(b"\n").rpartition(b"\n")
        if hashlib.sha256(body + b"\n").hexdigest().encode() != digest:
            raise ValueError("not what was written")
        held: dict[str, Any] = json.loads(body)
        if held.pop("format") != _FORMAT:
            raise ValueError("another format")
        tally = held.pop("tally")
        bad = tuple(BadFile(**file) for file in tally.pop("bad_files"))
        return cls(
            **held
            | {
                "horizon": Horizon.from_json(held["horizon"]),
                "keys": tuple(held["keys"]),
                "tally": Tally(**tally, bad_files=bad),
                "runs": tuple(SeenRun(name, until, tuple(ids)) for name, until, ids in held["runs"]),
                "counts": tuple(BatchSpan(*span) for span in held["counts"]),
            }
        )


@final
class StateFolder:
    """The folder; one stream writes to it at a time, and anybody may read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()

    @property
    def checkpoint(self) -> Path:
        """Spark's own record of what it has read."""
        return self.path / "checkpoint"

    def run(self, name: str) -> Path:
        """The folder of a run of ids."""
        return self.path / "ids" / name

    def counts(self, span: BatchSpan) -> Path:
        """The aggregate file of some batches."""
        return self.path / "counts" / span.name

    def read(self) -> StreamState | None:
        """What is known; None in a new folder.

        Raises
        ------
        ReportError
            If the folder has other content, or the document cannot be read or is damaged.
        """
        try:
            data = (self.path / _NAME).read_bytes()
        except FileNotFoundError:
            if self.path.exists() and (not self.path.is_dir() or any(self._foreign())):
                raise ReportError(
                    f"{self.path} has no {_NAME} and is not empty: name an empty or new folder for the state"
                ) from None
            return None
        except OSError as error:
            raise ReportError(f"{self.path / _NAME} cannot be read: {error.strerror}; {REMEDY}") from None
        try:
            return StreamState.from_bytes(data)
        except (ValueError, KeyError, TypeError):
            raise ReportError(
                f"{self.path / _NAME} is damaged, or was written by another version of sottovoce: {REMEDY}"
            ) from None

    def _foreign(self) -> Iterator[str]:
        ours = {_LOCK, "ids", "counts", *(part.name for part in leftover_parts(self.path / _NAME))}
        return (name for name in os.listdir(self.path) if name not in ours)

    def write(self, state: StreamState) -> None:
        """Replace the document: from now on its files count, and no others."""
        with self.writing():
            replace_file(self.path / _NAME, state.to_bytes(), mode=0o600)

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """Turns an `OSError` into a `ReportError`."""
        return write_errors(self.path, ReportError, "free some space, or allow writing there, and run the stream again")

    def sweep(self, state: StreamState) -> None:
        """Remove files that do not count."""
        for part in leftover_parts(self.path / _NAME):
            part.unlink(missing_ok=True)
        kept = {run.name for run in state.runs} | {span.name for span in state.counts}
        for folder in ("ids", "counts"):
            for entry in os.scandir(self.path / folder):
                if entry.name in kept or not _OURS.fullmatch(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other streams out, in this process or another, until the block or the process ends."""
        with self.writing():
            for folder in (self.run(""), self.path / "counts"):
                folder.mkdir(parents=True, exist_ok=True)
            lock = open(self.path / _LOCK, "ab")  # noqa: SIM115 - held as long as the block runs
        with lock:
            try:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # a system without file locks
                pass
            except OSError:
                raise ReportError(
                    f"another stream is using {self.path}: stop it, or name another folder for the state"
                ) from None
            yield
