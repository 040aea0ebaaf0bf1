"""Compiled arithmetic in projective spaces: numbering points, drawing reports, walking a Singer cycle.

A field is its order q and its tables of differences, products and inverses, or None if q is a
prime: the loops are compiled once for each, without a branch.
"""

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.compiled.cached import njit
from sottovoce.kernels.finite_field import kernel_tables


@njit(cache=True, nogil=True)
def _minus_product(total, a, b, q, tables):  # type: ignore[no-untyped-def]
    """total - a b; numba leaves out the branch that does not apply, as long as it is an else."""
    if tables is None:
        return (total + (q - a) * b) % q
    else:
        return np.int64(tables[0][total, tables[1][a, b]])


@njit(cache=True, nogil=True)
def _times(a, b, q, tables):  # type: ignore[no-untyped-def]
    """a b."""
    if tables is None:
        return a * b % q
    else:
        return np.int64(tables[1][a, b])


@njit(cache=True, nogil=True)
def _inverse(x, q, tables):  # type: ignore[no-untyped-def]
    """1/x: by Euclid, or from its table."""
    if tables is None:
        a, b, s, t = x, q, np.int64(1), np.int64(0)
        while b:
            quotient = a // b
            a, b = b, a - quotient * b
            s, t = t, s - quotient * t
        return s % q
    else:
        return np.int64(tables[2][x])


@njit(cache=True, nogil=True)
def _number(vector, q, tables):  # type: ignore[no-untyped-def]
    """The number of the point that `vector` spans, as a projective space numbers them."""
    t = vector.shape[0]
    lead = 0
    while vector[lead] == 0:
        lead += 1
    scale = np.int64(1) if vector[lead] == 1 else _inverse(vector[lead], q, tables)
    tail, offset = np.int64(0), np.int64(0)
    for i in range(lead + 1, t):
        tail = tail * q + _times(vector[i], scale, q, tables)
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


def projective_points(
    values: NDArray[np.int64],
    orthogonal: NDArray[np.bool_],
    inside: NDArray[np.int64],
    outside: NDArray[np.int64],
    q: int,
    t: int,
    out: NDArray[np.int64],
) -> None:
    """See `mechanisms.projective_geometry`."""
    _projective_points(values, orthogonal, inside, outside, q, t, kernel_tables(q), out)


@njit(cache=True, nogil=True)
def _projective_points(values, orthogonal, inside, outside, q, t, tables, out):  # type: ignore[no-untyped-def]
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
            product = _minus_product(product, direction[k], vector[k], q, tables)
        vector[pivot] = product
        out[i] = _number(vector, q, tables)


@njit(cache=True, nogil=True)
def singer_walk(coefficients, q, tables, points, directions, hits):  # type: ignore[no-untyped-def]
    """Follow x -> A x and v -> A^T v, A the companion matrix, writing the numbers of the points met."""
    t = coefficients.shape[0]
    x = np.zeros(t, dtype=np.int64)
    v = np.zeros(t, dtype=np.int64)
    x[0] = 1
    v[0] = 1
    for i in range(points.shape[0]):
        points[i] = _number(x, q, tables)
        directions[i] = _number(v, q, tables)
        hits[i] = x[0] == 0
        top = x[t - 1]
        for k in range(t - 1, 0, -1):
            x[k] = _minus_product(x[k - 1], coefficients[k], top, q, tables)
        x[0] = _minus_product(np.int64(0), coefficients[0], top, q, tables)
        feedback = np.int64(0)
        for k in range(t):
            feedback = _minus_product(feedback, coefficients[k], v[k], q, tables)
        for k in range(t - 1):
            v[k] = v[k + 1]
        v[t - 1] = feedback


@njit(cache=True, nogil=True)
def power_is_constant(exponent, modulus, q, tables):  # type: ignore[no-untyped-def]
    """Whether x^exponent is a constant modulo the monic polynomial with these lower coefficients, lowest first."""
    t = modulus.shape[0]
    power = np.zeros(t, dtype=np.int64)
    power[0] = 1
    bit = np.int64(1)
    while bit <= exponent // 2:
        bit *= 2
    while bit:
        # Minus the square, then times x, takes one subtraction of a product a term; a sign changes no constancy.
        raised = np.zeros(2 * t, dtype=np.int64)
        shift = 1 if exponent & bit else 0
        for i in range(t):
            for j in range(t):
                k = i + j + shift
                raised[k] = _minus_product(raised[k], power[i], power[j], q, tables)
        for top in range(2 * t - 1, t - 1, -1):
            for i in range(t):
                k = top - t + i
                raised[k] = _minus_product(raised[k], raised[top], modulus[i], q, tables)
        power[:] = raised[:t]
        bit //= 2
    return not power[1:].any()
