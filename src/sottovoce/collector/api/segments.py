"""Exporting: the counted reports themselves, segment by segment, as the devices' batches once were."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from sottovoce.collector.api.answer import Answer, json_answer
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.collector.api.service import Service, service_of
from sottovoce.collector.api.structs import SegmentEntry, Segments
from sottovoce.collector.failures import Refused
from sottovoce.wire import BATCH_MEDIA_TYPE, REPORT_ID_BYTES, encode_batch

__all__ = ["EPOCH_HEADER", "ROUTES"]

EPOCH_HEADER: Final = "Sottovoce-Epoch"

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,17}")

_REFUSES: Final = {
    404: "there is no such survey",
    410: "the survey has been deleted",
    503: "the database is away; try again later",
}


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/segments",
    Operation(
        "list_segments", "The segments of a survey's counted reports.", {200: Segments}, _REFUSES, scopes=("admin",)
    ),
)
async def list_segments(request: AnyRequest) -> Answer:
    service = service_of(request)
    return json_answer(await service.ask(_segments, service, request.path_params["survey_id"]))


@route(
    "GET",
    "/v1/surveys/{survey_id:str}/segments/{segment_number:str}",
    Operation(
        "get_segment",
        "The reports of a segment, as one batch.",
        {200: BATCH_MEDIA_TYPE},
        {**_REFUSES, 404: "there is no such survey or segment", 409: "the survey is adaptive: its rounds have reports"},
        scopes=("admin",),
        headers={EPOCH_HEADER: "the coarse time in which the segment's reports came"},
    ),
)
async def get_segment(request: AnyRequest) -> Answer:
    service, found = service_of(request), request.path_params
    body, epoch = await service.work(_segment, service, found["survey_id"], found["segment_number"])
    return Answer(body, BATCH_MEDIA_TYPE, headers={EPOCH_HEADER: str(epoch)})


def _segments(service: Service, survey_id: str) -> Segments:
    record = service.record(survey_id)
    return Segments([SegmentEntry(one.number, one.epoch, one.n) for one in service.store.segments(record.id)])


def _segment(service: Service, survey_id: str, text: str) -> tuple[bytes, int]:
    record = service.record(survey_id)
    survey = service.answered(record)
    number = int(text) if _NUMBER.fullmatch(text) else -1
    segment = next(iter(service.store.read_segments(record.id, number - 1)), None) if number >= 0 else None
    if segment is None or segment.info.number != number:
        raise Refused(
            404,
            "unknown_segment",
            f"survey {record.id[:12]} has no such segment, or it has been put together with others; list them again",
        )
    n, tag = segment.info.n, np.frombuffer(survey.tag, dtype=np.uint8)
    width = survey.mechanism.report_bytes
    rows = np.concatenate(
        (
            np.frombuffer(segment.ids, dtype=np.uint8).reshape(n, REPORT_ID_BYTES),
            np.broadcast_to(tag, (n, len(tag))),
            np.frombuffer(segment.payloads, dtype=np.uint8).reshape(n, width),
        ),
        axis=1,
    )
    return encode_batch(record.id, ()) + rows.tobytes(), segment.info.epoch


ROUTES: Final = (list_segments, get_segment)
