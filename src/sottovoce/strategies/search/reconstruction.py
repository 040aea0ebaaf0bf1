"""The noise of a channel's best unbiased reconstruction, and the weights that minimise the worst noise."""

from __future__ import annotations

from typing import Final

import numpy as np

from sottovoce.workloads.base import Floats

__all__ = ["user_noise", "worst_case_weights"]

_RANK: Final = 1e-11
"""Eigenvalues below this fraction of the largest count as zero."""
_MISSED: Final = 1e-8
"""Fraction of the answers' squared size that may be in the channel's kernel, by rounding."""


def user_noise(channel: Floats, gram: Floats, weights: Floats) -> Floats:
    """Every user's noise, sum_i Var(answer i of one report | user), for the reconstruction of least weighted mean.

    Parameters
    ----------
    channel
        m x J probabilities, columns summing to 1.
    gram
        A^T A, J x J.
    weights
        A distribution over people: the reconstruction is B = A (Q^T D^-1 Q)^+ Q^T D^-1 with D = diag(Q weights).

    Returns
    -------
    Floats
        Infinite for all people if no unbiased reconstruction exists.

    Examples
    --------
    Randomized response over two values, asked for both shares: 2 (c^2 - 1)/4 with c = (3 + 1)/(3 - 1).

    >>> user_noise(np.array([[0.75, 0.25], [0.25, 0.75]]), np.eye(2), np.array([0.5, 0.5]))
    array([1.5, 1.5])
    """
    inner = gram @ weights
    centred = gram - inner[:, None] - inner + weights @ inner
    norms = centred.diagonal()
    mean = channel @ weights
    x = (channel - mean[:, None]) / mean[:, None]
    half = x * np.sqrt(mean)[:, None]
    information = half.T @ half
    values, vectors = np.linalg.eigh(information)
    # `weights` spans the kernel of any channel's information; centred answers have no part there.
    kept = values > max(_RANK * values[-1], 0.0)
    basis = vectors[:, kept]
    seen = centred @ basis
    total = float(norms.sum())
    if total > 0 and float(np.abs(centred - (basis @ (basis.T @ seen)) @ basis.T).max()) > _MISSED * total:
        return np.full(len(gram), np.inf)
    scaled = (x @ basis) / values[kept]
    sizes = np.einsum("ij,ij->i", scaled @ (basis.T @ seen), scaled)
    noise: Floats = sizes @ channel - norms
    return noise


def worst_case_weights(
    channel: Floats, gram: Floats, weights: Floats, *, rounds: int = 60, tolerance: float = 1e-4
) -> Floats:
    """Weights whose reconstruction has the least worst noise over people, by mirror ascent from `weights`.

    min over reconstructions of the worst user's noise equals the max over weights of the weighted mean at its own best
    reconstruction (von Neumann); it stops when the two are within `tolerance`, or after `rounds` rounds.

    Examples
    --------
    >>> sharp = np.array([[0.6, 0.2, 0.3], [0.2, 0.5, 0.3], [0.2, 0.3, 0.4]])
    >>> start = np.full(3, 1 / 3)
    >>> weights = worst_case_weights(sharp, np.eye(3), start)
    >>> bool(user_noise(sharp, np.eye(3), weights).max() < user_noise(sharp, np.eye(3), start).max())
    True
    """
    best, least, pace = weights, np.inf, 2.0
    before = -np.inf
    for _ in range(rounds):
        noise = user_noise(channel, gram, weights)
        worst, mean = float(noise.max()), float(weights @ noise)
        if not np.isfinite(worst):
            return best
        if worst < least:
            best, least = weights, worst
        if worst - mean <= tolerance * abs(worst):
            break
        pace = min(pace * 1.5, 64.0) if mean >= before else pace * 0.4
        before = mean
        moved = weights * np.exp(np.clip(pace * (noise / mean - 1.0), -2.0, 2.0))
        weights = moved / moved.sum()
    return best
