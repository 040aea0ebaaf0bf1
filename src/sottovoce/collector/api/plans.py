"""The planner over HTTP: the best mechanism, and the curves of error against people and epsilon."""

from __future__ import annotations

from typing import Final

from litestar.handlers import HTTPRouteHandler

__all__ = ["ROUTES"]

ROUTES: Final[tuple[HTTPRouteHandler, ...]] = ()
