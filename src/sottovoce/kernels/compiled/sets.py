"""Compiled loops over simulated people with sets. Each mirrors the device code of its mechanism."""

import numpy as np

from sottovoce.kernels.compiled.cached import njit
from sottovoce.kernels.compiled.channels import _below
from sottovoce.kernels.compiled.normals import philox4x32
from sottovoce.randomness.philox import WHEEL_BINS

_PURPOSE = np.uint64(WHEEL_BINS)
_NONE = np.uint64(0)
_SHIFT = np.uint64(32)


@njit(cache=True, nogil=True)
def selected_subsets(rows, coins, words, options, rng, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.set_selection`."""
    n, most = rows.shape
    size = out.shape[1]
    numbers = options + most
    order = np.arange(options)
    swapped = np.empty(size, dtype=np.int64)
    for i in range(n):
        kept = 0
        for index in range(most):
            later = _below(numbers - index, words[i, index], rng) < size - kept
            belongs = later if kept else coins[i, index]
            if belongs:
                out[i, kept] = rows[i, index]
                kept += 1
        for index in range(size - kept):
            drawn = index + _below(options - index, words[i, most + index], rng)
            order[index], order[drawn] = order[drawn], order[index]
            swapped[index] = drawn
            other = order[index]
            for member in range(most):
                other += other >= rows[i, member]
            out[i, kept + index] = other
        for index in range(size - kept - 1, -1, -1):
            drawn = swapped[index]
            order[index], order[drawn] = order[drawn], order[index]
        out[i].sort()


@njit(cache=True, nogil=True)
def wheel_reports(rows, seeds, inside, places, words, options, bins, k0, k1, rng, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.wheel`."""
    n, most = rows.shape
    held = np.empty(most, dtype=np.int64)
    for i in range(n):
        members = 0
        for index in range(most):
            option = rows[i, index]
            if option < options:
                four = philox4x32(k0, k1, np.uint64(option >> 2), _NONE, np.uint64(seeds[i]), _PURPOSE)
                held[members] = np.int64((four[option & 3] * np.uint64(bins)) >> _SHIFT)
                members += 1
        held[:members].sort()
        taken = 0
        for index in range(members):
            if index == 0 or held[index] != held[taken - 1]:
                held[taken] = held[index]
                taken += 1
        if inside[i] and places[i] < taken:
            out[i] = seeds[i] * bins + held[places[i]]
        else:
            other = _below(bins - taken, words[i], rng)
            for index in range(taken):
                other += other >= held[index]
            out[i] = seeds[i] * bins + other


@njit(cache=True, nogil=True)
def wheel_supports(counts, k0, k1, first, last, out):  # type: ignore[no-untyped-def]
    """out[i] += counts[seed, bin of option i] over these seeds; those without reports are free."""
    bins = np.uint64(counts.shape[1])
    for seed in range(first, last):
        row = counts[seed]
        if not row.any():
            continue
        for block in range(out.shape[0] // 4):
            four = philox4x32(k0, k1, np.uint64(block), _NONE, np.uint64(seed), _PURPOSE)
            for w in range(4):
                out[4 * block + w] += row[np.int64((four[w] * bins) >> _SHIFT)]
