"""Deadlines of request bodies: one timer for all of them, since setting one for each takes longer than most bodies."""

from __future__ import annotations

import asyncio
from typing import Any, final

__all__ = ["Deadline", "Deadlines"]


@final
class Deadline:
    """Of one body, which a task waits for."""

    __slots__ = ("_due", "_task", "passed")

    def __init__(self, task: asyncio.Task[Any], due: float):
        self._task, self._due = task, due
        self.passed = False

    def look(self, now: float) -> float:
        """When it is due; once it has passed, the task that waits is cancelled."""
        if now >= self._due and not self.passed:
            self.passed = True
            self._task.cancel()
        return self._due

    def is_reason(self) -> bool:
        """Whether this is why the running task was cancelled, and nothing else; the task may then go on."""
        return self.passed and not self._task.uncancel()


@final
class Deadlines:
    """Those of one event loop."""

    def __init__(self) -> None:
        self._open: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, seconds: float) -> Deadline:
        """From now on the running task has so many seconds, until `end`."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can have a deadline")
        deadline = Deadline(task, loop.time() + seconds)
        self._open.add(deadline)
        if self._timer is None:
            self._timer = loop.call_later(seconds, self._look, loop)
        return deadline

    def end(self, deadline: Deadline) -> None:
        """The body is there, or nobody waits for it any more."""
        self._open.discard(deadline)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the waits that took too long; look again when the next one might."""
        now = loop.time()
        later = [due for due in [deadline.look(now) for deadline in self._open] if due > now]
        self._timer = loop.call_at(min(later), self._look, loop) if later else None
