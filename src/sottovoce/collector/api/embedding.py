"""A survey in other people's pages: the lines that put it there, and which pages may ask."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from sottovoce.collector.api.service import Service
from sottovoce.collector.pages.embedding import ELEMENT, script_name, snippet_of
from sottovoce.core.integrity import integrity_of
from sottovoce.protocol.base import SurveyId
from sottovoce.protocol.surveys import Embedding
from sottovoce.service.http.route import route

__all__ = ["ROUTES"]

Address = Annotated[
    str,
    Meta(
        max_length=300,
        pattern=r"^https?://[A-Za-z0-9._~:/\[\]-]+$",
        description="where browsers reach the collector; the setting public_url, if that is set, counts instead",
    ),
]


@route("GET", "/v1/surveys/{survey_id}/embedding", scopes=("read",))
async def get_embedding(service: Service, survey_id: SurveyId, address: Address) -> Embedding:
    """The lines that show a survey in another page, with the hash that its script must have."""
    record = await service.wait_for_store(service.record, survey_id)
    script = service.files[ELEMENT].plain.body
    return Embedding(
        snippet=snippet_of(service.settings.public_url or address.rstrip("/"), script, record.id, service.public),
        script=f"/embed/{script_name(script)}",
        integrity=integrity_of(script),
        bytes=len(script),
        allow_origins=list(service.settings.allow_origins),
    )


ROUTES: Final = (get_embedding,)
