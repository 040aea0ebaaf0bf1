"""Surveys and questions from what a form holds: checked and stated here, published elsewhere."""

from __future__ import annotations

from typing import Final

from litestar.handlers import HTTPRouteHandler

__all__ = ["ROUTES"]

ROUTES: Final[tuple[HTTPRouteHandler, ...]] = ()
