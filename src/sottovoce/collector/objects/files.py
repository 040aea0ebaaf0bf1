"""Segments as the content of objects, and back: Parquet files of reports, as exports have them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.store.records import NewSegment
from sottovoce.formats.report_files import REPORT, REPORT_ID, pyarrow, write_reports
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["object_bytes", "reports_in"]


def object_bytes(survey: Survey, segment: NewSegment) -> bytes:
    """A file of the segment's reports, which engines read; it tells no time but the segment's epoch.

    Examples
    --------
    >>> survey = Survey.distribution(["yes", "no"], epsilon=1.0)
    >>> content = object_bytes(survey, NewSegment(7, 1, bytes(16), survey.mechanism.encode(1)))
    >>> reports_in(content) == (bytes(16), survey.mechanism.encode(1))
    True
    """
    payloads = np.frombuffer(segment.payloads, dtype=np.uint8).reshape(segment.n, survey.mechanism.report_bytes)
    ids = np.frombuffer(segment.ids, dtype=np.uint8).reshape(segment.n, REPORT_ID_BYTES)
    file = io.BytesIO()
    write_reports(file, survey, ids, payloads, epoch=segment.epoch)
    return file.getvalue()


def reports_in(content: bytes) -> tuple[bytes, bytes]:
    """The ids and payloads in such a file, each one after the other."""
    pa, pq = pyarrow()
    ids, payloads = [], []
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        # Not read_table, which would import pandas where it is installed.
        for batch in file.iter_batches(columns=[REPORT_ID, REPORT], use_threads=False):
            ids.append(_rows(batch.column(REPORT_ID)).tobytes())
            payloads.append(_rows(batch.column(REPORT))[:, TAG_BYTES:].tobytes())
    return b"".join(ids), b"".join(payloads)


def _rows(array: Any) -> NDArray[np.uint8]:
    """Values of one width as rows of bytes."""
    width = array.type.byte_width
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return data[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)
