"""Real Spark on this machine: a standalone master and workers, or a Connect server, each a process, on loopback.

Every daemon is in a session of the system's of its own, in which its executors and their Python processes stay, so that
killing that session leaves nothing behind, whatever became of the daemon. Should the tests themselves be killed, a pipe
closes, and that ends the session too.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["Cluster", "ConnectServer", "Daemon", "java", "running_cluster"]

_START_SECONDS: Final = 120.0
_LOOK_EVERY: Final = 0.05
_GUARD: Final = ("sh", "-c", '"$@" & cat; kill -9 0', "guard")
_ANYWHERE: Final = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")


def java() -> str | None:
    """The path of a Java runtime, if there is one; `tools/with_java` finds or installs it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


class Daemon:
    """A master, a worker or a server: a class of Spark's, with its arguments."""

    def __init__(self, folder: Path, kind: str, *arguments: str, **more: str) -> None:
        import pyspark

        self.folder = folder
        folder.mkdir()
        self._log = folder / "log"
        home = Path(pyspark.__file__).parent
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
        environment |= {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "192m",
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_CONF_DIR": str(folder),
            "JDK_JAVA_OPTIONS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            **more,
        }
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*_GUARD, home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *arguments],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, pattern: str) -> str:
        """The first group of a pattern, once the log has it."""
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            found = re.search(pattern, self._log.read_text(errors="replace"))
            if found:
                return found[1]
            time.sleep(_LOOK_EVERY)
        raise RuntimeError(f"Spark did not say {pattern!r}:\n{self._log.read_text(errors='replace')[-3000:]}")

    def members(self) -> list[int]:
        """The processes of the daemon's session: itself, executors, and their Python processes."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
            except OSError:
                continue
            if fields and int(fields[3]) == self.process.pid and fields[0] != "Z":
                found.append(int(entry.name))
        return found

    def kill(self) -> None:
        """Kill all of them at once, until none is left."""
        while members := self.members():
            for member in members:
                try:
                    os.kill(member, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(_LOOK_EVERY)
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()


class Cluster:
    """A master and its workers."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.master = Daemon(folder / "master", "master.Master", *_ANYWHERE)
        self.workers: list[Daemon] = []
        self._folder = folder
        try:
            self.url = self.master.wait_for(r"Starting Spark master at (spark://\S+)")
            for worker in [self.add_worker() for _ in range(workers)]:
                worker.wait_for(r"(Successfully registered with master)")
        except BaseException:
            self.kill()
            raise

    def add_worker(self) -> Daemon:
        """Start one more."""
        folder = self._folder / f"worker{len(self.workers)}"
        arguments = ("--cores", "1", "--memory", "512m", self.url)
        self.workers.append(Daemon(folder, "worker.Worker", *_ANYWHERE, *arguments))
        return self.workers[-1]

    def kill(self) -> None:
        """Everything, whatever state it is in."""
        for daemon in (*self.workers, self.master):
            daemon.kill()


@contextmanager
def running_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster for a with-block."""
    cluster = Cluster(folder, workers)
    try:
        yield cluster
    finally:
        cluster.kill()


class ConnectServer:
    """A Spark Connect server with a local master, whose workers have everything but this package."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        folder.mkdir()
        python = folder / "python"
        # Without site, folders that .pth files name are not on the path: an editable install is one.
        packages = Path(pyspark.__file__).parents[1]
        python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}:$PYTHONPATH" exec {sys.executable} -S "$@"\n')
        python.chmod(0o755)
        settings = {
            "spark.master": "local[2]",
            "spark.ui.enabled": "false",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
            "spark.sql.shuffle.partitions": "2",
        }
        self.daemon = Daemon(
            folder / "server",
            "SparkSubmit",
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
            *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
            "spark-internal",
            SPARK_DAEMON_MEMORY="768m",
            PYSPARK_PYTHON=str(python),
            PYTHONPATH="",
        )
        try:
            self.url = f"sc://{self.daemon.wait_for(r'Spark Connect server started at: (127.0.0.1:[0-9]+)')}"
        except BaseException:
            self.daemon.kill()
            raise
