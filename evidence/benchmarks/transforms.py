"""The two transforms every distribution estimate goes through, as multiples of copying the same array; and a third.

A copy is the least that any pass over memory costs, so the ratio says how near to that the transforms are,
whatever the machine. Projective geometry decodes by a correlation instead; it stands beside the same correlation by
transforms of its own length, which has a large prime factor. Both sides are timed alternately in the same run; the
ratio is that of the best times.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.projective import hyperplane_sums
from sottovoce.kernels.walsh import walsh_hadamard
from sottovoce.mechanisms.projective_space import ProjectiveSpace
from sottovoce.projections import project_simplex

__all__ = ["run"]

SIZE = 1 << 24
REPEATS = 9
WALSH_TARGET = 5.0
SIMPLEX_TARGET = 25.0
CYCLE_TARGET = 0.5

Floats = NDArray[np.float64]
Row = dict[str, object]


def run() -> list[Row]:
    """Measure both transforms on 2^24 doubles, and the third; one row a comparison."""
    return [*_walsh_rows(), _cycle_row(), *(_simplex_row(name, raw) for name, raw in _raw_estimates())]


def _walsh_rows() -> list[Row]:
    x = np.random.default_rng(1).normal(size=SIZE)
    work, touched = x.copy(), x.copy()

    def restore() -> None:
        # Transformed again and again in place, the numbers would grow beyond all bounds.
        np.copyto(work, x)

    transform, copy, copy_touched = _best_seconds(
        lambda: walsh_hadamard(work), lambda: np.copy(x), lambda: np.copyto(touched, x), before=restore
    )
    return [
        _row("walsh-hadamard 2^24", transform, copy, "numpy.copy", WALSH_TARGET),
        _row("walsh-hadamard 2^24", transform, copy_touched, "numpy.copyto memory in use", WALSH_TARGET),
    ]


def _cycle_row() -> Row:
    from scipy import fft

    space = ProjectiveSpace(31, 5)  # 954,305 points, of which 17,351 is a prime factor
    counts = np.random.default_rng(3).integers(0, 1000, size=space.points)
    hits = np.random.default_rng(4).random(space.points)

    def cyclic() -> None:
        spectrum = np.conj(fft.rfft(counts, workers=-1)) * fft.rfft(hits, workers=-1)
        np.rint(fft.irfft(spectrum, n=space.points, workers=-1)).astype(np.int64)

    ours, theirs = _best_seconds(lambda: hyperplane_sums(counts, space.order, space.dimension), cyclic)
    return _row("hyperplane sums, 954,305 points", ours, theirs, "transforms of that length", CYCLE_TARGET)


def _simplex_row(name: str, raw: Floats) -> Row:
    project, copy = _best_seconds(lambda: project_simplex(raw), lambda: np.copy(raw))
    return _row(f"simplex projection 2^24, {name}", project, copy, "numpy.copy", SIMPLEX_TARGET)


def _raw_estimates() -> list[tuple[str, Floats]]:
    """Raw estimates from hardly to hopelessly noisy, and inputs that slow down other algorithms."""
    rng = np.random.default_rng(2)
    frequencies = rng.exponential(size=SIZE) ** 4
    frequencies /= frequencies.sum()
    noise = rng.normal(size=SIZE)
    falling = np.arange(SIZE) / SIZE
    return [
        *((f"noise {scale:g}", frequencies + scale * noise) for scale in (1e-6, 1e-3, 1.0, 1e3)),
        ("projected already", np.array(project_simplex(frequencies + 1e-6 * noise).values)),
        ("all equal", np.full(SIZE, 1e3)),
        ("three values", rng.integers(0, 3, size=SIZE) / 3),
        ("geometric, rising", -np.exp(-700 * falling)),
        ("geometric, falling", np.exp(-700 * falling)),
        ("one certain, the rest near zero", np.where(falling == 0, 1.0, 1e-9 * noise)),
    ]


def _best_seconds(*tasks: Callable[[], object], before: Callable[[], object] = lambda: None) -> list[float]:
    """Return each task's best time, all of them run in turn and each once beforehand to compile."""
    for task in tasks:
        task()
    best = [float("inf")] * len(tasks)
    for _ in range(REPEATS):
        before()
        for i, task in enumerate(tasks):
            start = perf_counter()
            task()
            best[i] = min(best[i], perf_counter() - start)
    return best


def _row(name: str, seconds: float, reference_seconds: float, against: str, target: float) -> Row:
    ratio = seconds / reference_seconds
    return {
        "name": name,
        "ratio": round(ratio, 2),
        "target": f"<= {target:g}",
        "met": ratio <= target,
        "against": against,
        "seconds": seconds,
        "reference_seconds": reference_seconds,
    }


if __name__ == "__main__":
    for row in run():
        print(f"{row['name']:<56} {row['ratio']:>6} x {row['against']} (target {row['target']})")
