"""What a survey would take, before there is one: the error, the people or the epsilon, with curves to look at."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import msgspec

from sottovoce.collector.api.answer import JSON, Answer, json_answer
from sottovoce.collector.api.body import read_json
from sottovoce.collector.api.drafts import MAX_DRAFT_BYTES
from sottovoce.collector.api.page_structs import Planned, PlanRequest
from sottovoce.collector.api.planning import planned
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import Service, service_of

__all__ = ["ROUTES"]

_request: Final = msgspec.json.Decoder(PlanRequest)


@route(
    "POST",
    "/v1/plans",
    Operation(
        "plan_survey",
        "Work out the third of epsilon, people and error for a survey that is thought about; nobody is asked.",
        {200: Planned},
        {
            400: "the body is no JSON of this shape",
            408: "the body took too long, or was cut off",
            413: "the body is too long",
            415: "the body is not JSON, or compressed",
            422: "there is no such plan; `field` says why",
            503: "too much is being worked on; try again later",
        },
        scopes=("read",),
        bodies={JSON: PlanRequest},
    ),
)
async def plan_survey(request: AnyRequest) -> Answer:
    service = service_of(request)
    asked = await read_json(request, _request, MAX_DRAFT_BYTES, service.settings.body_seconds)
    return json_answer(await service.work(_planned, service, asked))


def _planned(service: Service, asked: PlanRequest) -> Planned:
    name = sha256(msgspec.json.encode(asked)).digest()
    return service.plans.get(name) or service.plans.put(name, planned(asked))


ROUTES: Final = (plan_survey,)
