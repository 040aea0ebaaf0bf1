"""What chance may make of a mean over repeats: Student's t at one tail for every comparison."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from sottovoce.core.extras import full_install

__all__ = ["SIGMAS", "allowed"]

SIGMAS: Final = 4.0
"""The tail of every comparison is that of a normal variable beyond so many standard deviations, 3.2e-5.

The full grid makes some six hundred comparisons. If every one of them were on its edge, and errors were normal, one
run in fifty would raise a false alarm; nearly all are far from it.
"""


@lru_cache(maxsize=256)
def allowed(freedom: float) -> float:
    """How many standard errors a mean may be on the wrong side, the standard error having so many degrees of freedom.

    Of R normal repeats the mean, in units of its measured standard error, has Student's distribution with R - 1.

    Examples
    --------
    >>> [round(allowed(repeats - 1), 1) for repeats in (3, 8, 20, 40)]
    [125.6, 8.5, 5.1, 4.5]
    >>> round(allowed(1e9), 3) == SIGMAS
    True
    """
    with full_install:
        from scipy.special import ndtr, stdtrit

    return float(-stdtrit(freedom, ndtr(-SIGMAS)))
