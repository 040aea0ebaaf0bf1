"""Exporting the counted reports, segment by segment, as batches."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from sottovoce.collector.api.service import Service
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, REPORT_ID_BYTES, encode_batch
from sottovoce.protocol.base import SegmentNumber, SurveyId
from sottovoce.protocol.surveys import SegmentEntry, Segments
from sottovoce.service.http.response import Response
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal

__all__ = ["EPOCH_HEADER", "ROUTES"]

EPOCH_HEADER: Final = "Sottovoce-Epoch"

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,17}")


@route("GET", "/v1/surveys/{survey_id}/segments", scopes=("admin",))
async def list_segments(service: Service, survey_id: SurveyId) -> Segments:
    """The segments of a survey's counted reports."""
    return await service.wait_for_store(_segments, service, survey_id)


@route(
    "GET",
    "/v1/surveys/{survey_id}/segments/{segment_number}",
    scopes=("admin",),
    responses={200: BATCH_MEDIA_TYPE},
    errors={404: "there is no such survey or segment", 409: "the survey is adaptive: its rounds have reports"},
    headers={EPOCH_HEADER: "the coarse time in which the segment's reports came"},
)
async def get_segment(service: Service, survey_id: SurveyId, segment_number: SegmentNumber) -> Response:
    """The reports of a segment, as one batch."""
    body, epoch = await service.compute(_segment, service, survey_id, segment_number)
    return Response(body, BATCH_MEDIA_TYPE, headers={EPOCH_HEADER: str(epoch)})


def _segments(service: Service, survey_id: str) -> Segments:
    record = service.record(survey_id)
    return Segments([SegmentEntry(one.number, one.epoch, one.n) for one in service.store.segments(record.id)])


def _segment(service: Service, survey_id: str, text: str) -> tuple[bytes, int]:
    record = service.record(survey_id)
    survey = service.answerable(record)
    number = int(text) if _NUMBER.fullmatch(text) else -1
    segment = next(iter(service.store.read_segments(record.id, number - 1)), None) if number >= 0 else None
    if segment is None or segment.info.number != number:
        raise Refusal(
            404,
            "unknown_segment",
            f"survey {record.id[:12]} has no such segment, or it has been merged with others; list them again",
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
