"""Follow reports as they come: Structured Streaming finds them, and each is counted once, in whatever batch it comes.

Spark's checkpoint says which files, or which rows of a table, belong to which batch. A batch that was interrupted comes
again under its number with the same content.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, final

from sottovoce.core.addresses import is_address
from sottovoce.core.errors import MismatchError, ReportError
from sottovoce.engines.base import Faults, Progress, check_choice
from sottovoce.engines.cluster.errors import pyspark_sql, translating_errors
from sottovoce.engines.cluster.reading import checked_columns, is_table
from sottovoce.engines.cluster.watched import PATIENCE
from sottovoce.engines.reports.rows import Tally
from sottovoce.engines.streams.batches import BatchCounter, StreamCounts
from sottovoce.engines.streams.state import Horizon, StateFolder, StreamState
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

__all__ = ["ReportStream"]

_BUCKETS: Final = 64
_MOST_BUCKETS: Final = 1 << 12
_TABLE: Final = "a table"
_LISTED: Final = "path string, modificationTime timestamp, length bigint, content binary"
"""Columns of Spark's source of whole files; only the first is read."""


@final
class ReportStream:
    """Reports that are counted as they come; `sottovoce.engines.follow` makes it."""

    def __init__(
        self,
        session: Any,
        survey: Survey,
        reports: Any,
        *,
        state: str | os.PathLike[str],
        horizon: str | timedelta | None = None,
        faults: Faults = "refuse",
        files_per_batch: int = 1000,
        buckets: int | None = None,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        pyspark_sql()
        check_choice(faults)
        if not isinstance(files_per_batch, int) or files_per_batch < 1:
            raise ReportError(f"files_per_batch is {files_per_batch!r}: give a whole number of at least 1").at(
                "files_per_batch"
            )
        if getattr(session, "sparkContext", None) is None:
            raise ReportError(
                "a stream needs a session whose driver runs in this process, not one over Spark Connect: run it on "
                "the cluster with spark-submit"
            ).at("session")
        self._session, self._survey, self._reports = session, survey, reports
        self._faults, self._files_per_batch = faults, files_per_batch
        self._patience, self._clock = patience, clock
        self._followed = _followed(reports)
        self._folder = StateFolder(state)
        self._horizon = None if horizon is None else Horizon.parse(horizon)
        self._buckets = _checked_buckets(buckets)
        self._query: Any = None
        self._failure: BaseException | None = None
        self._held = ExitStack()
        self._agreed(self._folder.read())

    @property
    def tally(self) -> Tally:
        """What became of every row so far; an id that came again, in whatever batch, is among the duplicates."""
        state = self._folder.read()
        return state.tally if state else Tally()

    def counted(self) -> StreamCounts:
        """What all batches so far come to, to save or to estimate from. The stream may go on meanwhile."""
        return StreamCounts(self._survey, self._folder)

    def aggregate(self) -> Aggregate:
        """What all batches so far come to, in memory."""
        return self.counted().aggregate()

    def run_once(self, progress: Progress | None = None) -> Tally:
        """Count what has come and was not counted yet; returns the tally of everything so far.

        Raises
        ------
        ReportError
            If a batch cannot be counted, for instance because a row is not a report of the survey and `faults` is
            "refuse". The batch stays pending, and comes first the next time.
        ServiceError, CapacityError
            If the cluster cannot do it.
        """
        self._begin({"availableNow": True}, progress)
        try:
            self.wait()
        finally:
            self.stop()  # where it was interrupted
        return self.tally

    def start(self, every: str = "1 minute", progress: Progress | None = None) -> Self:
        """Count what has come, again and again, until `stop` or the end of a with-block."""
        self._begin({"processingTime": every}, progress)
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended, or for so long; whether it has. Raises what it ended with."""
        if self._query is None:
            return True
        try:
            with translating_errors():
                # Without a time limit Spark answers nothing, and it has ended.
                ended = self._query.awaitTermination(seconds) is not False
        except Exception as error:
            self._release()
            failure, self._failure = self._failure, None
            raise failure or error from None
        if ended:
            self._release()
        return ended

    def stop(self) -> None:
        """End it, after the batch that is being counted; raises what it ended with, if it had ended before."""
        if self._query is not None:
            with translating_errors():
                self._query.stop()
            self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _begin(self, trigger: dict[str, Any], progress: Progress | None) -> None:
        if self._query is not None:
            raise ReportError("this stream runs already: stop() it first")
        with ExitStack() as stack:
            stack.enter_context(self._folder.locked())
            state = self._agreed(self._folder.read())
            self._check_checkpoint(state)
            self._folder.write(state)
            counter = BatchCounter(
                self._session,
                self._survey,
                self._folder,
                faults=self._faults,
                patience=self._patience,
                clock=self._clock,
                progress=progress,
            )
            with translating_errors():
                writer = self._source().writeStream.foreachBatch(self._batches(counter))
                writer = writer.option("checkpointLocation", str(self._folder.checkpoint))
                self._query = writer.trigger(**trigger).start()
            self._held = stack.pop_all()

    def _release(self) -> None:
        self._query = None
        self._held.close()

    def _source(self) -> Any:
        if self._followed == _TABLE:
            return self._reports
        reader = self._session.readStream.format("binaryFile").schema(_LISTED)
        options = {
            "pathGlobFilter": "*.{parquet,svr}",
            "recursiveFileLookup": "true",
            "maxFilesPerTrigger": self._files_per_batch,
            "maxFileAge": "36500d",  # Spark would pass over files a week older than the newest, without a word
        }
        return reader.options(**options).load(self._followed).select("path")

    def _batches(self, counter: BatchCounter) -> Callable[[Any, int], None]:
        def count(table: Any, number: int) -> None:
            try:
                with translating_errors():
                    files = [] if self._followed == _TABLE else [_path(row.path) for row in table.collect()]
                    counter.count(number, table if self._followed == _TABLE else files, self._checkpoint_id())
            except BaseException as error:  # kept as it is: Spark passes on its text alone
                self._failure = error
                raise

        return count

    def _checkpoint_id(self) -> str:
        """The name that Spark has given to its checkpoint; empty before it has."""
        try:
            return str(json.loads((self._folder.checkpoint / "metadata").read_text())["id"])
        except FileNotFoundError:
            return ""
        except (OSError, ValueError, KeyError, TypeError):
            return "damaged"

    def _check_checkpoint(self, state: StreamState) -> None:
        if state.checkpoint and state.checkpoint != self._checkpoint_id():
            raise ReportError(
                f"the checkpoint in {self._folder.path} is missing, damaged or of another stream: restore the folder "
                "whole, or give a new one for the state"
            )

    def _agreed(self, state: StreamState | None) -> StreamState:
        """The state, which must be of this survey, of these reports, and of a horizon that is not longer."""
        where = self._folder.path
        if state is None:
            if self._horizon is None:
                raise ReportError(
                    f"{where} is new: say for how long ids are remembered, for instance horizon='7 days'"
                ).at("horizon")
            return StreamState(self._survey.id, self._followed, self._horizon, self._buckets or _BUCKETS)
        if state.survey != self._survey.id:
            raise MismatchError(
                f"{where} is the state of a stream of survey {state.survey[:12]}, not of {self._survey.id[:12]}: name "
                "another folder"
            ).at("survey")
        if state.reports != self._followed:
            raise MismatchError(
                f"{where} is the state of a stream that follows {state.reports}, not {self._followed}: name another "
                "folder for the state, or follow the same"
            ).at("reports")
        if self._buckets not in (None, state.buckets):
            raise MismatchError(f"{where} has {state.buckets} buckets, which cannot be changed: leave buckets out").at(
                "buckets"
            )
        horizon = self._horizon or state.horizon
        if horizon.unit != state.horizon.unit or horizon.length < state.horizon.length:
            raise MismatchError(
                f"{where} was begun with a horizon of {state.horizon}: it may be lengthened, and otherwise needs a new "
                "state folder"
            ).at("horizon")
        return replace(state, horizon=horizon)


def _followed(reports: object) -> str:
    """What is followed, as the state names it."""
    if is_table(reports):
        if not getattr(reports, "isStreaming", False):
            raise ReportError(
                "the table is not a streaming one: make it with spark.readStream, or count it at once"
            ).at("reports")
        checked_columns(reports)
        return _TABLE
    if not isinstance(reports, (str, os.PathLike)):
        raise ReportError(f"reports must be a folder or a streaming table, not {type(reports).__name__}").at("reports")
    name = os.fspath(reports)
    if is_address(name) or re.match(r"\w+://", name):
        raise ReportError(
            f"{name!r} is not a folder that Python can read: follow the table "
            f'spark.readStream.schema("report_id binary, report binary").parquet({name!r})'
        ).at("reports")
    if not Path(name).is_dir():
        raise ReportError(f"{name!r} is not a folder: make it, or name the one that files of reports are put into").at(
            "reports"
        )
    return os.path.realpath(name)


def _path(name: str) -> str:
    """The path of a file, from its name in Spark."""
    return re.sub(r"^file:/*", "/", name)


def _checked_buckets(given: int | None) -> int | None:
    if given is None or (isinstance(given, int) and 1 <= given <= _MOST_BUCKETS and given & (given - 1) == 0):
        return given
    raise ReportError(f"buckets is {given!r}: give a power of two from 1 to {_MOST_BUCKETS:,}, or leave it out").at(
        "buckets"
    )
