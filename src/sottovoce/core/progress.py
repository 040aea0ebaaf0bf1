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
from typing import Any, Final, Protocol, final

from sottovoce.core.progress_lines import DrawnLine, Moment, StepLines, line_of

__all__ = ["PROGRESS_VARIABLE", "Steps", "advancing", "hushed", "meanwhile", "stepping", "steps"]

PROGRESS_VARIABLE: Final = "SOTTOVOCE_PROGRESS"
"""Set to "off", it switches progress off, of commands too."""

_OFF: Final = ("off", "0", "no", "false")

_QUIET_SECONDS = 2.0
"""Calls that are shorter show nothing."""

_REDRAWN_SECONDS: Final = 0.2


class Steps(Protocol):
    """Where a call says what it does."""

    def say(self, words: str) -> None:
        """What is being waited for, of unknown length."""

    def progress(self, done: int, total: int, step: str) -> None:
        """The name of a step, and how far it is, as engines tell it."""

    def advance(self, more: int) -> None:
        """So many more are done of the total that was given."""


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
    >>> told = []
    >>> with advancing(told.append, "simulating", 2, "people") as advance:
    ...     advance(2)
    >>> told
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
        yield None if isinstance(shown, _Silent) else shown.progress


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
class _Silent:
    """Of what is not shown."""

    def say(self, words: str) -> None:
        return

    def progress(self, done: int, total: int, step: str) -> None:
        return

    def advance(self, more: int) -> None:
        return


@final
class _Spoken:
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

    def moment(self, seconds: float) -> Moment:
        """What is drawn."""
        with self._lock:
            return Moment(*self._now, seconds, self._seconds_left())

    def _seconds_left(self) -> float | None:
        """At the speed since the first part was done, before which loops may have been compiled."""
        _, done, total, _ = self._now
        if total is None or self._first is None or not self._first[1] < done <= total:
            return None
        began, before = self._first
        return (monotonic() - began) * (total - done) / (done - before)


@final
class _Shown:
    """One line, drawn by a thread of its own: whoever does the work only says how far it is, and never waits."""

    def __init__(self, line: DrawnLine, first: _Spoken) -> None:
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

    def _moment(self) -> Moment:
        seconds, told = monotonic() - self._began, self.open[:]
        for words in _State.meanwhile[-1:]:
            return Moment(words, 0, None, "", seconds)
        return next((one for one in told if one.speaks), told[-1]).moment(seconds)

    def _draw(self) -> None:
        if _QUIET_SECONDS > 0 and self._over.wait(_QUIET_SECONDS):
            return
        # A terminal that is gone is no reason to fail.
        with contextlib.suppress(OSError, ValueError), self._line.open() as draw:
            while True:
                draw(self._moment())
                if self._over.wait(_REDRAWN_SECONDS):
                    return


def _is_spawned() -> bool:
    """Whether another Python process has started this one for a part of its work; that imports `multiprocessing`."""
    processes = sys.modules.get("multiprocessing")
    return processes is not None and processes.parent_process() is not None


class _State:
    """Of this process: what is shown, if anything, and what the machine does meanwhile."""

    shown: _Shown | StepLines | None = None
    meanwhile: Final[list[str]] = []
    hushed = False
    is_part = False
    """Whether this process was forked from one that may show something itself."""

    @classmethod
    def open(cls, what: str, total: int | None, unit: str, lines: bool) -> Steps:
        """What the block that begins now speaks to."""
        if cls.is_part or threading.current_thread() is not threading.main_thread():
            return _Silent()
        told = _Spoken(what, total, unit)
        if cls.shown is not None:
            if isinstance(cls.shown, StepLines):
                return _Silent()
            cls.shown.open.append(told)
            return told
        if os.environ.get(PROGRESS_VARIABLE, "").lower() in _OFF or cls.hushed or _is_spawned():
            return _Silent()
        line = line_of(sys.stderr)
        if line is not None:
            cls.shown = _Shown(line, told)
            return told
        if lines:
            cls.shown = StepLines(_QUIET_SECONDS)
            return cls.shown
        return _Silent()

    @classmethod
    def close(cls, opened: Steps) -> None:
        """The block is over."""
        shown = cls.shown
        if isinstance(opened, _Silent) or shown is None:
            return
        if isinstance(shown, _Shown) and isinstance(opened, _Spoken) and len(shown.open) > 1:
            if opened in shown.open:
                shown.open.remove(opened)
            return
        cls.shown = None
        shown.close()

    @classmethod
    def forget(cls) -> None:
        """In a forked process: what its parent shows is not for it to touch."""
        cls.shown, cls.is_part = None, True
        cls.meanwhile.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_State.forget)
