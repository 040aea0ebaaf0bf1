"""Limits on expressions, checked before anything is computed, so that a device can refuse a tree safely; and errors.

An error knows its position, and becomes a `QueryError` where the text is known.
"""

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


MAX_NODES: Final = 1024
"""Maximum number of constants, attributes and operations of one expression, not counting members of lists."""

MAX_DEPTH: Final = 32
"""Maximum depth of an expression; a constant or an attribute alone has depth 1."""

MAX_CONSTANTS: Final = 2**16
"""Maximum number of members of an expression's lists, all lists together."""

MAX_TABLES: Final = 2**20
"""Maximum number of entries, of 8 bytes, of all lookup tables together; further lists are searched without a table."""

MAX_LABELS: Final = 2**21
"""Maximum number of integer labels, of 8 bytes, of the attributes in an expression, each attribute counted once."""

MAX_MEMORY: Final = 2**26
"""Memory in bytes to read, check and evaluate an expression for one record, besides the domain itself.

Three quarters are for labels: a third of that is permanent, the rest is temporary while a record is looked up. An
eighth is for tables, and an eighth for lists, parts and JSON. No tree within the limits above takes more.
"""

MAX_TEXT: Final = 4096
"""Maximum number of characters of an expression written as text."""

MAX_QUERY_BYTES: Final = 2**20
"""Maximum number of bytes of an expression's canonical JSON."""

EXACT: Final = 2**53 - 1
"""Largest integer written as a JSON number; larger ones are written ["integer", "..."]."""

SMALLEST: Final = -(2**63)
"""Smallest integer allowed in an expression."""

LARGEST: Final = 2**63 - 1
"""Largest integer allowed in an expression."""
