"""Compiled arithmetic in projective spaces: numbering points, drawing reports, walking a Singer cycle."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _inverse(x, q):  # type: ignore[no-untyped-def]
    """1/x mod q, by Euclid."""
    a, b, s, t = x, q, np.int64(1), np.int64(0)
    while b:
        quotient = a // b
        a, b = b, a - quotient * b
        s, t = t, s - quotient * t
    return s % q


@njit(cache=True, nogil=True)
def _number(vector, q):  # type: ignore[no-untyped-def]
    """The number of the point that `vector` spans; see `mechanisms.projective_space`."""
    t = vector.shape[0]
    lead = 0
    while vector[lead] == 0:
        lead += 1
    scale = np.int64(1) if vector[lead] == 1 else _inverse(vector[lead], q)
    tail, offset = np.int64(0), np.int64(0)
    for i in range(lead + 1, t):
        tail = tail * q + vector[i] * scale % q
        offset = offset * q + 1
    return offset + tail


@njit(cache=True, nogil=True)
def _fill(vector, number, q):  # type: ignore[no-untyped-def]
    """Write the canonical vector of point `number`; return the position of its leading 1."""
    t = vector.shape[0]
    free, offset = 0, np.int64(0)
    while number >= offset * q + 1:
        offset = offset * q + 1
        free += 1
    tail = number - offset
    for i in range(t - 1, t - 1 - free, -1):
        vector[i] = tail % q
        tail //= q
    lead = t - 1 - free
    vector[lead] = 1
    vector[:lead] = 0
    return lead


@njit(cache=True, nogil=True)
def projective_points(values, orthogonal, inside, outside, q, t, out):  # type: ignore[no-untyped-def]
    """See `mechanisms.projective_geometry`."""
    direction = np.empty(t, dtype=np.int64)
    others = np.empty(t - 1, dtype=np.int64)
    vector = np.empty(t, dtype=np.int64)
    for i in range(values.shape[0]):
        pivot = _fill(direction, values[i], q)
        if orthogonal[i]:
            _fill(others, inside[i], q)
            product = np.int64(0)
        else:
            rest = outside[i]
            for k in range(t - 2, -1, -1):
                others[k] = rest % q
                rest //= q
            product = np.int64(1)
        vector[:pivot] = others[:pivot]
        vector[pivot + 1 :] = others[pivot:]
        for k in range(pivot + 1, t):
            product = (product + (q - direction[k]) * vector[k]) % q
        vector[pivot] = product
        out[i] = _number(vector, q)


@njit(cache=True, nogil=True)
def singer_walk(coefficients, q, points, directions, hits):  # type: ignore[no-untyped-def]
    """Follow x -> A x and v -> A^T v, A the companion matrix, writing the numbers of the points met."""
    t = coefficients.shape[0]
    x = np.zeros(t, dtype=np.int64)
    v = np.zeros(t, dtype=np.int64)
    x[0] = 1
    v[0] = 1
    for i in range(points.shape[0]):
        points[i] = _number(x, q)
        directions[i] = _number(v, q)
        hits[i] = x[0] == 0
        top = x[t - 1]
        for k in range(t - 1, 0, -1):
            x[k] = (x[k - 1] + (q - coefficients[k]) * top) % q
        x[0] = (q - coefficients[0]) * top % q
        feedback = np.int64(0)
        for k in range(t):
            feedback = (feedback + (q - coefficients[k]) * v[k]) % q
        for k in range(t - 1):
            v[k] = v[k + 1]
        v[t - 1] = feedback
