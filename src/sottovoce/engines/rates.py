"""The speed of a machine, measured by `sottovoce calibrate` and used by `sottovoce plan --cost`."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Self, final

from sottovoce.core.errors import PlanError
from sottovoce.core.files import cache_directory, replace_file, write_errors

__all__ = ["FAR_CELLS", "NEAR_CELLS", "Rates", "place"]

_FORMAT: Final = 1

NEAR_CELLS: Final = 2**11
"""Counters that stay in a core's own cache."""

FAR_CELLS: Final = 2**20
"""Counters that do not."""

_OPTIONAL: Final = frozenset({"spark_seconds", "spark_rows"})


def place() -> Path:
    """Default file of the rates."""
    return cache_directory() / "rates.json"


@final
@dataclass(frozen=True)
class Rates:
    """Measured rates, per second and for all cores, reading included.

    Examples
    --------
    >>> rates = Rates(cores=2, near_rows=4e6, far_rows=1e6, folded_cells=1e8, decoded_cells=2e7, row_bytes=4.5)
    >>> rates.rows(2**11), rates.rows(2**24), round(rates.rows(2**16) / 1e6, 2)
    (4000000.0, 1000000.0, 1.5)
    """

    cores: int
    """Cores that were used."""
    near_rows: float
    """Reports a second from Parquet files into `NEAR_CELLS` counters, duplicates taken out, on all cores."""
    far_rows: float
    """The same into `FAR_CELLS` counters."""
    folded_cells: float
    """Counters of a codebook folded in a second, on all cores."""
    decoded_cells: float
    """Counters of a distribution transformed and projected in a second."""
    row_bytes: float
    """Bytes of a Parquet file a report, beside its id and its payload."""
    spark_seconds: float | None = None
    """What a Spark job takes before it reads anything; None where Spark was not measured."""
    spark_rows: float | None = None
    """Reports a second that one Spark task reads, takes duplicates out of, and counts."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name in _OPTIONAL:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise PlanError(f"rate {field.name} must be a number above 0; run 'sottovoce calibrate' again")

    def rows(self, cells: int) -> float:
        """Reports counted in a second into so many counters; between the two measured sizes time grows with log2."""
        share = (math.log2(max(cells, 1)) - math.log2(NEAR_CELLS)) / (math.log2(FAR_CELLS) - math.log2(NEAR_CELLS))
        far = min(1.0, max(0.0, share))
        return 1.0 / ((1.0 - far) / self.near_rows + far / self.far_rows)

    def save(self, path: Path) -> None:
        """Write them whole or not at all."""
        content = json.dumps({"format": _FORMAT, **asdict(self)}, indent=2) + "\n"
        with write_errors(path, PlanError, "name another with --out"):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content.encode())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read rates; raises `PlanError` if there are none."""
        try:
            found: Any = json.loads(path.read_text())
        except FileNotFoundError:
            raise PlanError(
                f"there are no rates of this machine at {path}: run 'sottovoce calibrate' first (half a minute)"
            ) from None
        except (OSError, ValueError) as error:
            raise PlanError(f"{path} cannot be read as rates: run 'sottovoce calibrate' again") from error
        names = {field.name for field in fields(cls)}
        if not isinstance(found, dict) or found.pop("format", None) != _FORMAT or set(found) != names:
            raise PlanError(f"{path} has no rates that this version can read: run 'sottovoce calibrate' again")
        return cls(**found)
