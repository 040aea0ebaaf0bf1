"""A cache of searched channels in the user's cache directory. Its content is not trusted."""

from __future__ import annotations

import hashlib
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np
import rfc8785

from sottovoce.core.errors import MechanismError
from sottovoce.core.files import cache_directory, replace_file
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.workloads.base import Floats

__all__ = ["Key", "directory", "load", "store"]

Key = tuple[str, float, str, int, int, int]
"""The workload's digest, epsilon, the objective, the number of rows (0: as many as usual), the seed, the steps."""

_VERSION: Final = 2
"""Version of the search: results of other versions are ignored."""
_SIZES: Final = struct.Struct("<I")
_LARGEST: Final = 2**27
"""Maximum size of a file in bytes."""


def directory() -> Path:
    """The directory `strategies` in the user's cache directory."""
    return cache_directory() / "strategies"


def _path(key: Key) -> Path:
    digest, epsilon, objective, rows, seed, steps = key
    stated = rfc8785.dumps([_VERSION, digest, epsilon.hex(), objective, rows, str(seed), steps])
    return directory() / f"{hashlib.sha256(stated).hexdigest()}.channel"


def load(key: Key) -> tuple[ChannelMatrix, Floats] | None:
    """The channel and the weights with that key; None if there are none, or the file is damaged.

    The caller verifies the channel against epsilon and computes its noise again: a manipulated file can only cost
    accuracy, and the reported noise shows it.
    """
    try:
        with _path(key).open("rb") as file:
            content = file.read(_LARGEST)
    except OSError:
        return None
    body, check = content[:-32], content[-32:]
    if hashlib.sha256(body).digest() != check or len(body) < _SIZES.size:
        return None
    (values,) = _SIZES.unpack_from(body)
    end = _SIZES.size + 8 * values
    if len(body) < end:
        return None
    weights = np.frombuffer(body, "<f8", values, _SIZES.size).astype(np.float64)
    try:
        matrix = ChannelMatrix.from_bytes(body[end:])
        matrix.verify(key[1])
    except MechanismError:
        return None
    if matrix.values != values or not (weights >= 0).all() or not abs(float(weights.sum()) - 1.0) <= 1e-9:
        return None
    return matrix, weights


def store(key: Key, matrix: ChannelMatrix, weights: Floats) -> None:
    """Store a result atomically; a directory that cannot be written is ignored."""
    body = _SIZES.pack(len(weights)) + weights.astype("<f8").tobytes() + matrix.to_bytes()
    with suppress(OSError):
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, body + hashlib.sha256(body).digest(), mode=0o600)
