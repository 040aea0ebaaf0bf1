"""Where a picture goes, and how a picture that cannot be written is told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sottovoce.cli.arguments import check_place

__all__ = ["PICTURE_ENDINGS", "check_ending", "check_picture", "writing"]

PICTURE_ENDINGS: Final = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    """Refuse a name from which no format follows."""
    from sottovoce.errors import SimulationError

    if path.suffix not in PICTURE_ENDINGS:
        raise SimulationError(f"the picture's name must end in {', '.join(PICTURE_ENDINGS)}; it is {path.name!r}")


def check_picture(path: Path | None) -> None:
    """Refuse a picture that cannot be drawn or has no place: found out before the work and not after it."""
    if path is None:
        return
    from sottovoce.figures.style import require_matplotlib

    require_matplotlib()
    check_ending(path)
    check_place(path, "picture")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """A file that cannot be written after all is a mistake like any other."""
    from sottovoce.errors import SimulationError

    problem = ""
    try:
        yield
    except OSError as error:
        problem = error.strerror or "it cannot be opened"
    if problem:
        raise SimulationError(f"{str(path)!r} cannot be written: {problem}; name another")
