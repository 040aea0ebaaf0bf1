"""Large arrays that begin where a huge page can: fresh memory costs a fault for every 2 MiB and not for every page.

Faults of small pages take longer than the passes over such an array themselves. NumPy asks for huge pages from 4 MiB
on, and the kernel gives them only where all of one lies within the array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["uninitialized", "zeros"]

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
