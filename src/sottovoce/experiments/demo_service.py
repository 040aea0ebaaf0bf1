"""The demonstration's collector: the real service in a process of its own, gone when the block ends, in any case."""

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

from sottovoce import errors
from sottovoce.client.text import one_line
from sottovoce.errors import ServiceError, SimulationError, SottovoceError

__all__ = ["Service", "check_folder", "own_service"]

_STOP_SECONDS: Final = 30.0


@dataclass(frozen=True)
class Service:
    """A service that answers."""

    url: str
    token: str = field(repr=False)
    fingerprint: str
    pid: int
    data: Path
    process: subprocess.Popen[bytes] = field(repr=False)


def check_folder(data: Path | None) -> None:
    """Raise `SimulationError` unless the folder is new or empty: reports of an earlier run would be counted too."""
    with contextlib.suppress(FileNotFoundError):
        try:
            taken = data is not None and any(data.iterdir())
        except NotADirectoryError:
            taken = True
        if taken:
            raise SimulationError(f"{str(data)!r} is not an empty folder; name a new one for the service's data")


@contextlib.contextmanager
def own_service(data: Path | None = None, port: int = 0) -> Iterator[Service]:
    """`sottovoce serve` on this machine; its data in a temporary folder unless one is named, which then stays.

    Raises
    ------
    MissingExtraError
        Where the packages of the service are not installed.
    SettingsError
        If the port or the folder cannot be used.
    """
    check_folder(data)
    with tempfile.TemporaryDirectory(prefix="sottovoce-demo-", ignore_cleanup_errors=True) as place:
        folder = Path(place) / "data" if data is None else data
        command = [sys.executable, "-m", "sottovoce", "serve", "--json", "--new-admin-token"]
        where = ["--host", "127.0.0.1", "--port", str(port), "--data", str(folder)]
        quiet = {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")}
        written = Path(place) / "service.log"
        with written.open("wb") as log:
            # In a session of its own: Ctrl-C comes to this process, which then stops the service in good order.
            process = subprocess.Popen(
                [*command, *where], stdout=subprocess.PIPE, stderr=log, env=quiet, start_new_session=True
            )
        try:
            told = _told(process, written)
            url, token, fingerprint = told["address"], told["admin_token"], told["fingerprint"]
            yield Service(url, token, fingerprint, process.pid, folder, process)
        finally:
            _stop(process)


def _told(process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    """What the service says once it is ready; raises what it complains about."""
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if line == b"}\n":
            told: dict[str, Any] = json.loads(b"".join(lines))
            if "error" in told:
                raise _complaint(told["error"])
            return told
    process.wait()
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise ServiceError(f"the service did not start; its last words: {one_line(''.join(last)) or 'none'}")


def _complaint(told: dict[str, str]) -> SottovoceError:
    kind = getattr(errors, told["type"], SottovoceError)
    return kind(told["message"]) if issubclass(kind, SottovoceError) else SottovoceError(told["message"])


def _stop(process: subprocess.Popen[bytes]) -> None:
    """In good order if it stops soon; in any case it and all it has started are gone on return."""
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
