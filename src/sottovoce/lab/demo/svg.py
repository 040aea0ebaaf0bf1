"""Pictures of the demonstration's page as inline SVG: no library, no network, coloured by the page's own style."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from sottovoce.lab.demo.ages import Ages
from sottovoce.lab.demo.demo import CrowdErrors, EstimatedShare, percent
from sottovoce.lab.demo.habit import HabitMonth

__all__ = ["ages_curve", "bars", "curves", "habit_curve", "heat_map"]

Floats = NDArray[np.float64]


def bars(rows: Sequence[EstimatedShare], beside: Sequence[EstimatedShare] = ()) -> str:
    """Rows of label and bar, with interval and truth. Positions are per cent, so that it fits any width.

    The scale is one on which the rows `beside` fit too.
    """
    limit = 1.02 * max(max(row.high, row.truth) for row in (*rows, *beside))
    step = _round_step(limit / 3)
    ticks = [step * i for i in range(math.floor(limit / step) + 1)]

    def at(share: float) -> str:
        return f"{100 * share / limit:.2f}%"

    grid = "".join(f'<line class="grid" x1="{at(t)}" x2="{at(t)}" y1="0" y2="100%"/>' for t in ticks)
    parts = []
    for row in rows:
        low, high = at(row.low), at(row.high)
        interval = f"{percent(row.low)} to {percent(row.high)}"
        spoken = f"estimate {percent(row.value)}, interval {interval}, truth {percent(row.truth)}"
        parts.append(
            f'<div class="bar-row"><span>{escape(row.answer)}</span><svg role="img" aria-label="{spoken}">{grid}'
            f'<rect class="bar" y="17%" height="66%" width="{at(row.value)}"/>'
            f'<line class="whisker" x1="{low}" x2="{high}" y1="50%" y2="50%"/>'
            f'<line class="whisker" x1="{low}" x2="{low}" y1="36%" y2="64%"/>'
            f'<line class="whisker" x1="{high}" x2="{high}" y1="36%" y2="64%"/>'
            f'<svg x="{at(row.truth)}" y="50%"><path class="truth" d="M0 -5L5 0L0 5L-5 0Z"/></svg></svg></div>'
        )
    labels = "".join(
        f'<text class="tick" x="{at(t)}" y="14" text-anchor="{"start" if t == 0 else "middle"}">{100 * t:g} %</text>'
        for t in ticks
    )
    return "\n".join([*parts, f'<div class="bar-row bar-axis"><span>0</span><svg>{labels}</svg></div>'])


def heat_map(
    shares: Floats, row_names: Sequence[str], column_names: Sequence[str], largest: float, name: Callable[[int], str]
) -> str:
    """A table of cells whose colour grows with the square root of the share; negative ones have their own."""
    left, top, side = 78, 62, 15
    width, height = left + side * len(column_names) + 2, top + side * len(row_names) + 2
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="shares by instrument and style">']
    for i, label in enumerate(row_names):
        y = top + side * i + side / 2 + 3.5
        parts.append(f'<text class="tick" x="{left - 5}" y="{y}" text-anchor="end">{escape(label)}</text>')
    for j, label in enumerate(column_names):
        x = left + side * j + side / 2 + 4
        turned = f'transform="rotate(-90 {x} {top - 5})"'
        parts.append(f'<text class="tick" x="{x}" y="{top - 5}" {turned}>{escape(label)}</text>')
    for index, share in enumerate(shares.tolist()):
        i, j = divmod(index, len(column_names))
        depth = math.sqrt(min(1.0, abs(share) / largest))
        if depth < 0.01:
            continue
        kind = "cell negative" if share < 0 else "cell"
        box = f'x="{left + side * j}" y="{top + side * i}" width="{side - 1}" height="{side - 1}"'
        title = f"<title>{escape(name(index))}: {percent(share)}</title>"
        parts.append(f'<rect class="{kind}" {box} fill-opacity="{depth:.2f}">{title}</rect>')
    frame = f'x="{left - 1}" y="{top - 1}" width="{side * len(column_names) + 1}" height="{side * len(row_names) + 1}"'
    parts.append(f'<rect class="frame" {frame}/></svg>')
    return "".join(parts)


def curves(crowds: Sequence[CrowdErrors]) -> str:
    """Errors and bounds against the number of people, log-log."""
    width, height, left, right, top, bottom = 520, 340, 52, 36, 10, 46
    lines = {
        "paper": [c.l2_bound_paper for c in crowds],
        "bound": [c.l2_bound for c in crowds],
        "raw": [c.l2_raw for c in crowds],
        "projected": [c.l2_projected for c in crowds],
    }
    people = [c.users for c in crowds]
    x_of = _logarithmic(people, left, width - right)
    y_of = _logarithmic([error for line in lines.values() for error in line], height - bottom, top)
    parts = [f'<svg class="curves" viewBox="0 0 {width} {height}" role="img" aria-label="error against people">']
    for n in _decades(people):
        x = x_of(n)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{height - bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 27}" text-anchor="middle">{n:,.0f}</text>')
    for error in _one_two_five([error for line in lines.values() for error in line]):
        y = y_of(error)
        parts.append(f'<line class="grid" x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{left - 7}" y="{y + 4:.1f}" text-anchor="end">{error:g}</text>')
    middle = (left + width - right) / 2
    parts.append(f'<text class="tick" x="{middle}" y="{height - 5}" text-anchor="middle">people</text>')
    for kind, errors in lines.items():
        points = [(x_of(n), y_of(error)) for n, error in zip(people, errors, strict=True)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="curve {kind}" points="{drawn}"/>')
        if kind in ("raw", "projected"):
            parts += [f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>' for x, y in points]
    return "".join([*parts, "</svg>"])


def ages_curve(ages: Ages) -> str:
    """Shares of the people up to every age: the estimate's interval as a band, the estimate, and the truth."""
    width, height, left, right, top, bottom = 520, 300, 52, 16, 10, 46
    last = len(ages.truth) - 1

    def x_of(age: float) -> float:
        return left + (width - right - left) * age / last

    def y_of(share: float) -> float:
        return height - bottom - (height - bottom - top) * min(1.0, max(0.0, share))

    def points(shares: Sequence[float]) -> list[str]:
        return [f"{x_of(age):.1f},{y_of(share):.1f}" for age, share in enumerate(shares)]

    parts = [f'<svg class="curves" viewBox="0 0 {width} {height}" role="img" aria-label="share up to every age">']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = y_of(share)
        parts.append(f'<line class="grid" x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{left - 7}" y="{y + 4:.1f}" text-anchor="end">{percent(share, 0)}</text>')
    for age in range(0, last + 1, 20):
        parts.append(f'<text class="tick" x="{x_of(age):.1f}" y="{height - 27}" text-anchor="middle">{age}</text>')
    middle = (left + width - right) / 2
    parts.append(f'<text class="tick" x="{middle}" y="{height - 5}" text-anchor="middle">years old, at most</text>')
    parts.append(f'<polygon class="band" points="{" ".join([*points(ages.high), *reversed(points(ages.low))])}"/>')
    parts.append(f'<polyline class="curve projected" points="{" ".join(points(ages.values))}"/>')
    parts.append(f'<polyline class="curve true" points="{" ".join(points(ages.truth))}"/>')
    return "".join([*parts, "</svg>"])


def habit_curve(months: Sequence[HabitMonth]) -> str:
    """A share by month: the band, every month's interval and estimate, and the truth."""
    width, height, left, right, top, bottom = 520, 300, 52, 16, 10, 46
    limit = 1.05 * max(max(month.band_high, month.truth) for month in months)
    step = _round_step(limit / 4)

    def x_of(at: float) -> float:
        return left + (width - right - left) * (at + 0.5) / len(months)

    def y_of(share: float) -> float:
        return height - bottom - (height - bottom - top) * max(0.0, share) / limit

    def points(shares: Sequence[float]) -> list[str]:
        return [f"{x_of(at):.1f},{y_of(share):.1f}" for at, share in enumerate(shares)]

    parts = [f'<svg class="curves" viewBox="0 0 {width} {height}" role="img" aria-label="share by month">']
    for tick in range(math.floor(limit / step) + 1):
        y = y_of(tick * step)
        parts.append(f'<line class="grid" x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{left - 7}" y="{y + 4:.1f}" text-anchor="end">{percent(tick * step, 0)}</text>'
        )
    band = [*points([m.band_high for m in months]), *reversed(points([m.band_low for m in months]))]
    parts.append(f'<polygon class="band" points="{" ".join(band)}"/>')
    parts.append(f'<polyline class="curve true" points="{" ".join(points([m.truth for m in months]))}"/>')
    for at, month in enumerate(months):
        x, (low, high, y) = x_of(at), (y_of(share) for share in (month.low, month.high, month.value))
        parts.append(f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
        parts.append(f'<circle class="dot projected" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>')
        name = escape(month.label.split()[0][:3])
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 27}" text-anchor="middle">{name}</text>')
    return "".join([*parts, "</svg>"])


def _round_step(rough: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is no more than `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= rough)


def _logarithmic(numbers: Sequence[float], start: float, stop: float) -> Callable[[float], float]:
    """Positions from `start` to `stop`, with a margin, for numbers on a logarithmic scale."""
    low, high = math.log(min(numbers)), math.log(max(numbers))
    margin = max(0.04 * (high - low), 0.1)
    low, high = low - margin, high + margin
    return lambda number: start + (stop - start) * (math.log(number) - low) / (high - low)


def _decades(numbers: Sequence[float]) -> list[float]:
    first, last = math.ceil(math.log10(min(numbers)) - 1e-9), math.floor(math.log10(max(numbers)) + 1e-9)
    return [10.0**power for power in range(first, last + 1)] or [float(numbers[-1])]


def _one_two_five(numbers: Sequence[float]) -> list[float]:
    low, high = min(numbers), max(numbers)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{factor}e{power}") for power in powers for factor in (1, 2, 5)]
    return [tick for tick in ticks if low <= tick <= high]
