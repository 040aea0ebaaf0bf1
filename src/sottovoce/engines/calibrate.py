"""Measure the speed of this machine with the real engine, on simulated reports."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sottovoce.core.errors import ReportError
from sottovoce.core.files import write_errors
from sottovoce.core.limits import check_integer
from sottovoce.engines.cost import FAR_CELLS, NEAR_CELLS, Rates
from sottovoce.formats.report_files import write_reports
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.kernels.threads import cores
from sottovoce.questions.shares import shares
from sottovoce.questions.vector import Vector
from sottovoce.surveys.survey import Survey

if TYPE_CHECKING:
    from sottovoce.engines.base import Engine

__all__ = ["DEFAULT_REPORTS", "calibrate"]

DEFAULT_REPORTS: Final = 2_000_000
_FILES: Final = 4
_REPEATS: Final = 3
_FOLDED_DIMENSION: Final = 1000
_SEED: Final = 7

Tell = Callable[[str], object]


def calibrate(reports: int = DEFAULT_REPORTS, *, spark: bool = False, tell: Tell = lambda words: None) -> Rates:
    """Rates of this machine, each the best of three.

    Parameters
    ----------
    reports
        Number of reports per measurement; more are slower and more precise.
    spark
        Whether to measure Spark too, on all cores of this machine.
    tell
        Called with a description of the current step.
    """
    from sottovoce.engines import local

    n = check_integer("reports", reports, 10_000, 10**9)
    near, far = (Survey(shares(cells - 1), epsilon=1.0, mechanism="hadamard") for cells in (NEAR_CELLS, FAR_CELLS))
    with tempfile.TemporaryDirectory(prefix="sottovoce-calibrate-") as folder:
        tell("writing reports")
        row_bytes = _written(near, Path(folder) / "near", n)
        _written(far, Path(folder) / "far", n)
        seconds = {}
        for name, survey in (("near", near), ("far", far)):
            tell(f"counting into {survey.mechanism.cells:,} counters")
            seconds[name] = _counting(local(), survey, Path(folder) / name)
        tell("estimating")
        aggregate = local().aggregate(far, Path(folder) / "far")
        decoded = far.mechanism.cells / _best(lambda: far.estimate(aggregate))
        spark_rates = {} if not spark else _on_spark(near, Path(folder), n, tell)
    return Rates(
        cores=cores(),
        near_rows=n / seconds["near"],
        far_rows=n / seconds["far"],
        folded_cells=_folded(),
        decoded_cells=decoded,
        row_bytes=row_bytes,
        **spark_rates,
    )


def _best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few runs."""
    taken = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def _written(survey: Survey, folder: Path, n: int) -> float:
    """Write files of drawn reports; returns the bytes of a row beside its id and its payload."""
    rng = np.random.default_rng(_SEED)
    with write_errors(folder, ReportError, "let TMPDIR name a folder with room"):
        folder.mkdir()
        for number, start in enumerate(range(0, n, -(-n // _FILES))):
            many = min(-(-n // _FILES), n - start)
            values = rng.integers(0, survey.n_answers, size=many)
            payloads = survey.mechanism.codec.encode_many(survey.simulate(values, seed=_SEED + number).batch)
            ids = rng.integers(0, 256, size=(many, REPORT_ID_BYTES), dtype=np.uint8)
            write_reports(folder / f"{number}.parquet", survey, ids, payloads)
        size = sum(path.stat().st_size for path in folder.iterdir())
    return max(size / n - REPORT_ID_BYTES - survey.mechanism.report_bytes, 0.01)


def _counting(engine: Engine, survey: Survey, folder: Path) -> float:
    return _best(lambda: engine.aggregate(survey, folder))


def _folded() -> float:
    from sottovoce.kernels.rotations import fold_counts

    mechanism: Any = Survey(Vector(_FOLDED_DIMENSION, 1.0), epsilon=1.0, people=10**6).mechanism
    rng = np.random.default_rng(_SEED)
    counts = rng.integers(-3, 4, size=(FAR_CELLS // mechanism.size, mechanism.size))
    fold_counts(counts[:1], mechanism.key, mechanism.layers)  # compiled before it is timed
    return float(counts.size / _best(lambda: fold_counts(counts, mechanism.key, mechanism.layers)))


def _on_spark(survey: Survey, folder: Path, n: int, tell: Tell) -> dict[str, float]:
    """The start-up time of a job, and the rate of one task."""
    from sottovoce.engines import spark
    from sottovoce.engines.cluster.session import session

    few = max(1000, n // 1000)
    _written(survey, folder / "few", few)
    with session(f"local[{cores()}]", tell=tell) as started:
        engine = spark(started)
        tell("counting on Spark")
        nothing = _counting(engine, survey, folder / "few")
        whole = _counting(engine, survey, folder / "near")
    return {"spark_seconds": nothing, "spark_rows": (n - few) / max(whole - nothing, 1e-3) / cores()}
