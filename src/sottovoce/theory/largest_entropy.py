"""The distribution of largest entropy that agrees with tables of shares, and records near it where these are many.

It is p(x) = exp(sum over tables of theta_T(x_T))/Z, one number theta per cell of every table (Jaynes 1957). Where all
records can be listed, one table after the other is scaled to its shares, which finds it (Deming and Stephan 1940,
Csiszar 1975). Where they cannot, records are drawn from the tree of the pairs that tell most about each other (Chow and
Liu 1968), which has the largest entropy for the tables of its edges, and moved until the other pairs agree too.

An attribute has positions; position s counts for cell k of its tables with the part F[s, k], rows summing to one: the
identity for categories, linear between grid points for numbers (Darroch and Ratcliff 1972).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["SharesTable", "crowd_of_pairs", "listed_shares", "spanning_tree", "table_of"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Pairs = Mapping[tuple[int, int], Floats]

_LEAST: Final = 1e-12
"""Shares below this are none."""

_CLOSE: Final = 1e-4
"""Half the absolute differences of a table, below which it agrees."""

_FULL_ROUNDS: Final = 10
"""Rounds before scaling is damped: estimated tables agree with each other only nearly, and it would cycle."""


class SharesTable(NamedTuple):
    """A table that is to be agreed with: the places of its attributes, and its shares."""

    places: tuple[int, ...]
    shares: Floats


def table_of(records: Indices, parts: Sequence[Floats], places: Sequence[int], weights: Floats | None = None) -> Floats:
    """The table of records, one row of positions each; equally weighted unless weights are given.

    Examples
    --------
    >>> number = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])  # a position halfway between two grid points
    >>> table_of(np.array([[0], [1]]), [number], [0])
    array([0.75, 0.25])
    """
    shape = tuple(len(parts[place]) for place in places)
    index = np.ravel_multi_index(tuple(records[:, place] for place in places), shape)
    table: Floats = np.bincount(index, weights, minlength=int(np.prod(shape))).astype(np.float64).reshape(shape)
    for axis, place in enumerate(places):
        table = np.moveaxis(np.tensordot(table, parts[place], axes=(axis, 0)), -1, axis)
    return np.asarray(table / table.sum())


def _on_positions(cells: Floats, parts: Sequence[Floats], places: Sequence[int]) -> Floats:
    """Numbers of cells, at every position."""
    for axis, place in enumerate(places):
        cells = np.moveaxis(np.tensordot(cells, parts[place], axes=(axis, 1)), -1, axis)
    return cells


def listed_shares(parts: Sequence[Floats], targets: Sequence[SharesTable], rounds: int) -> tuple[Indices, Floats]:
    """All records, and their shares in the distribution of largest entropy with these tables.

    Examples
    --------
    >>> targets = [SharesTable((0,), np.array([0.7, 0.3])), SharesTable((1,), np.array([0.4, 0.6]))]
    >>> _, shares = listed_shares([np.eye(2), np.eye(2)], targets, 5)
    >>> shares.round(2)  # nothing is said of how the two are related, so they are independent
    array([0.28, 0.42, 0.12, 0.18])
    """
    shape = tuple(map(len, parts))
    records = np.stack([axis.reshape(-1) for axis in np.indices(shape)], axis=1)
    weights = np.full(len(records), 1 / len(records))
    for number in range(rounds):
        power, worst = min(1.0, _FULL_ROUNDS / (number + 1)), 0.0
        for places, wanted in targets:
            present = table_of(records, parts, places, weights)
            worst = max(worst, float(np.abs(present - wanted).sum()) / 2)
            moved = power * np.log(np.maximum(wanted, _LEAST) / np.maximum(present, _LEAST))
            index = tuple(records[:, place] for place in places)
            weights = weights * np.exp(_on_positions(moved, parts, places)[index])
            weights /= weights.sum()
        if worst < _CLOSE:
            break
    return records, weights


def spanning_tree(pairs: Pairs, size: int) -> list[tuple[int, int]]:
    """Edges (parent, child) of the tree of pairs that tell most about each other, from the root 0.

    Examples
    --------
    >>> same, apart = np.eye(2) / 2, np.full((2, 2), 0.25)
    >>> spanning_tree({(0, 1): apart, (0, 2): same, (1, 2): same}, 3)
    [(0, 2), (2, 1)]
    """
    told = np.zeros((size, size))
    for (one, other), table in pairs.items():
        told[one, other] = told[other, one] = _information(table)
    inside, edges = [0], list[tuple[int, int]]()
    while len(inside) < size:
        outside = [place for place in range(size) if place not in inside]
        parent, child = max(((a, b) for a in inside for b in outside), key=lambda edge: told[edge])
        edges.append((parent, child))
        inside.append(child)
    return edges


def _ratios(table: Floats) -> Floats:
    """Log of the shares over those of independent attributes, with the margins of the table."""
    shares = np.maximum(table, _LEAST)
    return np.asarray(np.log(shares / np.outer(shares.sum(axis=1), shares.sum(axis=0)) * shares.sum()))


def _information(table: Floats) -> float:
    return float((np.maximum(table, 0.0) * _ratios(table)).sum())


def crowd_of_pairs(
    parts: Sequence[Floats],
    singles: Sequence[Floats],
    pairs: Pairs,
    people: int,
    rounds: int,
    rng: np.random.Generator,
    advance: Callable[[int], object],
) -> Indices:
    """Records whose tables of one and of two attributes are near these, from the tree's distribution.

    The tree of pairs has the largest entropy of all distributions with the tables of its edges. Records drawn from it
    are then moved, one attribute of a few of them at a time, to where the squared error of all tables falls most.
    """
    edges = spanning_tree(pairs, len(parts))
    records = _drawn_from_tree(parts, singles, pairs, edges, people, rng)
    for number in range(rounds):
        moved = _MOVED / (1 + number / _SLOWING)
        for place in range(len(parts)):
            _move(place, records, parts, singles, pairs, moved, rng)
            advance(1)
    return records


_MOVED: Final = 0.1
"""Records that are moved at once: the next ones are judged by the tables that these have made."""

_SLOWING: Final = 8
"""Rounds after which half as many are moved."""


def _between(pairs: Pairs, one: int, other: int) -> Floats:
    """The table of two attributes, with axes in this order."""
    return pairs[one, other] if one < other else pairs[other, one].T


def _drawn_from_tree(
    parts: Sequence[Floats],
    singles: Sequence[Floats],
    pairs: Pairs,
    edges: Sequence[tuple[int, int]],
    people: int,
    rng: np.random.Generator,
) -> Indices:
    """Cells from the tree, each attribute given its parent; positions that count for the cell by their parts."""
    cells = np.zeros((people, len(parts)), dtype=np.int64)
    cells[:, 0] = _drawn(np.broadcast_to(singles[0], (people, len(singles[0]))), rng)
    for parent, child in edges:
        known = (min(parent, child), max(parent, child)) in pairs
        table = _between(pairs, parent, child) if known else np.outer(singles[parent], singles[child])
        cells[:, child] = _drawn(table[cells[:, parent]], rng)
    columns = [_drawn(part.T[cells[:, place]], rng) for place, part in enumerate(parts)]
    return np.stack(columns, axis=1)


def _drawn(chances: Floats, rng: np.random.Generator) -> Indices:
    """One number for every row of chances, which need not sum to one."""
    upto = np.cumsum(np.maximum(chances, _LEAST), axis=1)
    drawn = rng.random(len(upto)) * upto[:, -1]
    return np.asarray(np.minimum((upto < drawn[:, None]).sum(axis=1), upto.shape[1] - 1))


def _move(
    place: int,
    records: Indices,
    parts: Sequence[Floats],
    singles: Sequence[Floats],
    pairs: Pairs,
    share: float,
    rng: np.random.Generator,
) -> None:
    """Move one attribute of some records that gain by it to the position where they gain most."""
    lacking = singles[place] - table_of(records, parts, [place])
    gain = np.broadcast_to(parts[place] @ lacking, (len(records), len(parts[place]))).copy()
    for other in range(len(parts)):
        pair = min(place, other), max(place, other)
        if pair in pairs:
            lacking = _between(pairs, other, place) - table_of(records, parts, (other, place))
            gain += _on_positions(lacking, parts, (other, place))[records[:, other]]
    best = gain.argmax(axis=1)
    every = np.arange(len(records))
    better = gain[every, best] - gain[every, records[:, place]]
    chosen = np.flatnonzero((better > 1e-9) & (rng.random(len(records)) < share))
    records[chosen, place] = best[chosen]
