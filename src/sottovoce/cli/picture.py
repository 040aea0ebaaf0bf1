"""The options of commands that write a picture, checked before the work."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["check_ending", "check_picture"]

_ENDINGS: Final = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    """Refuse a name from which no format follows, and a missing matplotlib."""
    from sottovoce.core.errors import SimulationError
    from sottovoce.figures.style import require_matplotlib

    require_matplotlib()
    if path.suffix not in _ENDINGS:
        raise SimulationError(f"the picture's name must end in {', '.join(_ENDINGS)}; it is {path.name!r}")


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be drawn or written."""
    from sottovoce.core.files import check_file

    if path is not None:
        check_ending(path)
        check_file(path, "picture")
