"""Counting reports: one pass, integers only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_into"]


def count_into(counts: NDArray[np.int64], outputs: NDArray[Any]) -> None:
    """Add the histogram of `outputs` (integers below ``len(counts)``, trusted) to `counts`, in place."""
    from sottovoce.kernels.compiled.counting import count_into as compiled

    compiled(counts, outputs)
