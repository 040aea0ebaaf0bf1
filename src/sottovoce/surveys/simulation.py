"""Simulated people answering a survey: in chunks, on all cores, reproducible on any machine.

Chunk i draws from its own generator, spawned from (seed, i), so the reports do not depend on the number of threads, or
on whether they are returned or only counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SimulationError
from sottovoce.core.limits import check_domain_size
from sottovoce.core.progress import advancing
from sottovoce.mechanisms import Mechanism
from sottovoce.mechanisms.base import Batch, Counts
from sottovoce.questions.people import MAX_SIMULATED, People

__all__ = [
    "Seed",
    "check_seed",
    "chunk_size",
    "count_reports",
    "draw_reports",
    "histogram_of",
]

Seed = int | None
Progress = Callable[[int], object]
Result = TypeVar("Result")


_PEOPLE_AT_ONCE = 1 << 16  # a chunk fits into a core's cache


def chunk_size(mechanism: Mechanism) -> int:
    """People per chunk: fewer for long reports, so that a chunk's memory is bounded."""
    return max(1, _PEOPLE_AT_ONCE // mechanism.simulation_words)


def draw_reports(mechanism: Mechanism, people: People, seed: Seed) -> Batch:
    """Everybody's reports, in order."""
    with advancing(None, "simulating", people.n, "people") as advance:
        parts = list(_chunks(mechanism, people, seed, lambda batch: batch, advance))
    return np.concatenate(parts) if parts else mechanism.randomize_many(people.between(0, 0), _generator(seed, 0))


def count_reports(mechanism: Mechanism, people: People, seed: Seed, progress: Progress | None = None) -> Counts:
    """The counts of everybody's reports, in memory independent of their number."""
    # One set of counters per active worker; the order of addition does not matter.
    idle = [mechanism.empty()]

    def count(batch: Batch) -> None:
        try:
            counters = idle.pop()
        except IndexError:
            counters = mechanism.empty()
        mechanism.count_into(counters, batch)
        idle.append(counters)

    with advancing(progress, "simulating", people.n, "people") as advance:
        for _ in _chunks(mechanism, people, seed, count, advance):
            pass
    total = idle.pop()
    for counters in idle:
        total += counters
    return total


def _workers() -> int:
    return max(1, min(8, os.cpu_count() or 1))


def _generator(seed: Seed, chunk: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(chunk,))))


def _chunks(
    mechanism: Mechanism,
    people: People,
    seed: Seed,
    use: Callable[[Batch], Result],
    advance: Progress,
) -> Iterator[Result]:
    """`use` of every chunk's reports, in order, computed by a pool with a bounded number in flight."""
    size = chunk_size(mechanism)
    if seed is None:
        seed = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    fixed = check_seed(seed)

    def work(chunk: int) -> tuple[int, Result]:
        start, stop = chunk * size, min(people.n, (chunk + 1) * size)
        batch = mechanism.randomize_many(people.between(start, stop), _generator(fixed, chunk))
        return stop - start, use(batch)

    if people.n <= size:
        # For one chunk, a pool would only add overhead.
        for chunk in range(min(1, people.n)):
            n, result = work(chunk)
            advance(n)
            yield result
        return
    chunks = iter(range(-(-people.n // size)))
    with ThreadPoolExecutor(_workers()) as pool:
        flying: list[Future[tuple[int, Result]]] = [pool.submit(work, c) for c in islice(chunks, 4 * _workers())]
        while flying:
            n, result = flying.pop(0).result()
            flying.extend(pool.submit(work, c) for c in islice(chunks, 1))
            advance(n)
            yield result


def check_seed(seed: Any) -> int:
    """Return `seed` as an int if it is valid."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise SimulationError("seed must be a non-negative integer, or None for a random one").at("seed")
    return int(seed)


def histogram_of(frequencies: NDArray[np.float64], n: int, seed: Seed) -> NDArray[np.int64]:
    """The number of people with each value, among n drawn independently from `frequencies`."""
    check_domain_size(len(frequencies))
    if not ((frequencies >= 0).all() and abs(float(frequencies.sum()) - 1) < 1e-12):
        raise SimulationError("frequencies must be non-negative numbers that sum to one").at("frequencies")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 <= n <= MAX_SIMULATED:
        raise SimulationError(f"the number of people must be an integer from 0 to {MAX_SIMULATED:,}").at("n")
    fixed = None if seed is None else check_seed(seed)
    people = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(fixed)))
    return people.multinomial(n, frequencies).astype(np.int64, copy=False)
