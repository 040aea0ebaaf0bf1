"""Central against local epsilon for one survey's design, for a few sizes of a batch: the lines of a picture."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from sottovoce.core.limits import MAX_EPSILON, MAX_USERS
from sottovoce.core.words import delta_suffix, plural, rounded_up
from sottovoce.figures.amplification import AmplificationLine, plot_amplification
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.options import usable_designs
from sottovoce.strategies.setting import Setting
from sottovoce.surveys.relay import LEAST_BATCH
from sottovoce.theory.shuffling import Shuffled, central_epsilon, epsilon_below

__all__ = ["plot_amplified"]

_POINTS: Final = 11
_FACTORS: Final = (0.1, 1, 10)


def plot_amplified(design: Strategy, n: int, delta: float, ax: Any = None) -> Any:
    """The picture of a design's certificate for n people, on a matplotlib axes; returns the axes.

    Beside the bound of this design stand that of any mechanism of the same local epsilon, and the lower bound.
    """
    grid = _grid(design.epsilon)
    designs = [_at(design, epsilon, n) for epsilon in grid]
    sizes = sorted({min(MAX_USERS, max(LEAST_BATCH, round(factor * n))) for factor in _FACTORS})
    lines = [_line(size, delta, grid, designs, with_lower=size == n) for size in sizes]
    own = next(line for line in lines if line.n == n)
    place = grid.index(design.epsilon)
    least = own.lower[place]
    bounds = f"{rounded_up(own.proved[place])} proved" + ("" if math.isnan(least) else f", {least:.3g} at least")
    caption = (
        f"{design.mechanism.name}, local epsilon {design.epsilon:g}: central epsilon {bounds}{delta_suffix(delta)},\n"
        f"{plural(n, 'honest answer')} in one batch, a shuffler that does not collude"
    )
    return plot_amplification(lines, (design.epsilon, own.proved[place]), caption, ax)


def _grid(local: float) -> list[float]:
    """Local epsilons up to 8, or beyond if the survey's own is, including it."""
    top = min(MAX_EPSILON, max(8.0, 1.5 * local))
    return sorted({local, *(round(float(epsilon), 3) for epsilon in np.linspace(min(0.5, local), top, _POINTS))})


def _line(
    n: int, delta: float, grid: list[float], designs: list[Strategy | None], *, with_lower: bool
) -> AmplificationLine:
    """What is proved, and for batches of the survey's own size the lower bound too, which takes longer."""
    any_mechanism = [Shuffled(epsilon, None, n).epsilon_at(delta) for epsilon in grid]
    proved, lower = [], []
    for design, generic in zip(designs, any_mechanism, strict=True):
        blanket = None if design is None else design.mechanism.blanket()
        if design is None or blanket is None:
            proved.append(math.nan if design is None else generic)
            lower.append(math.nan)
            continue
        proved.append(min(generic, central_epsilon(blanket, design.epsilon, n, delta)))
        lower.append((epsilon_below(blanket, design.epsilon, n, delta) if with_lower else 0.0) or math.nan)
    return AmplificationLine(n, tuple(grid), tuple(proved), tuple(any_mechanism), tuple(lower))


def _at(design: Strategy, epsilon: float, users: int) -> Strategy | None:
    """The same strategy and mechanism at another local epsilon; None if they cannot serve, or not soon."""
    if epsilon == design.epsilon:
        return design
    if design.made_for_epsilon:
        return None
    setting = Setting(design.workload, epsilon, 0.0, users, design.name, design.mechanism.name)
    return next(iter(usable_designs(setting, (design.name,))), None)
