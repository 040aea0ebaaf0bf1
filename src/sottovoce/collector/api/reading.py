"""From a survey's id to what its reports tell: found, of a kind that has answers, and with reports enough."""

from __future__ import annotations

import time

from sottovoce.collector.api.service import Service
from sottovoce.collector.failures import Refused
from sottovoce.collector.live import live_aggregate
from sottovoce.collector.store.base import SurveyRecord
from sottovoce.plural import counted
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.estimate import Estimate
from sottovoce.surveys.survey import Survey

__all__ = ["aggregate_of", "enough", "estimate_of", "found"]


def found(service: Service, survey_id: str) -> tuple[SurveyRecord, Survey]:
    """The record and the survey of that id, which people answer themselves."""
    record = service.record(survey_id)
    return record, service.answered(record)


def enough(record: SurveyRecord, n_reports: int) -> None:
    """Refuse to tell anything from fewer reports than the survey's minimum."""
    if n_reports < max(1, record.minimum_reports):
        raise Refused(
            409,
            "too_few_reports",
            f"survey {record.id[:12]} has {counted(n_reports, 'counted report')}, and nothing is told before there are "
            f"{record.minimum_reports:,}; ask again later",
        )


def aggregate_of(service: Service, record: SurveyRecord, survey: Survey) -> Aggregate:
    """The counts of all reports so far, if there are enough and they are counted here or were handed in."""
    if survey.mechanism.cells > service.settings.max_counters and not _all_in_checkpoint(service, survey):
        raise Refused(
            409,
            "counted_elsewhere",
            f"survey {record.id[:12]} has {survey.mechanism.cells:,} counters, more than are counted here: seal it, "
            "count its reports with 'sottovoce aggregate', and hand the counts in or estimate from them",
        )
    aggregate = live_aggregate(service.store, survey)
    enough(record, aggregate.n_reports)
    return aggregate


def _all_in_checkpoint(service: Service, survey: Survey) -> bool:
    return all(segment.checkpointed for segment in service.store.segments(survey.id))


def estimate_of(service: Service, record: SurveyRecord, survey: Survey) -> Estimate:
    """The estimate from all reports so far, if there are enough; how long it took to make is noted."""
    n_reports = service.counted(record)
    enough(record, n_reports)
    kept = service.made.get(record.id)
    if kept is not None and kept.n_reports == n_reports:
        return kept
    began = time.perf_counter()
    estimate = survey.estimate(aggregate_of(service, record, survey))
    service.metrics.estimate_seconds.observe(time.perf_counter() - began)
    return service.made.put(record.id, estimate, len(estimate))
