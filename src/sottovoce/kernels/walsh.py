"""The fast Walsh-Hadamard transform in place: n log2 n additions, blocked for cache, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.threads import for_each_piece, uninitialized

__all__ = ["walsh_hadamard", "walsh_hadamard_of_counts", "walsh_hadamard_rows"]

# Entries a thread takes at a time: enough to hide the handing out, few enough to balance the threads. Arrays no
# longer than this stay on the calling thread.
_PIECE = 1 << 18
_MANY = 1 << 16
"""Counts from which on single precision saves more time than it takes to compile for it."""

_Numbers = NDArray[np.float32 | np.float64]
_Pass = Callable[[_Numbers, int, int, int], None]


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


def walsh_hadamard_of_counts(counts: NDArray[np.int64], values: int, factor: float) -> NDArray[np.float64]:
    """Return ``factor * (H counts)[1 : values + 1]``, each entry rounded once.

    Like `walsh_hadamard` it is exact before that, where the counts' absolute values sum to at most 2^53. Large arrays
    of counts that sum to at most 2^24 are transformed in single precision, which is then exact too.

    Parameters
    ----------
    counts : numpy.ndarray
        One-dimensional, contiguous, int64, of length 1, 2, 4, 8, ...; not modified.
    values : int
        How many entries to return; fewer than there are counts.
    factor : float
        What the transform is multiplied by.

    Examples
    --------
    >>> import numpy as np
    >>> walsh_hadamard_of_counts(np.array([1, 0, 2, 0]), 2, 0.5)
    array([ 1.5, -0.5])
    """
    if counts.size >= _MANY:
        transform = _transform_small_counts(counts, values, factor)
        if transform is not None:
            return transform
    spectrum = counts.astype(np.float64)
    walsh_hadamard(spectrum)
    return spectrum[1 : values + 1] * factor


def _transform_small_counts(counts: NDArray[np.int64], values: int, factor: float) -> NDArray[np.float64] | None:
    """`walsh_hadamard_of_counts` in single precision, or None where that is not exact."""
    from sottovoce.kernels.compiled import walsh_counts as compiled

    spectrum, totals = uninitialized(counts.size, np.float32), []

    def blocks(given: _Numbers, size: int, first: int, last: int) -> None:
        totals.append(compiled.transform_blocks(counts, given, first, last))

    _run_pass(blocks, spectrum, compiled.BLOCK, entries_per_unit=compiled.BLOCK)
    if min(totals) < 0 or sum(totals) > compiled.LARGEST:
        return None
    _rest_of_levels(compiled, spectrum, compiled.BLOCK, spectrum.size)

    entries, out = spectrum[1 : values + 1], uninitialized(values)

    def scale(given: _Numbers, size: int, first: int, last: int) -> None:
        compiled.scale(given[first:last], factor, out[first:last])

    _run_pass(scale, entries, 1, entries_per_unit=1)
    return out


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
    _rest_of_levels(compiled, x, row, length)


def _rest_of_levels(compiled: Any, x: _Numbers, h: int, length: int) -> None:
    """Do the levels at strides from h on, by the passes of a compiled module."""
    while 4 * h <= length:
        _run_pass(compiled.two_levels, x, h, entries_per_unit=4 * compiled.CHUNK)
        h *= 4
    if h < length:
        _run_pass(compiled.one_level, x, h, entries_per_unit=2 * compiled.CHUNK)


def _run_pass(step: _Pass, x: _Numbers, size: int, entries_per_unit: int) -> None:
    """Call ``step(x, size, first, last)`` until all of x's units are done."""
    units = x.size // entries_per_unit
    share = max(1, _PIECE // entries_per_unit)
    for_each_piece(lambda piece: step(x, size, piece * share, min(units, (piece + 1) * share)), -(-units // share))
