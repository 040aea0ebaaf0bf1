"""Looking a value up by the same work for every value, whatever labels a survey lists.

In a hash table some values take more probes than others, and the author of the survey chooses which: integers that
collide are easy to find. The time of a lookup would then reveal the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final, final

__all__ = ["Lookup", "TextLookup"]

_BLOCK: Final = blake2b().block_size
_DIGEST_BYTES: Final = 32


@final
class Lookup:
    """The positions of distinct keys, found by as many comparisons for every key, listed or not.

    Examples
    --------
    >>> Lookup([30, 10, 20]).find(10), Lookup([30, 10, 20]).find(11)
    (1, -1)
    """

    def __init__(self, keys: Sequence[Any]) -> None:
        self._positions = sorted(range(len(keys)), key=keys.__getitem__)
        self._keys: Sequence[Any] = [keys[position] for position in self._positions]

    def find(self, key: Any) -> int:
        """The position of a key, -1 if it is not listed."""
        first, rest = 0, len(self._positions)
        while rest > 1:
            half = rest // 2
            first += half * (self._keys[first + half] <= key)
            rest -= half
        return (-1, self._positions[first])[self._keys[first] == key]


@final
class TextLookup:
    """`Lookup` for texts: by their digests, with as many blocks hashed for a short text as for the longest.

    Comparing the texts themselves would take longer for those that have a long prefix in common.

    Examples
    --------
    >>> TextLookup(["tea", "coffee"]).find("coffee"), TextLookup(["tea", "coffee"]).find("water")
    (1, -1)
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._longest = max(map(len, texts))
        # One character more than the longest: longer texts are cut there, and are not listed.
        self._padding = bytes(_BLOCK * (1 + _blocks(4 * (self._longest + 1))))
        self._lookup = Lookup([_digest(_content(text)) for text in texts])

    def find(self, text: str) -> int:
        """The position of a text, -1 if it is not listed."""
        content = _content(text[: self._longest + 1])
        _digest(self._padding[_BLOCK * _blocks(len(content)) :])
        return self._lookup.find(_digest(content))


def _content(text: str) -> bytes:
    """The text in a fixed number of bytes per character."""
    return text.encode("utf-32-le", "surrogatepass")


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _blocks(size: int) -> int:
    """How many blocks are hashed for `size` bytes."""
    return max(1, -(-size // _BLOCK))
