"""What every codec says to rows that are no rows of its bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.core.errors import ReportError

__all__ = ["check_other_rows_are_refused"]


def check_other_rows_are_refused(codec: Any, width: int) -> None:
    """One byte more or less, another number of axes, other kinds of numbers."""
    rows = np.zeros((3, width), dtype=np.uint8)
    shapes = [np.zeros(shape, np.uint8) for shape in ((3, width + 1), (3, width - 1), (3, width, 1), (width,))]
    for wrong in (*shapes, rows.astype(np.int8), rows.astype(bool)):
        for decoder in (codec.decode_many, codec.good_rows):
            with pytest.raises(ReportError, match=f"rows of {width} bytes"):
                decoder(wrong)
