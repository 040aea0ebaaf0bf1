"""An error in an expression and its position; turned into a `QueryError` where the text is known."""

from __future__ import annotations

from typing import Final, TypeAlias

__all__ = ["Path", "PlacedError", "shown"]

Path: TypeAlias = tuple[int, ...]
"""The position of a part in its tree: the indices that lead to it from the root."""

_LONGEST: Final = 40


class PlacedError(Exception):
    """A message, and the position in the tree or the column in the text."""

    def __init__(self, message: str, path: Path = (), column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.column = column

    def located(self, columns: dict[Path, int] | None) -> str:
        """The message with its position: a column if the expression was text, else indices into the tree."""
        if self.column is not None:
            return f"column {self.column}: {self.message}"
        if columns is not None:
            path = self.path
            while path and path not in columns:
                path = path[:-1]
            return f"column {columns.get(path, 1)}: {self.message}"
        return self.message + (f" (at tree{''.join(f'[{i}]' for i in self.path)})" if self.path else "")


def shown(thing: str | int) -> str:
    """A name, a text or a number for a message: shortened, and in ASCII so that lookalikes are visible."""
    if isinstance(thing, str):
        quoted = ascii(thing[:_LONGEST])
        return (
            quoted if len(thing) == len(thing[:_LONGEST]) and len(quoted) <= 2 * _LONGEST else f"{quoted[:_LONGEST]}..."
        )
    return str(thing) if abs(thing) < 10**_LONGEST else f"a number of more than {_LONGEST} digits"
