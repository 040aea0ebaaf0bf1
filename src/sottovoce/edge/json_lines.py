"""JSON lines as rows: as they come in, in bounded memory, with no value in what is wrong with a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

import msgspec

from sottovoce.edge.rows import ColumnChoice, InputRow

__all__ = ["LONGEST_LINE", "read_json_lines"]

LONGEST_LINE: Final = 2**20
"""Bytes of the longest line that is read."""

_CHUNK: Final = 2**16

_decode: Final = msgspec.json.Decoder().decode


def read_json_lines(stream: IO[bytes], chosen: ColumnChoice) -> Iterator[list[InputRow]]:
    """Rows of the lines that have arrived, so that nothing waits in a pipe for more; empty lines are passed over.

    Examples
    --------
    >>> import io
    >>> lines = io.BytesIO(b'{"drink": "tea"}\\n\\n{"drink"\\n')
    >>> for row in next(read_json_lines(io.BufferedReader(lines), ColumnChoice(("drink",)))):
    ...     print(row)
    InputRow(number=1, fault='', readable=True)
    InputRow(number=3, fault='the line is not JSON', readable=False)
    """
    number, rest, too_long = 0, b"", False
    read = getattr(stream, "read1", stream.read)
    while True:
        chunk: bytes = read(_CHUNK)
        *lines, rest = (rest + chunk).split(b"\n")
        if not chunk and (rest or too_long):
            lines, rest = [*lines, rest], b""
        rows: list[InputRow] = []
        for line in lines:
            number += 1
            if too_long or len(line) > LONGEST_LINE:
                rows.append(InputRow.unreadable(number, f"the line is longer than {LONGEST_LINE:,} bytes"))
            elif line.strip():
                rows.append(_row(number, line, chosen))
            too_long = False
        if len(rest) > LONGEST_LINE:
            rest, too_long = b"", True
        if rows:
            yield rows
        if not chunk:
            return


def _row(number: int, line: bytes, chosen: ColumnChoice) -> InputRow:
    try:
        found = _decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return InputRow.unreadable(number, "the line is not JSON")
    if not isinstance(found, dict):
        return InputRow.unreadable(number, "the line is no JSON object")
    return chosen.row(number, found)
