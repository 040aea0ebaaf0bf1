"""`sottovoce serve` with a clock that the benchmark moves: the file named by SOTTOVOCE_TEST_CLOCK holds its time.

The product has no such setting. The machine's clock is replaced before anything of the service is imported, here and in
each process that it starts, which begin with this module too.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import time
from pathlib import Path

__all__ = ["MovedClock"]

_SECONDS = struct.Struct("<d")


class MovedClock:
    """Seconds since 1970, in a file that several processes look at."""

    def __init__(self, path: Path, seconds: float | None = None) -> None:
        if seconds is not None:
            path.write_bytes(_SECONDS.pack(seconds))
        with path.open("r+b") as file:
            self._content = mmap.mmap(file.fileno(), _SECONDS.size)

    def __call__(self) -> float:
        return float(_SECONDS.unpack(self._content[: _SECONDS.size])[0])

    def set(self, seconds: float) -> None:
        """Move it, for everybody."""
        self._content[: _SECONDS.size] = _SECONDS.pack(seconds)

    def close(self) -> None:
        """Look at it no more."""
        self._content.close()


if "SOTTOVOCE_TEST_CLOCK" in os.environ:
    time.time = MovedClock(Path(os.environ["SOTTOVOCE_TEST_CLOCK"]))
    # Time since the machine's start moves with it: a clock that only was set would be in doubt.
    time.clock_gettime = lambda _: time.time()

if __name__ == "__main__":
    from sottovoce.cli import main

    sys.exit(main(["serve", *sys.argv[1:]]))
