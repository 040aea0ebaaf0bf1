"""The order in which a batch leaves: uniformly random, and the same again after a crash.

Each message has a pseudorandom rank, keyed by a seed from the operating system that is drawn for the batch and erased
with it. So nothing but the seed must be written down to fix the order of a million messages, and whatever was sent
without an acknowledgement is sent again unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from hashlib import blake2b
from typing import final

__all__ = ["Parts"]


@final
class Parts:
    """What is left of a batch, in parts of one size each.

    The first message in the order decides the size of a part; the next ones of that size go with it. Taking a part away
    leaves all the others as they were.

    Parameters
    ----------
    seed
        Of the batch.
    left
        Number and size of each message.

    Examples
    --------
    >>> parts = Parts(bytes(32), [(number, 512) for number in range(5)])
    >>> first = parts.next(3, 2**20)
    >>> len(first), first == parts.next(3, 2**20)
    (3, True)
    >>> parts.remove(first)
    >>> len(parts.next(3, 2**20)), len(parts)
    (2, 2)
    """

    def __init__(self, seed: bytes, left: Iterable[tuple[int, int]]) -> None:
        self._by_size: dict[int, deque[tuple[bytes, int]]] = {}
        ranked = sorted((_rank(seed, number), number, size) for number, size in left)
        for rank, number, size in ranked:
            self._by_size.setdefault(size, deque()).append((rank, number))

    def __len__(self) -> int:
        """How many messages are left."""
        return sum(len(queue) for queue in self._by_size.values())

    def next(self, most: int, most_bytes: int) -> list[int]:
        """Numbers of the messages of the next part: at most so many, and so many bytes; none when nothing is left."""
        heads = [(queue[0], size) for size, queue in self._by_size.items() if queue]
        if not heads:
            return []
        _, size = min(heads)
        queue = self._by_size[size]
        n = min(len(queue), most, max(most_bytes // size, 1))
        return [queue[place][1] for place in range(n)]

    def remove(self, part: list[int]) -> None:
        """Take away the next part."""
        queue = next(one for one in self._by_size.values() if one and one[0][1] == part[0])
        for _ in part:
            queue.popleft()


def _rank(seed: bytes, number: int) -> bytes:
    return blake2b(number.to_bytes(8), key=seed, digest_size=16).digest()
