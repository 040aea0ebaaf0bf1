"""The body of a request that sends reports of one survey to the collector.

A body is 4 letters, the survey's id, and rows of equal width: 16 bytes of report id, then the report from
`Survey.randomize`. There is nothing else: any other field would also be an output of the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MismatchError, ReportError
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
"""Default limit on the size of a body."""

REPORT_ID_BYTES: Final = 16
"""Drawn once by the device and stored with the report, so that a report sent twice is counted once."""

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
        raise ReportError("the reports of a batch must have the same length: they must be of one survey")
    return _MAGIC + bytes.fromhex(survey_id) + b"".join(rows)


def batch_survey(body: bytes) -> str:
    """The survey id in a body."""
    if len(body) < BATCH_HEADER_BYTES or body[: len(_MAGIC)] != _MAGIC:
        raise ReportError(
            f"the body is not a batch of reports: it must begin with {_MAGIC.decode()} and the survey's id, "
            f"{BATCH_HEADER_BYTES} bytes in all"
        )
    return body[len(_MAGIC) : BATCH_HEADER_BYTES].hex()


def batch_rows(body: bytes, survey_id: str, report_bytes: int) -> NDArray[np.uint8]:
    """The rows of a body for this survey, each with id, tag and `report_bytes` of payload; a view, not a copy."""
    if batch_survey(body) != survey_id:
        raise MismatchError(f"the batch is of another survey than {survey_id[:12]}")
    width = REPORT_ID_BYTES + TAG_BYTES + report_bytes
    length = len(body) - BATCH_HEADER_BYTES
    if length % width:
        raise ReportError(
            f"the batch is truncated or of another survey: after {BATCH_HEADER_BYTES} bytes come rows of {width} "
            f"bytes, and {length} is not a multiple of that"
        )
    return np.frombuffer(body, dtype=np.uint8, offset=BATCH_HEADER_BYTES).reshape(-1, width)
