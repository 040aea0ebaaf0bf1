"""A Python process of a Spark worker, made ready for tasks of this package."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import Any, Final
from zipimport import zipimporter

from sottovoce.kernels.threads import use_cores

__all__ = ["prepare_worker"]

_OWN: Final = ("pyspark", "py4j", "spark-core")


def prepare_worker() -> None:
    """Use one core, for Spark runs as many tasks as there are; nothing where no cluster runs this.

    Before each task Spark has Python forget what it knows of the import path, and of archives Python reads the whole
    directory again: for Spark's own that is a quarter of a second a task. They do not change while it runs.
    """
    from pyspark import TaskContext

    if TaskContext.get() is None:
        return
    use_cores(1)
    for finder in sys.path_importer_cache.values():
        if isinstance(finder, zipimporter) and PurePath(finder.archive).name.startswith(_OWN):
            unchanging: Any = finder  # one for each package in the archive
            unchanging.invalidate_caches = _nothing


def _nothing() -> None:
    return
