"""The histogram loop."""

from numba import njit


@njit(cache=True, nogil=True)
def count_into(counts, outputs):  # type: ignore[no-untyped-def]
    """counts[outputs[i]] += 1 for every i."""
    for i in range(outputs.shape[0]):
        counts[outputs[i]] += 1
