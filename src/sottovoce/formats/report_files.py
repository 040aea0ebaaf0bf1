"""Columns and metadata of Parquet files of reports. Exports write them, engines read them.

Columns: ``report_id`` (16 bytes), ``report`` (the bytes a device sent, with the tag), and, in exports, ``epoch``
(coarse time). The metadata of an export has the format, the survey's id and its statement; a file from another
pipeline needs the first two columns only, since every report begins with the tag of its survey.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtraError
from sottovoce.surveys.survey import Survey

__all__ = [
    "EPOCH",
    "EXPORT_FORMAT",
    "GROUP_ROWS",
    "LAYOUT",
    "PREFIX",
    "REPORT",
    "REPORT_ID",
    "pyarrow",
    "report_table",
    "write_reports",
]

EXPORT_FORMAT: Final = 1
"""Version of the files' columns and metadata."""

PREFIX: Final = "sottovoce."
"""Before every name in a file's metadata."""

LAYOUT: Final = {"compression": "zstd", "use_dictionary": False, "write_page_checksum": True}
"""Settings of Parquet files: no dictionary, since ids do not repeat and reports are read without a copy."""

REPORT_ID: Final = "report_id"
REPORT: Final = "report"
EPOCH: Final = "epoch"

GROUP_ROWS: Final = 1 << 17
"""Rows of a row group: engines hand each to a thread, and cut none."""


def pyarrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet module, imported on first use."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        pass
    raise MissingExtraError("Parquet files need pyarrow: pip install 'sottovoce[collector]'")


def write_reports(
    path: Path | IO[bytes],
    survey: Survey,
    ids: NDArray[np.uint8],
    payloads: NDArray[np.uint8],
    *,
    epoch: int | None = None,
) -> None:
    """Write a file that engines read; `ids` has 16 bytes per row, `payloads` the reports without their tag.

    With an `epoch` there is a column that says it of every report.

    Examples
    --------
    >>> import tempfile
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    >>> reports = np.frombuffer(survey.randomize("yes"), dtype=np.uint8)[None, :]
    >>> path = Path(tempfile.mkdtemp()) / "reports.parquet"
    >>> write_reports(path, survey, np.zeros((1, 16), dtype=np.uint8), reports[:, 4:])
    >>> sv.engines.local().aggregate(survey, path).n_reports
    1
    """
    _, pq = pyarrow()
    pq.write_table(report_table(survey, ids, payloads, epoch=epoch), path, row_group_size=GROUP_ROWS, **LAYOUT)


def report_table(
    survey: Survey, ids: NDArray[np.uint8], payloads: NDArray[np.uint8], *, epoch: int | None = None
) -> Any:
    """The table of such a file, with its metadata: an Arrow table."""
    pa, _ = pyarrow()
    tags = np.broadcast_to(np.frombuffer(survey.tag, dtype=np.uint8), (len(payloads), len(survey.tag)))
    columns = {REPORT_ID: ids, REPORT: np.concatenate([tags, payloads], axis=1)}
    arrays = [
        pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))]
        )
        for rows in columns.values()
    ]
    names = list(columns)
    if epoch is not None:
        # From a buffer: pa.array and pa.repeat would import pandas where it is installed, which takes seconds.
        same = pa.py_buffer(np.full(len(ids), epoch, dtype=np.int64))
        arrays.append(pa.Array.from_buffers(pa.int64(), len(ids), [None, same]))
        names.append(EPOCH)
    metadata = {
        PREFIX + "format": str(EXPORT_FORMAT),
        PREFIX + "survey": survey.id,
        PREFIX + "statement": survey.to_json(),
    }
    fields = [pa.field(name, array.type, nullable=False) for name, array in zip(names, arrays, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))
