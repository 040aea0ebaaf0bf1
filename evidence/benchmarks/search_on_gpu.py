"""Searching a channel for 2,048 values on a graphics processor: `python -m evidence.benchmarks.search_on_gpu [VALUES]`.

Needs PyTorch with CUDA. Prints a log; the one of the last run stands in `results/search_on_gpu.log`.
"""

from __future__ import annotations

import platform
import sys
import time

import numpy as np

from sottovoce.strategies.search.optimize import optimize
from sottovoce.workloads import Prefix

__all__ = ["main"]


def main(values: int = 2048, epsilon: float = 1.0, seconds: float = 420.0) -> None:
    """Search, and say how long it took and how good the result is."""
    import torch

    if not torch.cuda.is_available():
        sys.exit("this benchmark needs PyTorch with a CUDA device")
    print(f"Prefix({values}), epsilon {epsilon:g}, on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"NumPy {np.__version__}, Python {platform.python_version()}", flush=True)
    began = time.perf_counter()

    def progress(steps: int, value: float) -> None:
        print(f"{time.perf_counter() - began:8.1f} s  {steps:4} steps  {value:.6g}", flush=True)

    found = optimize(
        Prefix(values),
        epsilon,
        progress=progress,
        time_limit=seconds,
        steps=10_000,
        arrays=lambda array: torch.asarray(array, device="cuda"),
        cache=False,
    )
    took = time.perf_counter() - began
    print(f"worst-case variance {found.worst:.6g}, mean {found.total:.6g}; {found.matrix}")
    print(f"lower bound {found.lower_bound:.6g}: within {found.worst / found.lower_bound:.4f} of it")
    print(f"best known channel: {found.best_analytic[0]} {found.best_analytic[1]:.6g}")
    print(f"search ended by itself: {found.finished}; {took:.1f} s in all, rounding and the bound included")
    memory = torch.cuda.max_memory_allocated() / 2**30
    print(f"at most {memory:.2f} GiB of GPU memory; {len(found.matrix.to_bytes()):,} bytes to fetch")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
