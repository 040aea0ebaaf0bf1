"""Workloads as written on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from sottovoce.core.errors import WorkloadError
from sottovoce.workloads.base import MAX_ENTRIES, Workload
from sottovoce.workloads.bins import Bins
from sottovoce.workloads.identity import Identity
from sottovoce.workloads.marginals import Marginals
from sottovoce.workloads.parities import Parities
from sottovoce.workloads.ranges import Prefix, Ranges
from sottovoce.workloads.table import Dense

__all__ = ["parse_workload"]

_FORMS: Final = (
    "identity:1024 (each value)",
    "prefix:1024 (at most each value)",
    "ranges:64 (every interval)",
    "bins:100:10 (ranges ten wide)",
    "marginals:age=10,sex=2,country=30:2 (every table of two attributes)",
    "parities:10:3 (of up to three out of ten bits)",
    "dense:FILE.npy (any matrix)",
)
_DIGITS: Final = re.compile(r"[0-9]{1,18}", re.ASCII)


def parse_workload(text: str, *, files: bool = True, most: int = MAX_ENTRIES) -> Workload:
    """A workload from its family and sizes, separated by colons.

    Parameters
    ----------
    files
        False for untrusted text: no file is then opened.
    most
        Maximum number of queries; larger workloads are refused before memory is allocated.

    Examples
    --------
    >>> parse_workload("marginals:age=10,sex=2,country=30:2")
    <marginals workload: 380 queries over 600 values, radius 1.732>
    >>> parse_workload("quantiles:10")
    Traceback (most recent call last):
    sottovoce.core.errors.WorkloadError: 'quantiles:10' is not a workload; write one like identity:1024 ...
    """
    family, colon, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
    maker = _MAKERS.get(family)
    if maker is None or not colon or (maker is _dense and not files):
        raise _unreadable(text, files)
    bins = _numbers(text, rest, 2) if maker is _bins else [0, 1]
    many = bins[0] // max(1, bins[1])
    workload = maker(text, rest) if many <= most else None
    asked = many if workload is None else workload.n_queries
    if workload is None or asked > most:
        raise WorkloadError(f"this workload has {asked:,} queries; at most {most:,} are allowed: use a smaller one")
    return workload


def _unreadable(text: object, files: bool = True) -> WorkloadError:
    shown = repr(text) if len(repr(text)) <= 80 else "that long text"
    forms = _FORMS if files else _FORMS[:-1]
    return WorkloadError(f"{shown} is not a workload; write one like {', '.join(forms)}")


def _numbers(text: str, rest: str, count: int) -> list[int]:
    fields = rest.split(":")
    if len(fields) != count or not all(_DIGITS.fullmatch(field) for field in fields):
        raise _unreadable(text)
    return [int(field) for field in fields]


def _bins(text: str, rest: str) -> Workload:
    size, width = _numbers(text, rest, 2)
    return Bins(size, width)


def _marginals(text: str, rest: str) -> Workload:
    listed, _, k = rest.rpartition(":")
    pairs = [pair.partition("=") for pair in listed.split(",")]
    sizes = {name: size for name, _, size in pairs}
    if len(sizes) < len(pairs) or not all(_DIGITS.fullmatch(field) for field in (k, *sizes.values())):
        raise _unreadable(text)
    return Marginals({name: int(size) for name, size in sizes.items()}, int(k))


def _dense(text: str, path: str) -> Workload:
    return Dense(_loaded(path))


def _loaded(path: str) -> NDArray[np.generic]:
    remedy = "give a file that numpy.save wrote of a two-dimensional array of real numbers, one row per query"
    try:
        # Memory-mapped: a file whose header claims a larger size is refused before memory is allocated.
        # This reader accepts .npy only: no archives, and no pickles, which could run code.
        return open_memmap(path, mode="r")
    except FileNotFoundError:
        raise WorkloadError(f"file {path!r} not found; {remedy}") from None
    except Exception as error:  # an untrusted header can fail in any way
        raise WorkloadError(f"{path!r} cannot be read as a .npy file ({error}); {remedy}") from error


_MAKERS: Final[dict[str, Callable[[str, str], Workload]]] = {
    "identity": lambda text, rest: Identity(*_numbers(text, rest, 1)),
    "prefix": lambda text, rest: Prefix(*_numbers(text, rest, 1)),
    "ranges": lambda text, rest: Ranges(*_numbers(text, rest, 1)),
    "bins": _bins,
    "marginals": _marginals,
    "parities": lambda text, rest: Parities(*_numbers(text, rest, 2)),
    "dense": _dense,
}
