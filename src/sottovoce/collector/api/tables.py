"""An estimate as a file to keep: CSV, JSON or Parquet."""

from __future__ import annotations

from typing import Final

from litestar.handlers import HTTPRouteHandler

__all__ = ["ROUTES"]

ROUTES: Final[tuple[HTTPRouteHandler, ...]] = ()
