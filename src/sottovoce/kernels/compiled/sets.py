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
        found = 0
        for place in range(most):
            later = _below(numbers - place, words[i, place], rng) < size - found
            belongs = later if found else coins[i, place]
            if belongs:
                out[i, found] = rows[i, place]
                found += 1
        for place in range(size - found):
            drawn = place + _below(options - place, words[i, most + place], rng)
            order[place], order[drawn] = order[drawn], order[place]
            swapped[place] = drawn
            other = order[place]
            for member in range(most):
                other += other >= rows[i, member]
            out[i, found + place] = other
        for place in range(size - found - 1, -1, -1):
            drawn = swapped[place]
            order[place], order[drawn] = order[drawn], order[place]
        out[i].sort()


@njit(cache=True, nogil=True)
def wheel_reports(rows, seeds, inside, places, words, options, bins, k0, k1, rng, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.wheel`."""
    n, most = rows.shape
    held = np.empty(most, dtype=np.int64)
    for i in range(n):
        members = 0
        for place in range(most):
            option = rows[i, place]
            if option < options:
                four = philox4x32(k0, k1, np.uint64(option >> 2), _NONE, np.uint64(seeds[i]), _PURPOSE)
                held[members] = np.int64((four[option & 3] * np.uint64(bins)) >> _SHIFT)
                members += 1
        held[:members].sort()
        taken = 0
        for place in range(members):
            if place == 0 or held[place] != held[taken - 1]:
                held[taken] = held[place]
                taken += 1
        if inside[i] and places[i] < taken:
            out[i] = seeds[i] * bins + held[places[i]]
        else:
            other = _below(bins - taken, words[i], rng)
            for place in range(taken):
                other += other >= held[place]
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
