"""An estimate whose answers are searched for: that takes seconds, and is done once for everybody who asks meanwhile."""

from __future__ import annotations

import time
from typing import Final

from sottovoce.collector.api.reading import aggregate_of, check_minimum
from sottovoce.collector.api.service import Service
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.estimates.estimate import Estimate
from sottovoce.surveys.survey import Survey

__all__ = ["BYTES_PER_COUNTER", "searched"]

BYTES_PER_COUNTER: Final = 12
"""Of a count, and of the support that words are looked up in."""
_NAME: Final = "search"


async def searched(service: Service, record: SurveyRecord, survey: Survey) -> Estimate:
    """The words found in all reports that are counted now, or in more.

    One search runs at a time. Whoever asks while one runs waits for the next, which counts all reports until then and
    so serves everybody who waits: however many ask, and however fast reports come in, two searches are enough.
    """
    n_reports = await service.wait_for_store(service.n_counted, record)
    check_minimum(record, n_reports)
    found: Estimate | None = service.surveys.result_since(record.id, n_reports, _NAME)
    if found is not None:
        return found
    key = (record.id, n_reports, _NAME)
    return await service.searching.once(key, _search, service, record, survey, n_reports)


def _search(service: Service, record: SurveyRecord, survey: Survey, n_reports: int) -> Estimate:
    found: Estimate | None = service.surveys.result_since(record.id, n_reports, _NAME)
    if found is not None:
        return found
    began = time.perf_counter()
    aggregate = aggregate_of(service, record, survey)
    estimate = survey.estimate(aggregate, progress=lambda done, of: service.searching.check_stop())
    service.note_estimate(time.perf_counter() - began)
    size = BYTES_PER_COUNTER * survey.mechanism.cells
    return service.surveys.put_result(record.id, estimate.n_reports, _NAME, result=estimate, size=size)
