"""A certified lower bound on epsilon from reports alone: bytes in, no formula trusted.

Reports of two values are drawn from the real device path. On one half of them an event is
chosen that tells the values apart best; on the other half its probability under each value is
bounded by Clopper and Pearson (1934). The log of the ratio of those bounds is a lower bound on
epsilon that holds with the stated confidence, whatever the mechanism is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.tails import clopper_pearson

__all__ = ["Certificate", "affordable", "certify"]

_LEAST_SAMPLES: Final = 100
_TIMED: Final = 10
_SECONDS: Final = 30.0

Payloads = NDArray[np.uint8]
Scores = NDArray[np.float64]
Score = Callable[[Payloads], Scores]
"""A number for every report, larger where the first value is likelier. Events are its upper sets."""


@dataclass(frozen=True)
class Certificate:
    """epsilon is at least `lower_bound`, unless an event of probability `alpha` happened."""

    lower_bound: float
    alpha: float
    pair: tuple[int, int]
    event: str
    samples: int
    names: tuple[str, str] | None = None
    """The two values in words, where they have no numbers."""

    @property
    def words(self) -> str:
        """The pair of values that the reports distinguish best, and the event."""
        first, second = self.names or (f"values {self.pair[0]}", str(self.pair[1]))
        return f"{first} and {second}, event on {self.event}"

    def excess(self, epsilon: float) -> str:
        """What the reports prove against a stated epsilon, in words; empty if nothing."""
        return f"{self.words}: epsilon is above {self.lower_bound:.4g}" if self.lower_bound > epsilon else ""


def affordable(sample: Callable[[int], object], most: int, values: int, seconds: float) -> int:
    """The number of samples per value that takes so long, or half a minute: at least 100, at most `most`."""
    began = time.process_time()
    for _ in range(_TIMED):
        sample(0)
    each = max(1e-6, (time.process_time() - began) / _TIMED)
    return max(_LEAST_SAMPLES, min(most, int(min(seconds, _SECONDS) / (values * each))))


def certify(
    device: Callable[[int], bytes],
    pairs: Sequence[tuple[int, int]],
    *,
    samples: int,
    delta: float = 0.0,
    alpha: float = 1e-9,
    stated: Callable[[bytes, int], float] | None = None,
) -> Certificate:
    """The best certified lower bound over pairs of values.

    Parameters
    ----------
    device
        Called with a value, returns one fresh report's bytes; all reports must have one length.
    pairs
        Values to tell apart; both directions of each are tried.
    samples
        Reports drawn for each value of each pair, half to choose the event and half to certify it.
    delta
        Probability mass the guarantee may leave out.
    alpha
        Chance that the bound is wrong, over all pairs together.
    stated
        Optionally log P(report | value) as the mechanism states it: one more candidate for the event.
    """
    if not pairs:
        raise ValueError("certify needs at least one pair of values")
    if samples < 4:
        raise ValueError("certify needs at least four samples")
    certificates = []
    share = alpha / (2 * len(pairs))
    for a, b in pairs:
        drawn = {value: _draw(device, value, samples) for value in (a, b)}
        for first, second in ((a, b), (b, a)):
            certificates.append(_certify_pair(drawn[first], drawn[second], delta, share, stated, (first, second)))
    best = max(certificates, key=lambda certificate: certificate.lower_bound)
    return Certificate(best.lower_bound, alpha, best.pair, best.event, samples)


def _draw(device: Callable[[int], bytes], value: int, samples: int) -> Payloads:
    rows = [device(value) for _ in range(samples)]
    if len({len(row) for row in rows}) != 1:
        # Lengths that vary are themselves an output: pad, and let the length be the first bytes.
        longest = max(len(row) for row in rows)
        rows = [len(row).to_bytes(4, "little") + row.ljust(longest, b"\0") for row in rows]
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(samples, -1)


def _certify_pair(
    first: Payloads,
    second: Payloads,
    delta: float,
    alpha: float,
    stated: Callable[[bytes, int], float] | None,
    pair: tuple[int, int],
) -> Certificate:
    if first.shape[1] != second.shape[1]:
        # Every report of one value is longer than any of the other: an event of ratio infinity.
        width = max(first.shape[1], second.shape[1])
        first, second = (
            np.pad(x, ((0, 0), (0, width - x.shape[1])), constant_values=x.shape[1]) for x in (first, second)
        )
    # The first quarter teaches the scores, the second picks score and cut, the second half certifies:
    # an event judged on the reports that suggested it would look better than it is.
    quarter, half = len(first) // 4, len(first) // 2
    chosen: list[tuple[float, str, Score, float]] = []
    for name, score in _scores(first[:quarter], second[:quarter], stated, pair):
        on_first, on_second = score(first[quarter:half]), score(second[quarter:half])
        for cut in np.unique(np.quantile(on_first, np.linspace(0, 1, 41), method="higher")):
            hits = int((on_first >= cut).sum()), int((on_second >= cut).sum())
            value = _bound(*hits, half - quarter, half - quarter, delta, alpha)
            chosen.append((value, name, score, float(cut)))
    _, name, score, cut = max(chosen, key=lambda pair: pair[0])
    hits = int((score(first[half:]) >= cut).sum()), int((score(second[half:]) >= cut).sum())
    value = _bound(*hits, len(first) - half, len(second) - half, delta, alpha)
    return Certificate(max(0.0, value), alpha, pair, name, len(first))


def _bound(hits_first: int, hits_second: int, n_first: int, n_second: int, delta: float, alpha: float) -> float:
    """log((p_low - delta)/p_high): an event p_low likely or more under one value, at most p_high under the other."""
    low = float(clopper_pearson(np.array([hits_first]), n_first, alpha / 2)[0][0])
    high = float(clopper_pearson(np.array([hits_second]), n_second, alpha / 2)[1][0])
    return math.log((low - delta) / high) if low > delta else -math.inf


def _scores(
    first: Payloads,
    second: Payloads,
    stated: Callable[[bytes, int], float] | None,
    pair: tuple[int, int],
) -> list[tuple[str, Score]]:
    scores = [
        ("the whole report, by its frequency", _whole_report(first, second)),
        ("independent bits of the report", _independent_bits(first, second)),
    ]
    if stated is not None:
        scores.append(("the stated likelihood ratio", _stated_ratio(stated, pair)))
    return scores


def _whole_report(first: Payloads, second: Payloads) -> Score:
    """Smoothed log ratio of how often exactly this report was seen."""

    def keys(rows: Payloads) -> NDArray[np.void]:
        return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).reshape(-1)

    seen = np.unique(np.concatenate([keys(first), keys(second)]))
    tallies = [np.bincount(np.searchsorted(seen, keys(rows)), minlength=len(seen)) for rows in (first, second)]
    ratio = np.log(tallies[0] + 0.5) - np.log(tallies[1] + 0.5)

    def score(rows: Payloads) -> Scores:
        wanted = keys(rows)
        at = np.searchsorted(seen, wanted).clip(max=len(seen) - 1)
        return np.where(seen[at] == wanted, ratio[at], 0.0)

    return score


def _independent_bits(first: Payloads, second: Payloads) -> Score:
    """Sum over bits of the smoothed log ratio of each bit's frequency: a naive Bayes rule."""

    def bits(rows: Payloads) -> NDArray[np.float64]:
        return np.unpackbits(rows, axis=1).astype(np.float64)

    ones = [(bits(rows).sum(axis=0) + 0.5) / (len(rows) + 1) for rows in (first, second)]
    if_set, if_clear = np.log(ones[0] / ones[1]), np.log((1 - ones[0]) / (1 - ones[1]))
    return lambda rows: bits(rows) @ (if_set - if_clear) + if_clear.sum()


def _stated_ratio(stated: Callable[[bytes, int], float], pair: tuple[int, int]) -> Score:
    known: dict[bytes, float] = {}

    def ratio(report: bytes) -> float:
        if report not in known:
            known[report] = stated(report, pair[0]) - stated(report, pair[1])
        return known[report]

    return lambda rows: np.array([ratio(row.tobytes()) for row in rows])
