"""A Spark session with suitable settings, on this machine or on a standalone cluster.

Managed clusters provide a session: pass that to `sottovoce.engines.spark`.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from sottovoce.core.errors import ServiceError
from sottovoce.engines.spark_errors import pyspark_sql, translate_error

__all__ = ["ANSWER_SECONDS", "session"]

ANSWER_SECONDS: Final = 45.0
"""How long a master may take to answer, the driver's own start included."""

_CONNECT_SECONDS: Final = 5.0
_END_SECONDS: Final = 10.0
_SETTINGS: Final = {
    "spark.app.name": "sottovoce",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 25),
}
_LOOPBACK: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@contextmanager
def session(
    master: str | None = None, *, settings: Mapping[str, str] | None = None, answer_seconds: float = ANSWER_SECONDS
) -> Iterator[Any]:
    """A `pyspark.sql.SparkSession` for a with-block; stopped at its end, its Java process with it.

    Parameters
    ----------
    master
        ``"local[*]"``, all cores of this machine, by default; ``"local[2]"``; ``"spark://host:7077"``.
    settings
        Settings of Spark that are added to, or take the place of, those chosen here.
    answer_seconds
        How long a cluster's master may take to answer.

    Raises
    ------
    ServiceError
        If there is no Java, if the master does not answer in time, or if this process has a session already.
    MissingExtraError
        Without pyspark.
    """
    sql = pyspark_sql()
    master = "local[*]" if master is None else master
    if sql.SparkSession.getActiveSession() is not None:
        raise ServiceError(
            "this process has a Spark session already: give that to sottovoce.engines.spark, or stop it", code="in_use"
        )
    if shutil.which("java", path=_java_path()) is None:
        raise ServiceError(
            "Spark needs Java 17 or newer, and there is no java on the path: install one, or let JAVA_HOME name it",
            code="no_java",
        )
    alone = master.startswith("local")
    if not alone:
        _check_answer(master)
    nearby = alone or re.match(r"spark://(127\.0\.0\.1|localhost):\d+$", master)
    chosen = {**_SETTINGS, **(_LOOPBACK if nearby else {}), **(settings or {})}
    begun = _begun(sql, master, chosen, answer_seconds)
    try:
        yield begun
    finally:
        _end(begun)


def _java_path() -> str:
    home = os.environ.get("JAVA_HOME")
    return os.pathsep.join([*([os.path.join(home, "bin")] if home else []), os.environ.get("PATH", os.defpath)])


def _check_answer(master: str) -> None:
    """Try the addresses of a standalone cluster's masters; Spark itself would try for minutes."""
    hosts = re.fullmatch(r"spark://([^/]+)", master)
    if hosts is None:
        if re.match(r"(yarn|k8s://.+)$", master):
            return
        raise ServiceError(
            "master is none that Spark knows: it must be local, local[N], local[*], spark://host:port, yarn or "
            "k8s://address",
            code="bad_master",
        )
    for address in hosts[1].split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
        except (OSError, ValueError, OverflowError):
            continue
        return
    raise _unanswered(master)


def _unanswered(master: str) -> ServiceError:
    return ServiceError(
        f"the Spark master at {master} does not answer: check its address and that it runs, or count on this machine "
        "with master='local[*]'",
        code="unreachable",
    )


def _begun(sql: Any, master: str, settings: Mapping[str, str], seconds: float) -> Any:
    builder = sql.SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with _surroundings(), _ended_after(seconds):
            return builder.getOrCreate()
    except Exception as error:
        found = translate_error(error)
        if found is None:
            raise
    _end_java()
    raise found if master.startswith("local") else _unanswered(master)


@contextmanager
def _surroundings() -> Iterator[None]:
    """Tasks run under this interpreter, and Java says errors only; unless the user's own variables say otherwise."""
    wanted = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_SUBMIT_OPTS": f"-Dlog4j2.configurationFile={Path(__file__).with_name('spark_log.properties').as_uri()}",
    }
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """End the Java process when it has not answered in time: Spark gives nobody who starts it another way out."""
    from pyspark import SparkContext

    answered = threading.Event()

    def watch() -> None:
        while SparkContext._gateway is None:  # the process has its own time to start
            if answered.wait(0.1):
                return
        if not answered.wait(seconds) and (gateway := SparkContext._gateway) is not None and gateway.proc:
            gateway.proc.kill()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        answered.set()
        watcher.join()


def _end(begun: Any) -> None:
    try:
        begun.stop()
    finally:
        _end_java()


def _end_java() -> None:
    """End the Java process that the session was begun with; pyspark would keep it until Python ends."""
    from pyspark import SparkContext

    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    if gateway is None:
        return
    with suppress(Exception):  # it may be gone already
        gateway.shutdown()
    process = gateway.proc
    if process is None:
        return
    process.stdin.close()
    try:
        process.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
