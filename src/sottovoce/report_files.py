"""Reports at rest: which columns and metadata a Parquet file of reports has. Exports write it, engines read it.

Columns: ``report_id`` (16 bytes), ``report`` (the bytes a device sent, tag and all), and, in exports, ``epoch`` (coarse
time). The metadata of an export names the format, the survey and its statement; a file that any other pipeline wrote
needs the first two columns only, for every report begins with the tag of its survey.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MissingExtraError
from sottovoce.surveys.survey import Survey

__all__ = ["EXPORT_FORMAT", "LAYOUT", "PREFIX", "REPORT", "REPORT_ID", "pyarrow", "write_reports"]

EXPORT_FORMAT: Final = 1
"""Version of the files' columns and metadata."""

PREFIX: Final = "sottovoce."
"""Before every name in a file's metadata."""

LAYOUT: Final = {"compression": "zstd", "use_dictionary": False, "write_page_checksum": True}
"""How Parquet files are written: without a dictionary, for ids repeat nowhere and reports are read without a copy."""

REPORT_ID: Final = "report_id"
REPORT: Final = "report"


def pyarrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet module, loaded when they are needed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        pass
    raise MissingExtraError("Parquet files need pyarrow: pip install 'sottovoce[collector]'")


def write_reports(path: Path, survey: Survey, ids: NDArray[np.uint8], payloads: NDArray[np.uint8]) -> None:
    """Write a file that engines read: rows of 16 bytes of id, and of payload, without the tag.

    Examples
    --------
    >>> import tempfile
    >>> import sottovoce as sv
    >>> survey = sv.Survey.distribution(["yes", "no"], epsilon=1.0)
    >>> reports = np.frombuffer(survey.randomize("yes"), dtype=np.uint8)[None, :]
    >>> place = Path(tempfile.mkdtemp()) / "reports.parquet"
    >>> write_reports(place, survey, np.zeros((1, 16), dtype=np.uint8), reports[:, 4:])
    >>> sv.engines.local().aggregate(survey, place).n_reports
    1
    """
    pa, pq = pyarrow()
    tags = np.broadcast_to(np.frombuffer(survey.tag, dtype=np.uint8), (len(payloads), len(survey.tag)))
    columns = {REPORT_ID: ids, REPORT: np.concatenate([tags, payloads], axis=1)}
    arrays = [
        pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))]
        )
        for rows in columns.values()
    ]
    metadata = {
        PREFIX + "format": str(EXPORT_FORMAT),
        PREFIX + "survey": survey.id,
        PREFIX + "statement": survey.to_json(),
    }
    fields = [pa.field(name, array.type, nullable=False) for name, array in zip(columns, arrays, strict=True)]
    pq.write_table(pa.table(arrays, schema=pa.schema(fields, metadata=metadata)), path, **LAYOUT)
