"""Predicted time, memory and storage of counting reports, from rates measured by `sottovoce calibrate`.

The model is simple. A stored report takes its id, its payload, and what Parquet adds. Counting takes the number of
reports divided by the measured rate; Spark takes its start-up, the same reports divided among its tasks, and one
addition of every partial aggregate. It sends half of each id, and partial aggregates; or, where counters are too many
for a task, payloads. The estimate transforms or folds each counter once.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Self, final

from sottovoce.core.errors import PlanError
from sottovoce.core.files import cache_directory, replace_file, write_errors
from sottovoce.core.limits import DEFAULT_COUNTERS, SHARD_CELLS, check_integer
from sottovoce.engines.base import MEMORY_BYTES
from sottovoce.engines.cluster.job import HALF_BYTES, MAX_TASK_ROWS, TASK_MEMORY, TASKS_A_CORE, is_wide
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.questions.people import MAX_SIMULATED

__all__ = ["FAR_CELLS", "NEAR_CELLS", "Cost", "Rates", "cost_here", "cost_on_spark", "rates_file"]


_FORMAT: Final = 1

NEAR_CELLS: Final = 2**11
"""Counters that stay in a core's own cache."""

FAR_CELLS: Final = 2**20
"""Counters that do not."""

_OPTIONAL: Final = frozenset({"spark_seconds", "spark_rows"})


def rates_file() -> Path:
    """Default file of the rates."""
    return cache_directory() / "rates.json"


@final
@dataclass(frozen=True)
class Rates:
    """Measured rates, per second and for all cores, reading included.

    Examples
    --------
    >>> rates = Rates(cores=2, near_rows=4e6, far_rows=1e6, folded_cells=1e8, decoded_cells=2e7, row_bytes=4.5)
    >>> rates.rows(2**11), rates.rows(2**24), round(rates.rows(2**16) / 1e6, 2)
    (4000000.0, 1000000.0, 1.5)
    """

    cores: int
    """Cores that were used."""
    near_rows: float
    """Reports a second from Parquet files into `NEAR_CELLS` counters, duplicates taken out, on all cores."""
    far_rows: float
    """Reports a second from Parquet files into `FAR_CELLS` counters, duplicates taken out, on all cores."""
    folded_cells: float
    """Counters of a codebook folded in a second, on all cores."""
    decoded_cells: float
    """Counters of a distribution transformed and projected in a second."""
    row_bytes: float
    """Bytes of a Parquet file a report, beside its id and its payload."""
    spark_seconds: float | None = None
    """What a Spark job takes before it reads anything; None where Spark was not measured."""
    spark_rows: float | None = None
    """Reports a second that one Spark task reads, takes duplicates out of, and counts."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name in _OPTIONAL:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise PlanError(f"rate {field.name} must be a number above 0; run 'sottovoce calibrate' again").at(
                    field.name
                )

    def rows(self, cells: int) -> float:
        """Reports counted in a second into `cells` counters; between the two measured sizes time grows with log2."""
        share = (math.log2(max(cells, 1)) - math.log2(NEAR_CELLS)) / (math.log2(FAR_CELLS) - math.log2(NEAR_CELLS))
        far = min(1.0, max(0.0, share))
        return 1.0 / ((1.0 - far) / self.near_rows + far / self.far_rows)

    def save(self, path: Path) -> None:
        """Write them whole or not at all."""
        content = json.dumps({"format": _FORMAT, **asdict(self)}, indent=2) + "\n"
        with write_errors(path, PlanError, "name another with --out"):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content.encode())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read rates; raises `PlanError` if there are none."""
        try:
            record: Any = json.loads(path.read_text())
        except FileNotFoundError:
            raise PlanError(
                f"the rates of this machine are not at {path}: run 'sottovoce calibrate' first (half a minute)"
            ) from None
        except (OSError, ValueError) as error:
            raise PlanError(f"{path} cannot be read as rates: run 'sottovoce calibrate' again") from error
        names = {field.name for field in fields(cls)}
        if not isinstance(record, dict) or record.pop("format", None) != _FORMAT or set(record) != names:
            raise PlanError(f"{path} has no rates that this version can read: run 'sottovoce calibrate' again")
        return cls(**record)


_MOST_WORKERS: Final = 100_000
_COUNTER_BYTES: Final = 8
_SENT_COUNT_BYTES: Final = 2
"""Counts of one task are small numbers, and sent as such."""


@final
@dataclass(frozen=True)
class Cost:
    """A prediction for one machine or cluster."""

    where: str
    reports: int
    storage_bytes: float
    """Size of the stored reports."""
    count_seconds: float
    """Time to read, remove duplicates, count and merge."""
    estimate_seconds: float
    """Time from counts to answers, on one machine."""
    memory_bytes: float
    """Largest memory of one machine."""
    shuffle_bytes: float
    """Data sent between machines."""

    def to_dict(self) -> dict[str, Any]:
        """The costs as plain JSON values."""
        return asdict(self)


def cost_here(mechanism: Mechanism, reports: int, rates: Rates) -> Cost:
    """The cost on the measured machine, with all its cores.

    Examples
    --------
    >>> from sottovoce.mechanisms import create
    >>> rates = Rates(cores=2, near_rows=4e6, far_rows=1e6, folded_cells=1e8, decoded_cells=2e7, row_bytes=4.5)
    >>> cost_here(create("hadamard", 1000, 1.0), 10**9, rates).count_seconds
    250.0
    """
    n, cells = _checked(reports), mechanism.cells
    return Cost(
        f"this machine, {rates.cores} {'core' if rates.cores == 1 else 'cores'}",
        n,
        _storage(mechanism, n, rates),
        n / rates.rows(cells),
        _estimate_seconds(mechanism, n, rates),
        MEMORY_BYTES + _counters_bytes(cells),
        0.0,
    )


def cost_on_spark(mechanism: Mechanism, reports: int, rates: Rates, workers: int, cores: int) -> Cost:
    """The cost on Spark workers whose cores are as fast as the measured one."""
    n, cells = _checked(reports), mechanism.cells
    machines = check_integer("workers", workers, 1, _MOST_WORKERS)
    tasks = machines * check_integer("worker_cores", cores, 1, 1024)
    if rates.spark_rows is None or rates.spark_seconds is None:
        raise PlanError("Spark has not been measured on this machine: run 'sottovoce calibrate --spark'")
    # One task is slowed down by far counters as much as the local engine is.
    rate = rates.spark_rows * rates.rows(cells) / rates.near_rows
    wide = is_wide(mechanism, TASK_MEMORY)
    reading = max(TASKS_A_CORE * tasks, -(-n // MAX_TASK_ROWS))
    merged = 0.0 if wide else float(reading) * min(cells, -(-n // reading))
    return Cost(
        f"{machines:,} Spark workers of {cores}" if machines > 1 else f"1 Spark worker of {cores}",
        n,
        _storage(mechanism, n, rates),
        rates.spark_seconds + n / (rate * tasks) + merged / (rates.folded_cells / rates.cores * tasks),
        _estimate_seconds(mechanism, n, rates),
        MEMORY_BYTES + cores * (TASK_MEMORY + (0.0 if wide else float(_COUNTER_BYTES * cells))),
        float(n) * (HALF_BYTES + (mechanism.report_bytes if wide else 0)) + merged * _SENT_COUNT_BYTES,
    )


def _checked(reports: int) -> int:
    return check_integer("reports", reports, 1, MAX_SIMULATED)


def _storage(mechanism: Mechanism, n: int, rates: Rates) -> float:
    return n * (REPORT_ID_BYTES + mechanism.report_bytes + rates.row_bytes)


def _counters_bytes(cells: int) -> float:
    """All counters, or one shard and its fold if they are too many for one process."""
    return float(_COUNTER_BYTES * (cells if cells <= DEFAULT_COUNTERS else 2 * SHARD_CELLS))


def _estimate_seconds(mechanism: Mechanism, n: int, rates: Rates) -> float:
    if isinstance(mechanism, Codebook):
        # A rotation that nobody drew is not folded.
        return min(mechanism.rotations, n) * mechanism.size / rates.folded_cells
    return mechanism.cells / rates.decoded_cells
