"""The choice of segments to merge, so that a survey has few of them and none reveals when few people answered.

Size-tiered: f segments of about one size become one of the next. With a largest size S, a report is rewritten at most
1 + log_f(S) times, and a survey of n reports in E epochs has at most 2n/S + 2 f E log_f(S) segments.

Segments are numbered as they are made, so small ones would reveal who answered soon after whom. Those below a crowd
are put together at once: this rewrites less than a crowd of reports a step. What is left of an epoch that is over joins
a larger one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from sottovoce.collector.store.records import NewSegment, Segment, SegmentInfo
from sottovoce.core.errors import StoreError
from sottovoce.formats.report_ids import id_order, id_rows

__all__ = ["CROWD", "due", "leftover", "merged"]

CROWD: Final = 4096
"""Reports in a segment among which nobody stands out."""


def due(segments: Sequence[SegmentInfo], largest: int, fan_in: int, crowd: int = CROWD) -> list[SegmentInfo]:
    """Segments to put together now, of one epoch and one side of the checkpoint; empty when all is well.

    Those above half of `largest`, and those in object storage, are left as they are. So the segments found either make
    one of a higher tier, or, if they do not all fit, one above half of `largest`: both can happen to a report only so
    often.

    Examples
    --------
    >>> [info.number for info in due([SegmentInfo(i, 7, 5000, False) for i in range(9)], 100_000, 8)]
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> [info.number for info in due([SegmentInfo(i, 7, 1, False) for i in range(3)], 100_000, 8)]
    [0, 1, 2]
    """
    few: dict[tuple[int, bool], list[SegmentInfo]] = defaultdict(list)
    segments = [info for info in segments if info.object is None]
    for info in segments:
        if info.n < crowd and 2 * info.n <= largest:
            few[info.epoch, info.checkpointed].append(info)
    for members in few.values():
        if len(members) > 1:
            return _that_fit(members, largest)
    tiers: dict[tuple[int, bool, int], list[SegmentInfo]] = defaultdict(list)
    for info in segments:
        if 2 * info.n <= largest:
            tiers[info.epoch, info.checkpointed, _tier(info.n, fan_in)].append(info)
    full = [key for key, members in tiers.items() if len(members) >= fan_in]
    if not full:
        return []
    return _that_fit(tiers[min(full, key=lambda key: key[2])][:fan_in], largest)


def leftover(segments: Sequence[SegmentInfo], ended: int | None, crowd: int = CROWD) -> list[SegmentInfo]:
    """A segment below a crowd that nothing will come to any more, and the smallest other one of its epoch.

    Epochs before `ended` are over; all are when it is None. The two may stand on two sides of the checkpoint. One in
    object storage is taken only if it is the only one: both then are in the database, until they move together.
    """
    for info in segments:
        if info.n < crowd and (ended is None or info.epoch < ended):
            others = [other for other in segments if other.epoch == info.epoch and other.number != info.number]
            if others:
                return [info, min(others, key=lambda other: (other.object is not None, other.n))]
    return []


def _that_fit(segments: Iterable[SegmentInfo], largest: int) -> list[SegmentInfo]:
    """The first of them that make no segment above `largest`; any two do not, who are at most half of it."""
    chosen: list[SegmentInfo] = []
    for info in segments:
        if sum(other.n for other in chosen) + info.n > largest:
            break
        chosen.append(info)
    return chosen


def _tier(n: int, fan_in: int) -> int:
    """The logarithm of n, rounded down; exact."""
    tier = 0
    while n >= fan_in:
        n //= fan_in
        tier += 1
    return tier


def merged(segments: Sequence[Segment]) -> NewSegment:
    """One segment with the reports of all, in the order of their ids."""
    n = sum(segment.info.n for segment in segments)
    ids = id_rows(b"".join(segment.ids for segment in segments))
    payloads = np.frombuffer(b"".join(segment.payloads for segment in segments), dtype=np.uint8)
    if len(ids) != n or len(payloads) % max(n, 1):
        names = ", ".join(str(segment.info.number) for segment in segments)
        raise StoreError(f"segments {names} do not hold as many reports as they say; restore a backup")
    order = id_order(ids)
    return NewSegment(
        segments[0].info.epoch, n, ids[order].tobytes(), payloads.reshape(n, -1)[order].tobytes() if n else b""
    )
