"""Answers that are the same for everybody, kept for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar, final

__all__ = ["Recent"]

P = TypeVar("P")

_SECONDS: Final = 1.0
_MOST: Final = 64


@final
class Recent(Generic[P]):
    """What was fetched within the last second; whoever asks while it is being fetched waits for the same."""

    def __init__(self, seconds: float = _SECONDS, most: int = _MOST):
        self._seconds = seconds
        self._most = most
        self._found: dict[Hashable, tuple[float, asyncio.Future[P]]] = {}

    async def get(self, name: Hashable, fetch: Callable[[], Awaitable[P]]) -> P:
        """The answer of that name; errors are everybody's who waits for it, and not kept."""
        now = asyncio.get_running_loop().time()
        began, found = self._found.get(name, (float("-inf"), None))
        if found is None or (found.done() and (now - began > self._seconds or found.exception() is not None)):
            if len(self._found) >= self._most:
                self.clear()
            found = asyncio.ensure_future(fetch())
            self._found[name] = now, found
        return await asyncio.shield(found)

    def clear(self) -> None:
        """Fetch everything anew: something was changed from here. What is being fetched now is not kept."""
        self._found.clear()

    def __len__(self) -> int:
        return len(self._found)
