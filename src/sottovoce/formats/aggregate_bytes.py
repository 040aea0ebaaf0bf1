"""An aggregate as bytes, as the collector sends it to an analyst. Fixed layout, with a digest.

4 letters and a version, the survey's id, the number of reports, the number of cells, the counts as little-endian
64-bit integers, and the SHA-256 of everything before it.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Final

import numpy as np

from sottovoce.core.errors import MismatchError, ReportError
from sottovoce.formats.wire import SURVEY_ID_BYTES
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

__all__ = ["MEDIA_TYPE", "encoded_bytes", "from_bytes", "to_bytes"]

MEDIA_TYPE: Final = "application/vnd.sottovoce.aggregate"

_MAGIC: Final = b"SVA"
_FORMAT: Final = 1
_HEADER: Final = struct.Struct(f"<3sB{SURVEY_ID_BYTES}sQQ")
_DIGEST_BYTES: Final = 32


def encoded_bytes(survey: Survey) -> int:
    """Length of an encoded aggregate of this survey."""
    return _HEADER.size + 8 * survey.mechanism.cells + _DIGEST_BYTES


def to_bytes(aggregate: Aggregate) -> bytes:
    """Encode an aggregate.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    >>> aggregate = survey.aggregate().add([survey.randomize("yes") for _ in range(10)])
    >>> from_bytes(survey, to_bytes(aggregate)) == aggregate
    True
    """
    survey, counts = aggregate.survey, aggregate.counts
    header = _HEADER.pack(_MAGIC, _FORMAT, bytes.fromhex(survey.id), aggregate.n_reports, len(counts))
    body = header + counts.astype("<i8").tobytes()
    return body + hashlib.sha256(body).digest()


def from_bytes(survey: Survey, data: bytes) -> Aggregate:
    """Decode an aggregate of this survey.

    Raises
    ------
    ReportError
        If they are not an aggregate, of another version, truncated, too long, or damaged.
    MismatchError
        If they are another survey's aggregate.
    """
    cells = survey.mechanism.cells
    if len(data) < _HEADER.size:
        raise ReportError(
            f"the aggregate is truncated: it has {len(data)} bytes, and its header alone has {_HEADER.size}"
        )
    magic, version, survey_id, n, stated = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise ReportError(f"these bytes are not an aggregate: they must begin with {_MAGIC.decode()}")
    if version != _FORMAT:
        raise ReportError(f"the aggregate has format {version}; this version reads format {_FORMAT}: update sottovoce")
    if survey_id.hex() != survey.id:
        raise MismatchError(f"the aggregate is of survey {survey_id.hex()[:12]}, not of {survey.id[:12]}")
    if stated != cells:
        raise ReportError(f"the aggregate is damaged: it states {stated:,} cells, the survey has {cells:,}")
    length = encoded_bytes(survey)
    if len(data) != length:
        kind = "truncated" if len(data) < length else "too long"
        raise ReportError(f"the aggregate is {kind}: it has {len(data):,} bytes instead of {length:,}; fetch it again")
    body = memoryview(data)[:-_DIGEST_BYTES]
    if hashlib.sha256(body).digest() != data[-_DIGEST_BYTES:]:
        raise ReportError("the aggregate is damaged: its digest does not match; fetch it again")
    if n > survey.mechanism.max_reports:
        raise ReportError(f"the aggregate states {n:,} reports, more than its counters can hold")
    counts = np.frombuffer(body, dtype="<i8", offset=_HEADER.size).astype(np.int64)
    return Aggregate.owning(survey, n, counts)
