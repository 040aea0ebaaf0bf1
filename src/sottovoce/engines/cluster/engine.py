"""The cluster of a Spark session: every row is counted where it is read, and half of its id is shuffled once.

No machine holds more than its share: a task some megabytes of rows and the survey's cells (or, where those are many,
only the cells its own rows move), the driver one shard after another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Final, final

from sottovoce.core.errors import ReportError
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import stepping
from sottovoce.engines.base import Counted, Engine, Faults, Ids, Progress, check_choice, check_faults, ids_trusted
from sottovoce.engines.cluster.counted import SparkCounted
from sottovoce.engines.cluster.errors import pyspark_sql, translating_errors
from sottovoce.engines.cluster.job import TASK_MEMORY
from sottovoce.engines.cluster.reading import checked_columns, cut, found_files, is_table
from sottovoce.engines.cluster.run import CountedRows, ReportRows, SparkRun, parallel
from sottovoce.engines.cluster.watched import PATIENCE
from sottovoce.engines.reports.files import ReportFile, check_unchanged
from sottovoce.engines.reports.rows import BadFile, Tally
from sottovoce.surveys.survey import Survey

__all__ = ["SparkEngine"]

_LEAST_MEMORY: Final = 1 << 20


@final
class SparkEngine(Engine):
    """Counts on the cluster of a session.

    Parameters
    ----------
    session
        A `pyspark.sql.SparkSession`, of any kind; the engine neither makes nor stops it.
    patience
        Seconds that a job may be without any worker before it is given up.
    task_memory_bytes
        Memory that one task may use, about, beside Python itself.
    task_rows
        How finely files are cut; the default suits most clusters.
    """

    name: ClassVar[str] = "spark"

    def __init__(
        self,
        session: Any,
        *,
        patience: float = PATIENCE,
        task_memory_bytes: int | None = None,
        task_rows: int | None = None,
    ) -> None:
        sql = pyspark_sql()
        if not hasattr(session, "createDataFrame") or not hasattr(session, "range"):
            raise ReportError(
                f"session has type {type(session).__name__}: give a {sql.__name__}.SparkSession, for instance that of "
                "sottovoce.engines.cluster.session.session()"
            ).at("session")
        memory = TASK_MEMORY if task_memory_bytes is None else task_memory_bytes
        self._memory = check_integer("task_memory_bytes", memory, _LEAST_MEMORY, 2**40)
        self._session, self._patience, self._task_rows = session, patience, task_rows

    def count(
        self,
        survey: Survey,
        reports: Any,
        *,
        faults: Faults = "refuse",
        ids_unique: bool | None = None,
        progress: Progress | None = None,
    ) -> Counted:
        """Count files that every worker can read, or a table with binary columns `report_id` and `report`.

        Raises
        ------
        ReportError
            If the reports cannot be counted, as for any engine, or a table's columns are not those of reports.
        ServiceError
            If the cluster cannot do it; `code` says why in one word.
        CapacityError
            If memory or disk of the cluster do not suffice.
        """
        check_choice(faults)
        ids = ids_trusted(ids_unique, stated=False)
        with stepping(progress, "counting") as tell:
            run = SparkRun(self._session, survey, memory=self._memory, patience=self._patience, progress=tell)
            return self._counted(run, survey, reports, faults, ids, ids_unique)

    def _counted(
        self, run: SparkRun, survey: Survey, reports: Any, faults: Faults, ids: Ids, ids_unique: bool | None
    ) -> Counted:
        if is_table(reports):
            with translating_errors():
                table = checked_columns(reports)
            counted = run.count(ReportRows(table), ids)
            return _checked(survey, counted, counted.tally, faults, ids)
        scanned = found_files(survey, reports)
        if faults == "refuse":
            check_faults(survey, Tally(bad_files=scanned.bad), faults)
        ids = ids_trusted(ids_unique, scanned.ids_unique)
        bad, good = scanned.bad, scanned.files
        while True:
            counted = run.count(self._in_tasks(good), ids) if good else CountedRows()
            if not counted.bad:
                break
            # Part of these was counted before it was seen that the rest cannot be read: once more, without them.
            counted.close()
            bad += tuple(BadFile(good[number].path, why) for number, why in counted.bad.items())
            good = tuple(file for number, file in enumerate(good) if number not in counted.bad)
            if faults == "refuse":
                check_faults(survey, replace(counted.tally, bad_files=tuple(sorted(bad))), faults)
        try:
            check_unchanged(good)
        except BaseException:
            counted.close()
            raise
        tally = replace(counted.tally, files=len(good), bad_files=tuple(sorted(bad)))
        return _checked(survey, counted, tally, faults, ids)

    def _in_tasks(self, good: tuple[ReportFile, ...]) -> ReportRows:
        with translating_errors():
            cores, _ = parallel(self._session)
        return ReportRows(None, tuple(cut(good, cores, self._task_rows)))


def _checked(survey: Survey, counted: CountedRows, tally: Tally, faults: Faults, ids: Ids) -> SparkCounted:
    try:
        check_faults(survey, tally, faults)
    except BaseException:
        counted.close()
        raise
    return SparkCounted(survey, tally, ids, counted.chunk_cells, counted.chunks, counted.table, counted.checksum)
