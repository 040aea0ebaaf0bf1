"""How long a Spark session usually takes to start: as the last one of its kind did on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from sottovoce.core.files import cache_directory, replace_file
from sottovoce.engines.cluster.masters import Kind

__all__ = ["remember", "usually"]

_FILE: Final = "spark_starts.json"
_RANGES: Final[Mapping[Kind, str]] = {
    "local": "5 to 15 seconds",
    "standalone": "5 to 20 seconds",
    "yarn": "20 to 60 seconds, and longer where the queue is full",
    "kubernetes": "20 to 60 seconds, and longer where images must be fetched",
    "connect": "a second or two",
}


def usually(kind: Kind) -> str:
    """Words on how long it takes."""
    seconds = _remembered().get(kind)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e5:
        return f"this usually takes {_RANGES[kind]}"
    return f"this took {max(1, round(seconds))} s last time"


def remember(kind: Kind, seconds: float) -> None:
    """Keep it for the next start; a cache that cannot be written is none."""
    with suppress(OSError):
        place = cache_directory() / _FILE
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, json.dumps({**_remembered(), kind: round(seconds, 1)}).encode())


def _remembered() -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads((cache_directory() / _FILE).read_bytes())
        if isinstance(found, dict):
            return found
    return {}
