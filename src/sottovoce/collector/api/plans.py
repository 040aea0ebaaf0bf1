"""Planning a survey: its error, number of people or epsilon, with curves."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import msgspec

from sottovoce.collector.api.drafts import MAX_DRAFT_BYTES
from sottovoce.collector.api.planning import make_plan
from sottovoce.collector.api.service import Service
from sottovoce.protocol.drafts import Planned, PlanRequest
from sottovoce.service.http.route import route

__all__ = ["ROUTES"]


@route(
    "POST",
    "/v1/plans",
    scopes=("read",),
    max_bytes=MAX_DRAFT_BYTES,
    errors={
        422: "there is no such plan; `field` says why",
        503: "too many requests are in progress, or the database is unavailable; try again later",
    },
)
async def plan_survey(service: Service, body: PlanRequest) -> Planned:
    """Work out the third of epsilon, people and error for a survey; nothing is stored."""
    return await service.compute(_planned, service, body)


def _planned(service: Service, asked: PlanRequest) -> Planned:
    name = sha256(msgspec.json.encode(asked)).digest()
    return service.plans.get(name) or service.plans.put(name, make_plan(asked))


ROUTES: Final = (plan_survey,)
