"""The collector's application: all its routes, and the service behind them."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sottovoce.collector.api import (
    access,
    curves,
    devices,
    drafts,
    estimates,
    events,
    groups,
    operations,
    pages,
    pictures,
    plans,
    publishing,
    questions,
    reports,
    surveys,
    tables,
    words,
)
from sottovoce.collector.api.service import Service
from sottovoce.collector.settings import Settings
from sottovoce.collector.store.base import Store
from sottovoce.core.signing import SigningKey
from sottovoce.service.http.application import Application
from sottovoce.service.http.openapi import openapi_document
from sottovoce.service.http.response import Response, json_response
from sottovoce.service.http.route import Route, route

__all__ = ["ROUTES", "create_app"]


@route("GET", "/openapi.json", responses={200: dict[str, Any]}, at_intake=True, is_probe=True)
async def get_openapi() -> Response:
    """This document."""
    return _openapi()


@cache
def _openapi() -> Response:
    return json_response(openapi_document(ROUTES))


ROUTES: Final[tuple[Route, ...]] = (
    *devices.ROUTES,
    *reports.ROUTES,
    *publishing.ROUTES,
    *surveys.ROUTES,
    *estimates.ROUTES,
    *curves.ROUTES,
    *pictures.ROUTES,
    *words.ROUTES,
    *tables.ROUTES,
    *groups.ROUTES,
    *events.ROUTES,
    *questions.ROUTES,
    *drafts.ROUTES,
    *plans.ROUTES,
    *access.ROUTES,
    *operations.ROUTES,
    get_openapi,
    *pages.ROUTES,
)


def create_app(settings: Settings, store: Store, key: SigningKey) -> Application[Service]:
    """The application of one collector; it closes its own threads, and leaves the store open."""
    service = Service(settings, store, key)
    service.streams = events.streams_of(service)
    app = Application(service, ROUTES)
    service.answer_device = app.answer_device
    return app
