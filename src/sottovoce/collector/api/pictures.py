"""What a dashboard draws: an estimate in columns, how to look at it, and how its bound shrinks."""

from __future__ import annotations

from typing import Final

from litestar.handlers import HTTPRouteHandler

__all__ = ["ROUTES"]

ROUTES: Final[tuple[HTTPRouteHandler, ...]] = ()
