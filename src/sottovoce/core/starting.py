"""What makes a service start and stop sooner."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["importing"]


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Around the imports of a process that lives on: the garbage collector never looks at what they leave.

    It would look again and again while they go on, and once more when the process ends.

    Examples
    --------
    >>> with importing():
    ...     import json
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
