"""The demonstration's collector: the real service in a separate process, always ended with the block."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sottovoce.core import errors
from sottovoce.core.errors import ServiceError, SimulationError, SottovoceError
from sottovoce.core.text import one_line

__all__ = ["DemoService", "check_empty", "running_service"]

_STOP_SECONDS: Final = 30.0


@dataclass(frozen=True)
class DemoService:
    """A running service."""

    url: str
    token: str = field(repr=False)
    fingerprint: str
    pid: int
    data: Path
    process: subprocess.Popen[bytes] = field(repr=False)


def check_empty(data: Path | None) -> None:
    """Raise `SimulationError` unless the folder is new or empty: reports of an earlier run would be counted too."""
    with contextlib.suppress(FileNotFoundError):
        try:
            taken = data is not None and any(data.iterdir())
        except NotADirectoryError:
            taken = True
        if taken:
            raise SimulationError(f"{str(data)!r} is not an empty folder; name a new one for the service's data")


@contextlib.contextmanager
def running_service(data: Path | None = None, port: int = 0) -> Iterator[DemoService]:
    """Run `sottovoce serve` on this machine; its data are temporary unless a folder is named.

    Raises
    ------
    MissingExtraError
        Where the packages of the service are not installed.
    SettingsError
        If the port or the folder cannot be used.
    """
    check_empty(data)
    with tempfile.TemporaryDirectory(prefix="sottovoce-demo-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "data" if data is None else data
        command = [sys.executable, "-m", "sottovoce", "serve", "--json", "--new-admin-token"]
        where = ["--host", "127.0.0.1", "--port", str(port), "--data", str(folder)]
        quiet = {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")}
        written = Path(temporary) / "service.log"
        with written.open("wb") as log:
            # In its own session: Ctrl-C reaches this process only, which then stops the service cleanly.
            process = subprocess.Popen(
                [*command, *where], stdout=subprocess.PIPE, stderr=log, env=quiet, start_new_session=True
            )
        try:
            ready = _ready_message(process, written)
            url, token, fingerprint = ready["address"], ready["admin_token"], ready["fingerprint"]
            yield DemoService(url, token, fingerprint, process.pid, folder, process)
        finally:
            _stop(process)


def _ready_message(process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    """The JSON that the service prints once it is ready; raises the error that it reports."""
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if line == b"}\n":
            message: dict[str, Any] = json.loads(b"".join(lines))
            if "error" in message:
                raise _reported_error(message["error"])
            return message
    process.wait()
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise ServiceError(f"the service did not start; the last line of its log: {one_line(''.join(last)) or 'none'}")


def _reported_error(error: dict[str, str]) -> SottovoceError:
    kind = getattr(errors, error["type"], SottovoceError)
    return kind(error["message"]) if issubclass(kind, SottovoceError) else SottovoceError(error["message"])


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate it, and kill what is left of its process group."""
    try:
        process.terminate()
        process.wait(_STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        pass
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
