"""How far a long call is, on standard error: a line in a terminal or a notebook, and nothing in scripts and logs.

Functions of the package and commands open the same `steps`. Of those that are open at once, the outermost that says how
far it is is shown, or else the innermost: a command's own words stand before those of the functions that it calls.
Nothing is shown of what takes less than two seconds, in threads other than the main one, in processes that were forked
or spawned for a part of the work, or if the environment says SOTTOVOCE_PROGRESS=off.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from time import monotonic
from typing import Any, Final, final

from sottovoce.core.progress_line import ProgressLine, ProgressMoment, line_of

__all__ = ["PROGRESS_VARIABLE", "StepLines", "Steps", "advancing", "hushed", "meanwhile", "stepping", "steps"]

PROGRESS_VARIABLE: Final = "SOTTOVOCE_PROGRESS"
"""Set to "off", it switches progress off, also for commands."""

_OFF: Final = ("off", "0", "no", "false")

_QUIET_SECONDS = 2.0
"""Shorter calls show nothing."""

_REDRAWN_SECONDS: Final = 0.2

_LINE_SECONDS: Final = 60.0
"""In a log, a longer step says again how far it is."""


class Steps:
    """Where a call says what it does; this one shows nothing."""

    def say(self, words: str) -> None:
        """What is being waited for, of unknown length."""

    def progress(self, done: int, total: int, step: str) -> None:
        """The name of a step, and how far it is, as engines tell it."""

    def advance(self, more: int) -> None:
        """Count `more` of the given total as done."""


@contextlib.contextmanager
def steps(what: str, total: int | None = None, unit: str = "", *, lines: bool = False) -> Iterator[Steps]:
    """Show what the block does once it has taken two seconds, and remove it at the end, however that comes.

    Parameters
    ----------
    what
        In words such as "simulating".
    total, unit
        How many of what there are, if that is known; `advance` then says how many more are done.
    lines
        Where there is neither a terminal nor a notebook: True for lines, such as for a log.

    Examples
    --------
    >>> with steps("simulating", 1000, "people") as shown:
    ...     shown.advance(500)
    """
    opened = _State.open(what, total, unit, lines)
    try:
        yield opened
    finally:
        _State.close(opened)


@contextlib.contextmanager
def advancing(
    own: Callable[[int], object] | None, what: str, total: int | None = None, unit: str = ""
) -> Iterator[Callable[[int], object]]:
    """A caller's own function of the number done since the last call; or else one that shows it, as `steps` does.

    Examples
    --------
    >>> counts = []
    >>> with advancing(counts.append, "simulating", 2, "people") as advance:
    ...     advance(2)
    >>> counts
    [2]
    """
    if own is not None:
        yield own
        return
    with steps(what, total, unit) as shown:
        yield shown.advance


@contextlib.contextmanager
def stepping(
    own: Callable[[int, int, str], object] | None, what: str
) -> Iterator[Callable[[int, int, str], object] | None]:
    """As `advancing`, for functions of the number done, of how many, and the name of the step; None if not shown."""
    if own is not None:
        yield own
        return
    with steps(what) as shown:
        yield None if type(shown) is Steps else shown.progress


@contextlib.contextmanager
def meanwhile(words: str) -> Iterator[None]:
    """What the machine does instead, in any thread, while the call that is shown waits for it."""
    _State.meanwhile.append(words)
    try:
        yield
    finally:
        _State.meanwhile.remove(words)


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Show nothing while the block runs, such as where it draws on the terminal itself."""
    before, _State.hushed = _State.hushed, True
    try:
        yield
    finally:
        _State.hushed = before


@final
class _Spoken(Steps):
    """What one block has said of itself."""

    def __init__(self, what: str, total: int | None, unit: str) -> None:
        self._lock = threading.Lock()
        self._now = what, 0, total, unit
        self._first: tuple[float, int] | None = None
        self.speaks = total is not None

    def say(self, words: str) -> None:
        with self._lock:
            self._now, self._first, self.speaks = (words, 0, None, ""), None, True

    def progress(self, done: int, total: int, step: str) -> None:
        with self._lock:
            first = self._first if step == self._now[0] else None
            self._now, self.speaks = (step, done, total, ""), True
            self._first = first or (monotonic(), done)

    def advance(self, more: int) -> None:
        with self._lock:
            what, done, total, unit = self._now
            self._now, self.speaks = (what, done + more, total, unit), True
            self._first = self._first or (monotonic(), done + more)

    def moment(self, seconds: float) -> ProgressMoment:
        """What is drawn."""
        with self._lock:
            return ProgressMoment(*self._now, seconds, self._seconds_left())

    def _seconds_left(self) -> float | None:
        """Seconds left at the speed since the first part was done: loops may have been compiled before that."""
        _, done, total, _ = self._now
        if total is None or self._first is None or not self._first[1] < done <= total:
            return None
        began, before = self._first
        return (monotonic() - began) * (total - done) / (done - before)


@final
class _Shown:
    """One line, drawn by a thread of its own: the working thread only says how far it is, and never waits."""

    def __init__(self, line: ProgressLine, first: _Spoken) -> None:
        self.open = [first]
        self._line, self._began = line, monotonic()
        self._over = threading.Event()
        # In the caller's context: a notebook knows by it which cell the line belongs to.
        run: Any = copy_context().run
        self._thread = threading.Thread(target=run, args=(self._draw,), name="sottovoce-progress", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Remove the line."""
        self._over.set()
        self._thread.join()

    def _moment(self) -> ProgressMoment:
        seconds, steps = monotonic() - self._began, self.open[:]
        for words in _State.meanwhile[-1:]:
            return ProgressMoment(words, 0, None, "", seconds)
        return next((step for step in steps if step.speaks), steps[-1]).moment(seconds)

    def _draw(self) -> None:
        if _QUIET_SECONDS > 0 and self._over.wait(_QUIET_SECONDS):
            return
        # The work goes on if the terminal is closed.
        with contextlib.suppress(OSError, ValueError), self._line as draw:
            while True:
                draw(self._moment())
                if self._over.wait(_REDRAWN_SECONDS):
                    return


@final
class StepLines(Steps):
    """A line for every step, and for every minute of a long one; a run that ends at once writes none."""

    def __init__(self, quiet_seconds: float, line_seconds: float = _LINE_SECONDS) -> None:
        self._lock = threading.Lock()
        self._every, self._quiet = line_seconds, True
        self._step, self._line, self._due = "", "", 0.0
        self._timer = threading.Timer(quiet_seconds, self._speak)
        self._timer.daemon = True
        self._timer.start()

    def say(self, words: str) -> None:
        """A step without numbers."""
        self._take(words, words)

    def progress(self, done: int, total: int, step: str) -> None:
        """A step with numbers."""
        self._take(step, f"{step}: {done:,} of {total:,}" if total > 1 else step)

    def close(self) -> None:
        """Say nothing more."""
        self._timer.cancel()
        self._timer.join()

    def _speak(self) -> None:
        with self._lock:
            self._quiet = False
            self._write()

    def _take(self, step: str, line: str) -> None:
        with self._lock:
            self._line = line
            if step != self._step:
                self._step, self._due = step, 0.0
            if not self._quiet and monotonic() >= self._due:
                self._write()

    def _write(self) -> None:
        if self._line:
            self._due = monotonic() + self._every
            sys.stderr.write(f"{self._line}\n")
            sys.stderr.flush()


def _is_spawned() -> bool:
    """Whether another Python process has started this one for a part of its work; that imports `multiprocessing`."""
    processes = sys.modules.get("multiprocessing")
    return processes is not None and processes.parent_process() is not None


class _State:
    """What this process shows, if anything, and what the machine does meanwhile."""

    shown: _Shown | StepLines | None = None
    meanwhile: Final[list[str]] = []
    hushed = False
    is_part = False
    """Whether this process was forked from one that may show something itself."""

    @classmethod
    def open(cls, what: str, total: int | None, unit: str, lines: bool) -> Steps:
        """The object to which the block that begins now reports its progress."""
        if cls.is_part or threading.current_thread() is not threading.main_thread():
            return Steps()
        step = _Spoken(what, total, unit)
        if cls.shown is not None:
            if isinstance(cls.shown, StepLines):
                return Steps()
            cls.shown.open.append(step)
            return step
        if os.environ.get(PROGRESS_VARIABLE, "").lower() in _OFF or cls.hushed or _is_spawned():
            return Steps()
        line = line_of(sys.stderr)
        if line is not None:
            cls.shown = _Shown(line, step)
            return step
        if lines:
            cls.shown = StepLines(_QUIET_SECONDS)
            return cls.shown
        return Steps()

    @classmethod
    def close(cls, opened: Steps) -> None:
        """The block is over."""
        shown = cls.shown
        if type(opened) is Steps or shown is None:
            return
        if isinstance(shown, _Shown) and isinstance(opened, _Spoken) and len(shown.open) > 1:
            if opened in shown.open:
                shown.open.remove(opened)
            return
        cls.shown = None
        shown.close()

    @classmethod
    def forget(cls) -> None:
        """Run in a forked process, which leaves alone what its parent shows."""
        cls.shown, cls.is_part = None, True
        cls.meanwhile.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_State.forget)
