"""Limits of a chance that is known to lie in a range, from a count: never empty, of no width, or outside the range.

Clopper and Pearson's limits know nothing of the range, so a count beyond it leaves nothing of them. Feldman and Cousins
(1998) order counts by the likelihood of the candidate over that of the likeliest chance in the range, and accept the
first ones. The limits are the ends of all chances that accept the count: a set that may have gaps, so its ends are
certified from outside, cell by cell.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install

__all__ = ["EXACT", "feldman_cousins"]

Floats = NDArray[np.float64]

EXACT: Final = "Feldman and Cousins' limits of a count, exact"

_MOST_EXACT: Final = 2.0**16
"""Counts of successes, or failures, up to which tails are exact; above, half a count is given away."""

_GUARD: Final = 1e-6
"""Relative error of a computed tail, and of a likelihood, at most."""

_CLOSE: Final = 1e-4
"""A walk ends where its step is that small a part of the distance that it starts at."""

_LIKELY: Final = 0.9
"""Chances of at least this likelihood ratio are never out: at levels about 1/2 nothing else would give a width."""

_FIRST: Final = 0.125
"""The first step of a walk, as a part of that distance."""

_SHORTER: Final = 0.4
"""Factor of a step that was not certified."""

_CELLS, _FEW = 4, 256
"""Cells of a walk that are tried at once, and of how many counts at most."""

_HALVINGS: Final = 48
_NEWTON: Final = 5

_SETTLED: Final = 1e-7
"""Newton's method has settled where it moves a count by less: it squares what is left."""

_MOST_COUNTS: Final = 2**13
"""Large counts up to which every limit is computed; of more, some are, and others lie between them."""

_STEP: Final = 2.0**-5
"""Distance of computed counts, in standard deviations near the ends of the range, else in ratio to the distance."""

_BENT, _MARGIN = 2e-3, 3e-3
"""In standard deviations: limits off their neighbours' line by more are computed more closely; and what is added."""


class _BitCounts(NamedTuple):
    """How many of n bits with one chance in [first, last] are set; all arrays of one length."""

    seen: Floats
    n: Floats
    first: Floats
    last: Floats

    @property
    def likeliest(self) -> Floats:
        """The likeliest chance in the range."""
        return np.clip(self.seen / self.n, self.first, self.last)

    def at(self, places: Any) -> _BitCounts:
        """Those at some places."""
        return _BitCounts(*(part[places] for part in self))


def feldman_cousins(counts: Any, n: Any, miss: float, first: Any, last: Any) -> tuple[Floats, Floats]:
    """Limits of a chance in [first, last] from counts of n independent bits, wrong with probability 2 `miss` at most.

    Limits of the mean chance where chances differ, as these very people's do: a chance q accepts its counts from a to b
    and, in addition, the integers next to n q, so that a <= n q <= b; then different chances make counts from a to b no
    less likely (Hoeffding 1956, Thm 5).

    Examples
    --------
    A chance from 0.25 to 0.75; the first three counts are fewer than expected of any.

    >>> low, high = feldman_cousins([0, 5, 20, 50], 100, 0.025, 0.25, 0.75)
    >>> low.round(3), high.round(3)
    (array([0.25 , 0.25 , 0.25 , 0.399]), array([0.259, 0.263, 0.3  , 0.601]))
    """
    arrays = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (counts, n, first, last)))
    shape, flat = arrays[0].shape, [array.reshape(-1) for array in arrays]
    # A million answers have a few thousand counts.
    order = np.lexsort(flat)
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([np.diff(part[order]) != 0 for part in flat], axis=0)
    index = np.empty(len(order), dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    distinct = _BitCounts(*(part[order[new]] for part in flat))
    low, high = distinct.first.copy(), distinct.last.copy()
    some = (distinct.n > 0) & (low < high)
    known = distinct.at(some)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        # Failures instead of successes: upper limits are lower ones.
        failures = _BitCounts(known.n - known.seen, known.n, 1 - known.last, 1 - known.first)
        both = _BitCounts(*(np.concatenate(pair) for pair in zip(known, failures, strict=True)))
        lower, upper = np.split(np.minimum(_lower(both, 2 * miss), (both.seen - 1).clip(0) / both.n), 2)
        low[some], high[some] = lower, np.where(upper <= failures.first, known.last, 1 - upper)
    low, high = np.maximum(low, distinct.first), np.minimum(high, distinct.last)
    return low[index].reshape(shape), high[index].reshape(shape)


def _lower(known: _BitCounts, alpha: float) -> Floats:
    """The lower limit of every count; where very many are large, between those of some."""
    limits = known.first.copy()
    above = known.seen > known.n * known.first  # others have the likeliest chance `first`, which accepts them
    large = np.minimum(known.seen, known.n - known.seen) > _MOST_EXACT
    direct = above & ~large
    limits[direct] = _walked(known.at(direct), alpha)
    for many in _ranges(known, above & large):
        part = known.at(many)
        if len(part.seen) <= _MOST_COUNTS:
            limits[many] = _walked(part, alpha)
            continue
        limits[many] = np.maximum(part.first, _between(part, alpha))
    return limits


def _ranges(known: _BitCounts, chosen: Any) -> list[Any]:
    """The chosen counts, by number of bits and range; together where they are few."""
    places = np.flatnonzero(chosen)
    if len(places) <= _MOST_COUNTS:
        return [places] if len(places) else []
    _, group = np.unique(np.stack(known.at(places)[1:]), axis=1, return_inverse=True)
    order = np.argsort(group, kind="stable")
    return np.split(places[order], np.flatnonzero(np.diff(group[order])) + 1)


def _between(part: _BitCounts, alpha: float) -> Floats:
    """Lower limits of very many counts of one range, from the line between computed ones, less a margin.

    Limits are smooth but for a few bends; there the distance of computed counts is divided once more.
    """
    n, first, last = float(part.n[0]), float(part.first[0]), float(part.last[0])
    least, most = float(part.seen.min()), float(part.seen.max())

    def computed(seen: Floats) -> Floats:
        limits = np.full(len(seen), first)
        above = seen > n * first
        limits[above] = _walked(
            _BitCounts(seen[above], *(np.full(above.sum(), end) for end in (n, first, last))), alpha
        )
        return limits

    def spread(seen: Floats) -> Floats:
        return np.sqrt(seen * (n - seen) / n) / n

    steps = np.concatenate([np.arange(0, 8, _STEP), 8 * (1 + _STEP) ** np.arange(math.log(n) / math.log1p(_STEP))])
    away = np.concatenate([-steps, steps])
    ends = [n * chance + away * math.sqrt(n * chance * (1 - chance) + 1) for chance in (first, last)]
    seen = np.unique(np.rint(np.clip(np.concatenate([*ends, [least, most]]), least, most)))
    limits = computed(seen)
    line = np.interp(seen[1:-1], seen[::2], limits[::2]), np.interp(seen[1:-1], seen[1::2], limits[1::2])
    off = np.maximum(*(np.abs(limits[1:-1] - half) for half in line)) > _BENT * spread(seen[1:-1])
    bent = np.flatnonzero(np.append(off, False) | np.append(False, off))
    parts = np.arange(1, 1 / _STEP) * _STEP
    closer = np.unique(np.rint(np.outer(1 - parts, seen[bent]) + np.outer(parts, seen[bent + 1])))
    seen, index = np.unique(np.concatenate([seen, closer]), return_index=True)
    limits = np.concatenate([limits, computed(closer)])[index]
    return np.interp(part.seen, seen, limits) - _MARGIN * spread(part.seen)


def _walked(known: _BitCounts, alpha: float) -> Floats:
    """Lower limits: all chances below are certified to reject the count.

    The p-value of a chance q is the probability of the counts that are no likelier, relative to their likeliest chance:
    those >= the count, and those <= some l(q) < n q. By Chernoff's bound each part is at most the count's likelihood
    ratio itself, so chances of a ratio up to alpha/2 are out. From there cells [u, v] are: the right part is largest at
    v, and l(v) is the largest l; with it the left part is largest at u, since binomial numbers grow with their chance.
    """
    twice = _BitCounts(*(np.tile(part, 2) for part in known))
    limit, top = np.split(_of_ratio(twice, np.repeat([alpha / 2, _LIKELY], len(known.n))), 2)
    active, least = np.arange(len(limit)), _CLOSE * (top - limit)
    step = _FIRST * (top - limit)
    while len(active):
        # A few counts take as long as one: several cells are tried at once, and those before the first bad one count.
        cells = _CELLS if len(active) <= _FEW else 1
        h = step[active]
        ends = limit[active] + h * np.arange(cells + 1)[:, None]
        u, v = ends[:-1], ends[1:]
        certified = (v > u) & (v < top[active])
        which = np.broadcast_to(active, v.shape)[certified]
        certified[certified] = _p_value(known.at(which), u[certified], v[certified]) <= alpha
        good = np.cumprod(certified, axis=0).sum(axis=0)
        limit[active] = ends[good, np.arange(len(active))]
        step[active] = np.where(good == cells, h, _SHORTER * h)
        active = active[step[active] > least[active]]
    return limit


def _of_ratio(known: _BitCounts, ratio: Floats) -> Floats:
    """The largest chance below the likeliest one whose likelihood ratio is that at most; the first if none is."""
    low, high, most = known.first, known.likeliest, np.log(ratio) - _GUARD
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        out = _log_ratio(known, known.seen, middle) <= most
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    return low


def _p_value(known: _BitCounts, u: Floats, v: Floats) -> Floats:
    """The largest p-value of a count for chances in [u, v], at most; all of them below its likeliest one."""
    with full_install:
        from scipy.special import betainc

    count, n = known.seen, known.n
    large = np.minimum(count, n - count) > _MOST_EXACT
    left = _last_left(known, v, large)
    p = np.empty(len(count))
    some = ~large
    k, last, m = count[some], left[some], n[some]
    p[some] = betainc(k, m - k + 1, v[some])
    p[some] += np.where(last >= 0, betainc(m - np.maximum(last, 0), np.maximum(last, 0) + 1, 1 - u[some]), 0.0)
    if large.any():
        k, last, m = count[large], left[large], n[large]
        p[large] = _tail(m - k, m, 1 - v[large]) + np.where(last >= 0, _tail(last, m, u[large]), 0.0)
    return p * (1 + _GUARD)


def _last_left(known: _BitCounts, v: Floats, large: Any) -> Floats:
    """The last count on the left that is no likelier than the known one, or one beyond it; a real one where large.

    Newton's method on a convex function; what it finds is checked, and infinity stands where it is not good. -1 where
    there is none.
    """
    target, of_none = _log_ratio(known, np.stack([known.seen, np.zeros(len(v))]), v)
    target = target + _GUARD
    mean = known.n * v
    odds, least = np.log(v / (1 - v)), np.maximum(known.first, 1e-300)
    last = np.maximum(mean - np.sqrt(2 * np.maximum(0.0, -target) * mean * (1 - v)), 0.0)
    for _ in range(_NEWTON):
        q = np.maximum(last / known.n, least)
        slope = np.maximum(odds - np.log(q / (1 - q)), 1e-300)
        step = (target - _log_ratio(known, last, v)) / slope
        last = np.minimum(np.maximum(last + step, 0.0), mean)
        if (np.abs(step) < _SETTLED).all():
            break
    last = np.where(large, last + 0.01 + _GUARD / slope, np.floor(last))
    # What is one beyond is asked too, and what is one beyond that.
    beyond = last + np.where(large, 0.0, [[1.0], [2.0], [3.0]])
    out = (beyond > mean) | (_log_ratio(known, np.minimum(beyond, mean), v) > target)
    more = ~large & ~out
    last = last + np.where(more[0], np.where(more[1], 2.0, 1.0), 0.0)
    good = np.where(more[0], np.where(more[1], out[2], out[1]), out[0])
    return np.where(of_none > target, -1.0, np.where(good, last, np.inf))


def _log_ratio(known: _BitCounts, count: Floats, chance: Floats) -> Floats:
    """Log of the likelihood of a chance over that of the likeliest one in the range."""
    likeliest = np.minimum(np.maximum(count / known.n, known.first), known.last)
    chances = np.empty((2, *likeliest.shape))
    chances[0], chances[1] = likeliest, chance
    of_likeliest, of_chance = _deviance(count, known.n, chances)
    return np.asarray(of_likeliest - of_chance)


def _deviance(count: Floats, n: Floats, chance: Floats) -> Floats:
    """n KL(count/n, chance), without differences of large numbers (Loader 2000).

    Successes and failures are computed in one array: most calls are for one count, whose time is the number of calls.
    """
    with full_install:
        from scipy.special import xlog1py

    mean = n * chance
    shape = 2, *np.broadcast(count, mean).shape
    counts, means = np.empty(shape), np.empty(shape)
    counts[0], counts[1], means[0], means[1] = count, n - count, mean, n - mean
    # Of each: count log(count/mean) + mean - count.
    x = (counts - means) / means
    parts = np.where(means > 0, means * (xlog1py(1 + x, x) - x), np.where(counts > 0, np.inf, 0.0))
    return np.asarray(parts[0] + parts[1])


def _tail(last: Floats, n: Floats, chance: Floats) -> Floats:
    """P(B <= last) at most, for B binomial (Zubkov and Serov 2012, Thm 1), as good as half a count."""
    with full_install:
        from scipy.special import ndtr

    sign = np.where(last + 1 < n * chance, -1.0, 1.0)
    return np.asarray(
        np.where(last + 1 < n, ndtr(sign * np.sqrt(2 * np.maximum(0.0, _deviance(last + 1, n, chance)))), 1.0)
    )
