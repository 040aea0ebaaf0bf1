"""Which segments are put together at the edges: one alone in its epoch, and many that would make one too large."""

from __future__ import annotations

from sottovoce.collector.counting.compaction import due, leftover
from sottovoce.collector.store.records import SegmentInfo


def infos(*sizes: int, epoch: int = 0, first: int = 0) -> list[SegmentInfo]:
    return [SegmentInfo(first + place, epoch, n, False) for place, n in enumerate(sizes)]


def test_what_is_alone_in_its_epoch_stays_as_it_is() -> None:
    """There is nobody to hide among; another epoch's segments would tell a time."""
    assert leftover(infos(3), None, crowd=8) == []
    assert leftover(infos(3) + infos(2, epoch=1, first=1), None, crowd=8) == []


def test_a_later_epoch_is_tidied_where_an_earlier_one_has_nothing_to_join() -> None:
    lone, later = infos(3), infos(20, 2, 30, epoch=1, first=1)
    assert [info.n for info in leftover(lone + later, None, crowd=8)] == [2, 20]
    assert leftover(lone + later, 1, crowd=8) == []  # only epoch 0 is over


def test_no_segment_grows_above_the_largest() -> None:
    """The first that fit are taken, whether they are below a crowd or fill a tier."""
    assert [info.n for info in due(infos(4, 4, 4), largest=9, fan_in=8, crowd=8)] == [4, 4]
    assert [info.n for info in due(infos(4, 4, 4), largest=9, fan_in=3, crowd=1)] == [4, 4]
    assert [info.n for info in due(infos(4, 4, 4), largest=12, fan_in=3, crowd=1)] == [4, 4, 4]
