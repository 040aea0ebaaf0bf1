"""Compiled, GIL-free work spread over the machine's cores with plain threads, and large arrays in huge pages.

Plain threads and not Numba's own: its portable threading layer aborts the process when two threads enter it
at once, and none of its layers may be used again after a fork.

Fresh memory in huge pages costs a fault for every 2 MiB and not for every page. Faults of small pages take longer than
the passes over such an array themselves. NumPy asks for huge pages from 4 MiB on, and the kernel gives them only where
all of one lies within the array.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["cores", "for_each_piece", "uninitialized", "use_cores", "zeros"]


_HUGE = 1 << 21
_ASKED_FROM = 1 << 22


def uninitialized(entries: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array of any content."""
    return _aligned(np.empty, entries, np.dtype(dtype))


def zeros(entries: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array of zeros."""
    return _aligned(np.zeros, entries, np.dtype(dtype))


def _aligned(make: Callable[..., NDArray[Any]], entries: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    size = entries * dtype.itemsize
    if size < _HUGE // 2:
        return make(entries, dtype=dtype)
    # From the first huge page on to the end of the last one needed; what is not used takes no memory.
    room = make(max(_ASKED_FROM, -(-size // _HUGE) * _HUGE + _HUGE), dtype=np.uint8)
    start = -room.ctypes.data % _HUGE
    return room[start : start + size].view(dtype)


_most: int | None = None


def for_each_piece(work: Callable[[int], None], pieces: int) -> None:
    """Call ``work(piece)`` once for every piece in ``range(pieces)``, on all cores, and wait for the last.

    The calling thread works too, and it never waits for a helper that has not begun: the call cannot
    deadlock, whatever else uses the pool, and it finishes on its own where no helper can be had (a
    single core, or an interpreter that is shutting down). Any number of threads may call this at once, in
    the parent and after a fork.

    Parameters
    ----------
    work : callable
        Does one piece; runs in several threads at once and gains only where it releases the GIL. For the
        same result on every machine, each piece must write to its own place.
    pieces : int
        Number of pieces. A piece should be worth a few hundred microseconds.

    Examples
    --------
    >>> squares = [0] * 4
    >>> for_each_piece(lambda piece: squares.__setitem__(piece, piece**2), 4)
    >>> squares
    [0, 1, 4, 9]
    """
    numbers = count()

    def take_pieces() -> None:
        while (piece := next(numbers)) < pieces:
            work(piece)

    helpers = _begin(take_pieces, min(cores(), pieces) - 1)
    try:
        take_pieces()
    finally:
        begun = [helper for helper in helpers if not helper.cancel()]
        for helper in begun:
            helper.exception()  # only waits; raising here would leave the next helper running
    for helper in begun:
        helper.result()


def _begin(task: Callable[[], None], wanted: int) -> list[Future[None]]:
    """Hand the task to at most ``wanted`` pool threads; fewer where the interpreter no longer allows it."""
    helpers: list[Future[None]] = []
    try:
        for _ in range(wanted):
            helpers.append(_pool().submit(task))
    except RuntimeError:  # no new threads at interpreter shutdown: the caller then does it all
        pass
    return helpers


def cores() -> int:
    """Return the number of cores this process may use, which containers and ``taskset`` limit."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return there if _most is None else min(there, _most)


def use_cores(most: int) -> None:
    """Let this process use no more cores, where others share the machine with it."""
    global _most
    _most = most


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max(1, cores() - 1), thread_name_prefix="sottovoce-kernel")


if hasattr(os, "register_at_fork"):
    # A forked child inherits the pool object but none of its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
