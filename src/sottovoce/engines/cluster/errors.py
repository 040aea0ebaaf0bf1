"""Translate Spark's failures into this package's errors: one sentence and a remedy instead of a Java stack trace.

Only names of conditions and classes are taken from Spark's messages, whose text may quote rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sottovoce.core.errors import CapacityError, MissingExtraError, ReportError, ServiceError, SottovoceError

__all__ = ["SHIPPING", "pyspark_sql", "translate_error", "translating_errors"]

SHIPPING: Final = (
    "install it on every worker (pip install 'sottovoce[spark]' in their image), or ship an environment with "
    "spark.archives and PYSPARK_PYTHON, over Spark Connect with session.addArtifacts(..., archive=True) and "
    "spark.sql.execution.pyspark.python; docs: Counting on Spark"
)

_DISK: Final = "a disk of the cluster is full: free some, or let spark.local.dir name a larger one"
_MEMORY: Final = (
    "a task of the cluster ran out of memory: give executors more (spark.executor.memory, "
    "spark.executor.memoryOverhead), or cut the work finer (spark.sql.shuffle.partitions)"
)
_LOST: Final = (
    "the cluster lost workers until it gave up, and nothing was counted: check the workers' logs, and count again"
)
_GONE: Final = (
    "Spark's driver process or its connection is gone, and nothing was counted: make a new session and count again"
)


def _file(text: str) -> str:
    """The file that Spark names, if it names one."""
    match = re.search(r"file:/*(/[^\s,'\"]+?)\.?(?=[\s,'\"]|$)", text)
    return f"{match[1]}" if match else "a file"


_RULES: Final[tuple[tuple[str, Callable[[re.Match[str]], SottovoceError]], ...]] = (
    (r"sottovoce\.core\.errors\.ReportError: ([^\n]+)", lambda match: ReportError(match[1])),  # a task's own words
    (
        r"ModuleNotFoundError: No module named '(\w+)",
        lambda match: ServiceError(f"the cluster's workers have no {match[1]}: {SHIPPING}", code="not_installed"),
    ),
    (
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        lambda _: ServiceError(
            "the workers run another version of Python than this process: let PYSPARK_PYTHON name the same one",
            code="python_version",
        ),
    ),
    (
        r"Cannot run program \"|error=2, No such file",
        lambda _: ServiceError(
            "the workers cannot start Python: let PYSPARK_PYTHON name one that is at the same path on all of them",
            code="no_python",
        ),
    ),
    (
        r"FAILED_READ_FILE|is not a Parquet file|CANNOT_READ_FILE_FOOTER",
        lambda match: ReportError(
            f"{_file(match.string)} that the table is read from cannot be read, and nothing was counted: count by "
            "paths, which names every such file and can leave it out, or set spark.sql.files.ignoreCorruptFiles"
        ),
    ),
    (
        r"StatusCode\.(UNAUTHENTICATED|PERMISSION_DENIED)",
        lambda _: ServiceError(
            "the Spark Connect server refuses this user: give a valid token, sc://host:443/;use_ssl=true;token=...",
            code="refused",
        ),
    ),
    (
        r"(?i)must specify the (driver|executor) container image",
        lambda _: ServiceError(
            "Kubernetes needs an image for executors: let the setting spark.kubernetes.container.image name one that "
            "has sottovoce[spark]",
            code="no_image",
        ),
    ),
    (r"No space left on device|DiskSpaceException|errno 28", lambda _: CapacityError(_DISK)),
    (
        r"maxResultSize",
        lambda _: CapacityError("the result is larger than spark.driver.maxResultSize allows: raise it"),
    ),
    (
        r"OutOfMemoryError|MemoryError|exit code: 137|Cannot allocate memory|SparkOutOfMemory",
        lambda _: CapacityError(_MEMORY),
    ),
    (
        r"ExecutorLostFailure|executor lost|worker lost|FetchFailed|MetadataFetchFailed|Python worker exited|"
        r"All masters are unresponsive|Master removed our application",
        lambda _: ServiceError(_LOST, code="workers_lost"),
    ),
    (
        r"SparkContext was shut ?down|stopped SparkContext|Connection refused|Py4JNetworkError|Answer from Java side|"
        r"StatusCode\.UNAVAILABLE|RetriesExceeded|INVALID_HANDLE",
        lambda _: ServiceError(_GONE, code="driver_gone"),
    ),
    (
        r"cancelled part of cancelled job group|was cancelled|job group",
        lambda _: ServiceError("the job was cancelled, and nothing was counted", code="cancelled"),
    ),
)


def pyspark_sql() -> Any:
    """`pyspark.sql`, imported on first use."""
    try:
        import pyspark.sql
    except ImportError:
        pass
    else:
        return pyspark.sql
    raise MissingExtraError("Spark needs pyspark: pip install 'sottovoce[spark]', and Java 17 or newer")


def translate_error(error: BaseException) -> SottovoceError | None:
    """This package's error for a failure of Spark; None if it is not Spark's."""
    if isinstance(error, SottovoceError) or not _of_spark(error):
        return None
    text = f"{type(error).__name__}: {error}"
    for pattern, make in _RULES:
        match = re.search(pattern, text)
        if match:
            return make(match)
    condition = _condition(error)
    classes = re.findall(r"\b((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error))\b", text)
    named = ", ".join(dict.fromkeys([*([condition] if condition else []), *classes[:2]])) or type(error).__name__
    return ServiceError(f"Spark could not run the job ({named}), and nothing was counted; its log says more", "failed")


def _of_spark(error: BaseException) -> bool:
    module = type(error).__module__
    return module.startswith(("pyspark", "py4j", "grpc")) or isinstance(error, (ConnectionError, EOFError))


def _condition(error: Any) -> str:
    getter = getattr(error, "getCondition", None)
    try:
        condition = getter() if getter is not None else None
    except Exception:  # asks the driver's Java process, which may be gone
        condition = None
    return condition if isinstance(condition, str) and re.fullmatch(r"[A-Z_.0-9]+", condition) else ""


@contextmanager
def translating_errors() -> Iterator[None]:
    """Translate errors of Spark in the block."""
    try:
        yield
    except Exception as error:
        translated = translate_error(error)
        if translated is None:
            raise
    else:
        return
    raise translated
