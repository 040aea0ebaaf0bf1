"""What travels between devices, relays and the collector: report ids, and many reports of one survey in one body.

A body is 4 letters, the survey's id, and rows of equal width: 16 bytes of report id, then the report as
`Survey.randomize` made it. Nothing else: a length, an order or an optional field would be an output too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MismatchError, ReportError
from sottovoce.surveys.statement import TAG_BYTES

__all__ = [
    "BATCH_HEADER_BYTES",
    "BATCH_MEDIA_TYPE",
    "DEFAULT_BODY_BYTES",
    "REPORT_ID_BYTES",
    "SURVEY_ID_BYTES",
    "batch_rows",
    "batch_survey",
    "encode_batch",
]

BATCH_MEDIA_TYPE: Final = "application/vnd.sottovoce.reports"

DEFAULT_BODY_BYTES: Final = 2**20
"""Longest body that a collector takes unless its operator says otherwise."""

REPORT_ID_BYTES: Final = 16
"""Drawn once by the device and kept with the report: the same report sent twice is counted once."""

SURVEY_ID_BYTES: Final = 32

_MAGIC: Final = b"SVR1"

BATCH_HEADER_BYTES: Final = len(_MAGIC) + SURVEY_ID_BYTES


def encode_batch(survey_id: str, reports: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A body of (report id, report) pairs, all of this survey.

    Examples
    --------
    >>> body = encode_batch("ab" * 32, [(bytes(16), bytes.fromhex("abababab07"))])
    >>> len(body) - BATCH_HEADER_BYTES, batch_survey(body) == "ab" * 32
    (21, True)
    """
    rows: Sequence[bytes] = [report_id + report for report_id, report in reports]
    if any(len(row) != len(rows[0]) for row in rows):
        raise ReportError("the reports of a batch must be of one survey, and so of one width")
    return _MAGIC + bytes.fromhex(survey_id) + b"".join(rows)


def batch_survey(body: bytes) -> str:
    """The id of the survey a body says it is for."""
    if len(body) < BATCH_HEADER_BYTES or body[: len(_MAGIC)] != _MAGIC:
        raise ReportError(
            f"the body is no batch of reports: one begins with {_MAGIC.decode()} and the survey's id, "
            f"{BATCH_HEADER_BYTES} bytes together"
        )
    return body[len(_MAGIC) : BATCH_HEADER_BYTES].hex()


def batch_rows(body: bytes, survey_id: str, report_bytes: int) -> NDArray[np.uint8]:
    """The rows of a body for this survey, each of id, tag and `report_bytes` of payload; a view, no copy."""
    if batch_survey(body) != survey_id:
        raise MismatchError(f"the batch is of another survey than {survey_id[:12]}; send it there")
    width = REPORT_ID_BYTES + TAG_BYTES + report_bytes
    length = len(body) - BATCH_HEADER_BYTES
    if length % width:
        raise ReportError(
            f"the batch is truncated or of another survey: after {BATCH_HEADER_BYTES} bytes come rows of {width}, "
            f"and {length} bytes are no whole number of them"
        )
    return np.frombuffer(body, dtype=np.uint8, offset=BATCH_HEADER_BYTES).reshape(-1, width)
