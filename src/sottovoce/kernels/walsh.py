"""The fast Walsh-Hadamard transform in place: n log2 n additions, blocked for cache, on all cores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.threads import for_each_piece

__all__ = ["walsh_hadamard", "walsh_hadamard_rows"]

# Entries a thread takes at a time: enough to hide the handing out, few enough to balance the threads. Arrays no
# longer than this stay on the calling thread.
_PIECE = 1 << 18

_Pass = Callable[[NDArray[np.float64], int, int, int], None]


def walsh_hadamard(x: NDArray[np.float64]) -> None:
    """Replace x by H x, where H[i, j] = (-1)^popcount(i & j): Sylvester order, not normalised.

    H is symmetric and H H = n I, so a second call gives n times the original. The transform only adds and
    subtracts: where the entries are integers and their absolute values sum to at most 2^53, every partial sum
    is an integer that a double holds, and the result is exact. In general each entry has gone through log2 n
    roundings, so the L2 error is at most about log2(n) 2^-53 ||H x||.

    Safe to call from several threads at once (on different arrays) and after a fork.

    Parameters
    ----------
    x : numpy.ndarray
        One-dimensional, contiguous, writeable, float64, of length 1, 2, 4, 8, ...; overwritten.

    Raises
    ------
    ValueError
        If x is not such an array; x is then untouched.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 0.0, 2.0, 0.0])
    >>> walsh_hadamard(x)
    >>> x
    array([ 3.,  3., -1., -1.])
    """
    _check(x, dimensions=1)
    _transform(x, x.size)


def walsh_hadamard_rows(x: NDArray[np.float64]) -> None:
    """Replace every row of the matrix x by its Walsh-Hadamard transform; see `walsh_hadamard`.

    Parameters
    ----------
    x : numpy.ndarray
        Two-dimensional, C-contiguous, writeable, float64, with rows of length 1, 2, 4, 8, ...; overwritten.

    Raises
    ------
    ValueError
        If x is not such an array; x is then untouched.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> walsh_hadamard_rows(x)
    >>> x
    array([[ 3., -1.],
           [ 8., -2.]])
    """
    _check(x, dimensions=2)
    _transform(x.reshape(-1), x.shape[1])


def _check(x: NDArray[np.float64], dimensions: int) -> None:
    if not isinstance(x, np.ndarray) or x.dtype != np.float64:
        raise ValueError("The transform works in place on a float64 array; convert with x.astype(float) first.")
    if x.ndim != dimensions:
        raise ValueError(f"The array has {x.ndim} dimensions; this transform needs {dimensions}; reshape it first.")
    if not (x.flags.c_contiguous and x.flags.aligned and x.flags.writeable):
        raise ValueError(
            "The transform works in place on a contiguous, aligned, writeable array; "
            "pass a copy, x.copy(), and read the result there."
        )
    length = x.shape[-1]
    if length == 0 or length & (length - 1):
        raise ValueError(
            f"The length is {length}; the transform needs a power of two (1, 2, 4, ...); "
            "pad with zeros up to the next one."
        )


def _transform(x: NDArray[np.float64], length: int) -> None:
    """Transform consecutive runs of `length` entries."""
    from sottovoce.kernels.compiled import walsh as compiled

    row = min(length, compiled.BLOCK)
    _run_pass(compiled.transform_rows, x, row, entries_per_unit=row)
    h = row
    while 4 * h <= length:
        _run_pass(compiled.two_levels, x, h, entries_per_unit=4 * compiled.CHUNK)
        h *= 4
    if h < length:
        _run_pass(compiled.one_level, x, h, entries_per_unit=2 * compiled.CHUNK)


def _run_pass(step: _Pass, x: NDArray[np.float64], size: int, entries_per_unit: int) -> None:
    """Call ``step(x, size, first, last)`` until all of x's units are done."""
    units = x.size // entries_per_unit
    share = max(1, _PIECE // entries_per_unit)
    for_each_piece(lambda piece: step(x, size, piece * share, min(units, (piece + 1) * share)), -(-units // share))
