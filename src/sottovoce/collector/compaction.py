"""Which segments to put together, so that a survey has few of them and no report is rewritten often.

Size-tiered: f segments of about one size become one of the next. With a largest size S, a report is rewritten at most
1 + log_f(S) times, and a survey of n reports in E epochs has at most 2n/S + 2 f E log_f(S) segments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from sottovoce.collector.seen import id_order, id_rows
from sottovoce.collector.store.base import NewSegment, Segment, SegmentInfo
from sottovoce.errors import StoreError

__all__ = ["due", "merged"]


def due(segments: Iterable[SegmentInfo], largest: int, fan_in: int) -> list[SegmentInfo]:
    """Segments to put together now, of one epoch and one side of the checkpoint; empty when all is well.

    Those above half of `largest` are left as they are. So the segments found either make one of a higher tier, or, if
    they do not all fit, one above half of `largest`: both can happen to a report only so often.

    Examples
    --------
    >>> [info.number for info in due([SegmentInfo(i, 7, 1, False) for i in range(9)], 1000, 8)]
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    tiers: dict[tuple[int, bool, int], list[SegmentInfo]] = defaultdict(list)
    for info in segments:
        if 2 * info.n <= largest:
            tiers[info.epoch, info.checkpointed, _tier(info.n, fan_in)].append(info)
    full = [key for key, members in tiers.items() if len(members) >= fan_in]
    if not full:
        return []
    chosen: list[SegmentInfo] = []
    for info in tiers[min(full, key=lambda key: key[2])][:fan_in]:
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
