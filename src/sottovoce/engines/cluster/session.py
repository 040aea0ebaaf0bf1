"""A Spark session with suitable settings: on this machine, on a cluster, or over Spark Connect.

Managed clusters provide a session: pass that to `sottovoce.engines.spark`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final

from sottovoce.core.errors import MissingExtraError, ServiceError
from sottovoce.engines.cluster.errors import pyspark_sql, translate_error, translating_errors
from sottovoce.engines.cluster.masters import check_master, kind_of, remember, shown, unanswered, usually

__all__ = ["connected", "session"]


_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
"""What pyspark sets, and leaves set, in the environment of a process with such a session."""

_RETRY_EVERY: Final = 1.0


@contextmanager
def connected(sql: Any, url: str, settings: Mapping[str, str], seconds: float) -> Iterator[Any]:
    """A session for a with-block; a server that is gone for `seconds` is given up."""
    _check_ready(url, seconds)
    builder = sql.SparkSession.builder.remote(url)
    for name, value in settings.items():
        builder = builder.config(name, value)
    mode = os.environ.get(_MODE)
    try:
        with translating_errors():
            begun = builder.getOrCreate()
        begun.client.set_retry_policies(_retries(seconds))
        try:
            yield begun
        finally:
            _disconnect(begun)
    finally:
        if mode is None:
            os.environ.pop(_MODE, None)


def _disconnect(begun: Any) -> None:
    begun.client.set_retry_policies([])  # a server that is gone is not waited for
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the way in which pyspark says that it is gone
        begun.stop()


def _check_ready(url: str, seconds: float) -> None:
    """Raise unless a Spark Connect server, and not just anything, answers there."""
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        raise MissingExtraError(
            "Spark Connect needs grpcio and others: pip install 'sottovoce[spark-connect]'"
        ) from None
    try:
        channel = DefaultChannelBuilder(url).toChannel()
    except ValueError:  # pyspark's own; its text would quote a token
        raise ServiceError(
            "master is not the address of a Spark Connect server: write it like sc://host:15002 or "
            "sc://host:443/;use_ssl=true;token=...",
            code="bad_master",
        ).at("master") from None
    try:
        grpc.channel_ready_future(channel).result(timeout=seconds)
    except grpc.FutureTimeoutError:
        raise unanswered(url) from None
    finally:
        channel.close()


def _retries(seconds: float) -> list[Any]:
    """Spark's own would try for ten minutes."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    every = int(1000 * _RETRY_EVERY)
    return [
        DefaultPolicy(
            max_retries=max(1, round(seconds / _RETRY_EVERY)), initial_backoff=every, max_backoff=every, jitter=0
        )
    ]


_ANSWER_SECONDS: Final = 45.0
"""How long a master may take to answer, the driver's own start included."""

_QUEUE_SECONDS: Final = 300.0
"""How long YARN and Kubernetes may take: an application waits in their queue."""

_END_SECONDS: Final = 10.0
_SETTINGS: Final = {
    "spark.app.name": "sottovoce",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 25),
}
_LOOPBACK: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


@contextmanager
def session(
    master: str | None = None,
    *,
    settings: Mapping[str, str] | None = None,
    answer_seconds: float | None = None,
    tell: Callable[[str], object] | None = None,
) -> Iterator[Any]:
    """A `pyspark.sql.SparkSession` for a with-block; stopped at its end, its Java process with it.

    Parameters
    ----------
    master
        ``"local[*]"``, all cores of this machine, by default; ``"local[2]"``; ``"spark://host:7077"``; ``"yarn"``;
        ``"k8s://https://host:6443"``; ``"sc://host:15002"``, a Spark Connect server.
    settings
        Settings of Spark that are added to, or take the place of, those chosen here.
    answer_seconds
        How long a master or server may take to answer; by default 45, and 300 for YARN and Kubernetes.
    tell
        Called with what is being waited for, and how long that usually takes.

    Raises
    ------
    ServiceError
        If there is no Java, if the master does not answer in time, or if this process has a session already.
    MissingExtraError
        Without pyspark, or without what Spark Connect needs besides.
    """
    sql = pyspark_sql()
    master = "local[*]" if master is None else master
    kind, tell, began = kind_of(master), tell or (lambda words: None), monotonic()
    if answer_seconds is None:
        answer_seconds = _QUEUE_SECONDS if kind in ("yarn", "kubernetes") else _ANSWER_SECONDS
    if sql.SparkSession.getActiveSession() is not None:
        raise ServiceError(
            "this process has a Spark session already: give that to sottovoce.engines.spark, or stop it", code="in_use"
        )
    if kind == "connect":
        tell(f"connecting to {shown(master)}; {usually(kind)}")
        check_master(master)
        chosen = {name: value for name, value in _SETTINGS.items() if name.startswith("spark.sql.")}
        started = connected(sql, master, {**chosen, **(settings or {})}, answer_seconds)
    else:
        started = _driver(sql, master, settings or {}, answer_seconds, tell)
    with started as begun:
        remember(kind, monotonic() - began)
        tell("the first job also starts Python on every worker: some seconds more")
        yield begun


@contextmanager
def _driver(
    sql: Any, master: str, settings: Mapping[str, str], seconds: float, tell: Callable[[str], object]
) -> Iterator[Any]:
    """A session whose driver is a Java process of this one's."""
    if shutil.which("java", path=_java_path()) is None:
        raise ServiceError(
            "Spark needs Java 17 or newer, and java is not on the path: install one, or let JAVA_HOME name it",
            code="no_java",
        )
    kind = kind_of(master)
    if kind in ("standalone", "kubernetes"):
        tell(f"waiting for the master at {master}")
    check_master(master)
    target = "" if kind == "local" else f" for {master}"
    tell(f"starting Java and Spark{target}; {usually(kind)}")
    nearby = kind == "local" or re.match(r"spark://(127\.0\.0\.1|localhost):\d+$", master)
    begun = _begun(sql, master, {**_SETTINGS, **(_LOOPBACK if nearby else {}), **settings}, seconds)
    try:
        yield begun
    finally:
        _end(begun)


def _java_path() -> str:
    home = os.environ.get("JAVA_HOME")
    return os.pathsep.join([*([os.path.join(home, "bin")] if home else []), os.environ.get("PATH", os.defpath)])


def _begun(sql: Any, master: str, settings: Mapping[str, str], seconds: float) -> Any:
    builder = sql.SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with _surroundings(), _ended_after(seconds) as ended:
            return builder.getOrCreate()
    except Exception as error:
        translated = translate_error(error)
        if translated is None:
            raise
    _end_java()
    raise unanswered(master) if ended.is_set() or kind_of(master) == "standalone" else translated


@contextmanager
def _surroundings() -> Iterator[None]:
    """Tasks run under this interpreter, and Java says errors only; unless the user's own variables say otherwise."""
    wanted = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_SUBMIT_OPTS": f"-Dlog4j2.configurationFile={Path(__file__).with_name('log.properties').as_uri()}",
    }
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _ended_after(seconds: float) -> Iterator[threading.Event]:
    """End the Java process when it has not answered in time: Spark gives nobody who starts it another way out."""
    from pyspark import SparkContext

    answered, ended = threading.Event(), threading.Event()

    def watch() -> None:
        while SparkContext._gateway is None:  # the process has its own time to start
            if answered.wait(0.1):
                return
        if not answered.wait(seconds) and (gateway := SparkContext._gateway) is not None and gateway.proc:
            ended.set()
            gateway.proc.kill()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield ended
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
