"""Numba's `njit`, with a cache on disk wherever there is a place for one; while loops are compiled, it is shown.

Numba keeps compiled loops beside the source, else in the user's cache folder, else in the folder that NUMBA_CACHE_DIR
names. Where none of them is writable it refuses to define a loop; here the loop is compiled anew by every process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Final

import numba
from numba.core import event

from sottovoce.core.progress import meanwhile

__all__ = ["njit"]

_KEPT: Final = "compiling (once on this machine)"
_NOT_KEPT: Final = "compiling (in every process: NUMBA_CACHE_DIR names no writable folder)"


def njit(*signatures: Any, **options: Any) -> Callable[[Any], Any]:
    """Compile as `numba.njit` does; without a cache if no folder can hold one."""

    def decorate(function: Any) -> Any:
        try:
            return numba.njit(*signatures, **options)(function)
        except RuntimeError:
            if not options.get("cache"):
                raise
            compiled = numba.njit(*signatures, **{**options, "cache": False})(function)
            _warn_once()
            return compiled

    return decorate


@cache
def _warn_once() -> None:
    warnings.warn(
        "compiled code cannot be kept, since no folder for it is writable, so every process compiles it again and its "
        "first calls take many seconds; let the environment variable NUMBA_CACHE_DIR name a writable folder",
        RuntimeWarning,
        stacklevel=3,
    )


class _Compiling(event.Listener):  # type: ignore[misc]
    """Told by Numba whenever it compiles, and not when it reads from the cache; in whatever thread."""

    def __init__(self) -> None:
        self._open: list[AbstractContextManager[None]] = []

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            words = _NOT_KEPT if _warn_once.cache_info().currsize else _KEPT
            self._open.append(meanwhile(words))
            self._open[-1].__enter__()

    def on_end(self, event: Any) -> None:
        if _is_ours(event):
            self._open.pop().__exit__(None, None, None)


def _is_ours(event: Any) -> bool:
    module = getattr(event.data["dispatcher"].py_func, "__module__", None) or ""
    return bool(module.startswith("sottovoce."))


event.register("numba:compile", _Compiling())
