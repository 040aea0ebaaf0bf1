"""The pages and their files: the survey page for people, the dashboard for analysts."""

from __future__ import annotations

from typing import Final

from litestar.handlers import HTTPRouteHandler

__all__ = ["ROUTES"]

ROUTES: Final[tuple[HTTPRouteHandler, ...]] = ()
