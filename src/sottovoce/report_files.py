"""Reports at rest: which columns and metadata a Parquet file of reports has. Exports write it, engines read it.

Columns: ``report_id`` (16 bytes), ``report`` (the bytes a device sent, tag and all), and, in exports, ``epoch`` (coarse
time). The metadata of an export names the format, the survey and its statement; a file that any other pipeline wrote
needs the first two columns only, for every report begins with the tag of its survey.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from sottovoce.errors import MissingExtraError

__all__ = ["EXPORT_FORMAT", "PREFIX", "REPORT", "REPORT_ID", "pyarrow"]

EXPORT_FORMAT: Final = 1
"""Version of the files' columns and metadata."""

PREFIX: Final = "sottovoce."
"""Before every name in a file's metadata."""

REPORT_ID: Final = "report_id"
REPORT: Final = "report"


def pyarrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet module, loaded when they are needed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        pass
    raise MissingExtraError("Parquet files need pyarrow: pip install 'sottovoce[collector]'")
