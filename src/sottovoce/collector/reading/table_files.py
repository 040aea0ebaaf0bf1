"""The table of an estimate for a response: of a round's choices by their names, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.table_files import CheckStop, EstimateTable, never_stop
from sottovoce.protocol.estimates import AnswerRow

__all__ = ["table_of", "to_json"]


def table_of(estimate: Estimate, level: float, names: Sequence[str] = ()) -> EstimateTable:
    """The table of an estimate; `names` are those of a round's choices."""
    table = estimate.as_table(level)
    return replace(table, label=names.__getitem__) if names else table


def to_json(table: EstimateTable, check_stop: CheckStop = never_stop, **more: Any) -> list[bytes]:
    """What the table is about, and `more` of it, then the answers; the object's last brace is left to the caller."""
    parts = [msgspec.json.encode(table.about | more)[:-1], b',"answers":[']
    for block in table.blocks(check_stop):
        parts += msgspec.json.encode([AnswerRow(*row) for row in zip(*block.values(), strict=True)])[1:-1], b","
    parts[-1] = b"]" if len(parts) > 2 else b',"answers":[]'
    return parts
