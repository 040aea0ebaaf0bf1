"""What it costs a stream to remember ids: a batch that is followed, and the same file counted at once.

Both on one Spark session of this machine, by the processor time of all its processes, once ten million ids are
remembered. `python -m evidence.benchmarks.stream_spark --quick` remembers a tenth.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from evidence.benchmarks.scale_spark import SURVEY, write_files
from sottovoce import engines
from sottovoce.core.errors import MissingExtraError, ServiceError
from sottovoce.engines.cluster.session import session

__all__ = ["run"]

Row = dict[str, object]

REMEMBERED = 10_000_000
QUICK = 1_000_000
_BATCHES = 13
"""That fill the horizon; three more are measured."""


def run(remembered: int = REMEMBERED) -> list[Row]:
    """One row: the least of three."""
    with tempfile.TemporaryDirectory() as folder:
        made, incoming = Path(folder, "made"), Path(folder, "incoming")
        incoming.mkdir()
        write_files(made, remembered * 16 // _BATCHES)
        try:
            return [_measured(made, incoming, Path(folder, "state"))]
        except (ServiceError, MissingExtraError) as error:
            return [{"name": "a stream on Spark", "note": f"not measured: {error}"}]


def _measured(made: Path, incoming: Path, state: Path) -> Row:
    files = sorted(made.iterdir())
    with session("local[2]", answer_seconds=300.0) as spark:
        stream = engines.follow(spark, SURVEY, incoming, state=state, horizon="7 days", files_per_batch=1)
        for file in files[:_BATCHES]:
            file.rename(incoming / file.name)
        filled = _processor(stream.run_once) / stream.tally.counted
        known = stream.tally.counted
        followed, at_once = list[float](), list[float]()
        for file in files[_BATCHES:]:
            rows = stream.tally.counted
            at_once.append(_processor(partial(engines.spark(spark).aggregate, SURVEY, file)))
            file.rename(incoming / file.name)
            followed.append(_processor(stream.run_once))
            rows = stream.tally.counted - rows
        held = sum(file.stat().st_size for file in (state / "ids").rglob("*.ids")) / stream.tally.counted
    each = 1e6 / rows
    _say(f"with {known:,} ids: {min(followed) * each:.2f} us a row, at once {min(at_once) * each:.2f}")
    _say(f"all batches before: {filled * 1e6:.2f} us a row; {held:.2f} bytes an id")
    return {
        "name": "processor time of a batch, followed",
        "against": "counted at once",
        "ratio": min(followed) / min(at_once),
        "microseconds_a_row": min(followed) * each,
        "bytes_an_id": held,
    }


def _processor(work: Callable[[], object]) -> float:
    before = _spent(os.getpid())
    work()
    return _spent(os.getpid()) - before


def _spent(process: int) -> float:
    """Processor time of a process and its children, those that have ended included."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task").glob("*/children")
        below = [int(child) for listed in children for child in listed.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(_spent, below))


def _say(message: str) -> None:
    print(f"    {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m evidence.benchmarks.stream_spark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the ids")
    for found in run(QUICK if parser.parse_args().quick else REMEMBERED):
        print(found)
