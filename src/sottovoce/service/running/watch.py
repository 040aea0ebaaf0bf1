"""A thread of the service that does small things again and again; one that fails does not stop the others."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from sottovoce.core.errors import StoreError, StoreUnavailableError
from sottovoce.service.running.outage import Outage

__all__ = ["Watch"]

_TURN: Final = 0.5
"""Seconds between looks at what is due."""

_PATIENCE: Final = 15.0
"""Seconds that the end waits for a task: a database that hangs must not hang the service."""

_log: Final = logging.getLogger("sottovoce.collector")


@dataclass
class _Task:
    seconds: float
    run: Callable[[], object]
    outage: Outage
    due: float


@final
class Watch:
    """Runs tasks until it is closed."""

    def __init__(self) -> None:
        self._tasks: list[_Task] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._live, name="sottovoce-watch", daemon=True)

    def every(self, seconds: float, task: Callable[[], object], failing: str) -> None:
        """Run a task now, and then that often; `failing` is said, once, while it raises."""
        added = _Task(seconds, task, Outage(_log, failing), 0.0)
        _run(added)
        self._tasks.append(added)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Run nothing more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _live(self) -> None:
        while not self._stop.wait(_TURN):
            for task in self._tasks:
                if time.monotonic() >= task.due and not self._stop.is_set():
                    _run(task)


def _run(task: _Task) -> None:
    try:
        task.run()
    except StoreUnavailableError:
        pass  # said where reports are stored and counted
    except StoreError as error:
        task.outage.failed(str(error))
    except OSError as error:
        task.outage.failed(error.strerror or type(error).__name__)
    except Exception as error:
        # Its words may quote anything; the service goes on without this.
        task.outage.failed(type(error).__name__)
    else:
        task.outage.worked()
    task.due = time.monotonic() + task.seconds
