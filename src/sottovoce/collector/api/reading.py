"""The aggregate and estimate of a survey by its id, if it has enough reports."""

from __future__ import annotations

import time
from typing import Final

from sottovoce.collector.api.service import Service
from sottovoce.collector.counting.live import live_aggregate
from sottovoce.collector.store.records import RoundStanding, SurveyRecord
from sottovoce.core.words import plural
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.watched import still_changing
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.grouped import counted_groups
from sottovoce.surveys.groups import Group
from sottovoce.surveys.survey import Survey

__all__ = ["BYTES_PER_COUNTER", "aggregate_of", "answerable_survey", "check_minimum", "estimate_of"]
__all__ += ["bytes_of_groups", "holds_at_every_look", "n_of_large", "n_told", "reports_of", "searched"]

_BYTES_PER_ANSWER: Final = 32


def answerable_survey(service: Service, survey_id: str) -> tuple[SurveyRecord, Survey]:
    """The record and the survey of that id, which people answer themselves."""
    record = service.record(survey_id)
    return record, service.answerable(record)


def check_minimum(record: SurveyRecord, n_reports: int) -> None:
    """Refuse to tell anything from fewer reports than the survey's minimum."""
    if n_reports < max(1, record.minimum_reports):
        raise Refusal(
            409,
            "too_few_reports",
            f"survey {record.id[:12]} has {plural(n_reports, 'counted report')}, and its estimate needs at least "
            f"{record.minimum_reports:,}; ask again later",
        )


def n_told(service: Service, record: SurveyRecord) -> int:
    """How many counted reports are told of, those of every group that has enough; a refusal if they are too few.

    Results are held by this number. It grows with every report that changes a result, and with no other; and it never
    gets smaller, since a group is not deleted without its survey.
    """
    if not record.has_groups:
        counted = service.n_counted(record)
        check_minimum(record, counted)
        return counted
    told = n_of_large(service, record)
    if not told:
        raise Refusal(
            409,
            "too_few_reports",
            f"no group of survey {record.id[:12]} has the {record.minimum_reports:,} counted reports that it needs to "
            "be told of; ask again later",
        )
    return told


def n_of_large(service: Service, record: SurveyRecord) -> int:
    """The counted reports of all groups that have enough."""
    return sum(entry.counted for entry in _large(service, record))


def _large(service: Service, record: SurveyRecord) -> list[RoundStanding]:
    """The groups with enough reports: of a smaller one nothing is told, in the sum neither."""
    enough = max(1, record.minimum_reports)
    return [entry for entry in service.store.standing_rounds(record.id) if entry.counted >= enough]


def aggregate_of(service: Service, record: SurveyRecord, survey: Survey) -> Aggregate:
    """The counts of all reports so far, if there are enough and they are counted here or were handed in."""
    if not survey.takes_reports:
        return counted_groups(survey, groups_of(service, record, survey)).pooled
    if survey.mechanism.cells > service.settings.max_counters and not _all_in_checkpoint(service, survey):
        raise Refusal(
            409,
            "counted_elsewhere",
            f"survey {record.id[:12]} has {survey.mechanism.cells:,} counters, more than are counted here: seal it, "
            "count its reports with 'sottovoce aggregate', and hand the counts in or estimate from them",
        )
    aggregate = live_aggregate(service.store, survey)
    check_minimum(record, aggregate.n_reports)
    return aggregate


def groups_of(service: Service, record: SurveyRecord, survey: Survey) -> dict[Group, Aggregate]:
    """The counts of every group that has enough reports; a refusal if there is none."""
    n_told(service, record)
    large = {entry.round: entry.id for entry in _large(service, record)}
    return {
        group: aggregate_of(service, service.record(large[group.number]), survey.in_group(group))
        for group in survey.groups or ()
        if group.number in large
    }


def reports_of(service: Service, record: SurveyRecord, survey: Survey) -> Aggregate | dict[Group, Aggregate]:
    """What an estimate is made of: the counts, or those of every group."""
    if survey.takes_reports:
        return aggregate_of(service, record, survey)
    return groups_of(service, record, survey)


def _all_in_checkpoint(service: Service, survey: Survey) -> bool:
    return all(segment.checkpointed for segment in service.store.segments(survey.id))


def estimate_of(service: Service, record: SurveyRecord, survey: Survey) -> Estimate:
    """The estimate from all reports so far, if there are enough; how long it took to make is noted."""
    known: Estimate | None = service.surveys.result(record.id, n_told(service, record), "estimate")
    if known is not None:
        return known
    began = time.perf_counter()
    estimate = survey.estimate(reports_of(service, record, survey))
    service.note_estimate(time.perf_counter() - began)
    size = _BYTES_PER_ANSWER * len(estimate) + bytes_of_groups(estimate)
    return service.surveys.put_result(record.id, estimate.n_reports, "estimate", result=estimate, size=size)


def bytes_of_groups(estimate: Estimate) -> int:
    """Memory for the counts of groups, which an estimate holds."""
    return 0 if estimate.groups is None else sum(counts.nbytes for counts, _ in estimate.groups.counted.values())


def holds_at_every_look(service: Service, record: SurveyRecord, always: str) -> bool:
    """Whether intervals that are asked for with these `Looks` hold at every look; for the store's thread."""
    if always == "open":
        return still_changing(record.state, service.n_waiting(record))
    return always == "1"


BYTES_PER_COUNTER: Final = 12
"""Memory for a count and for the support that words are looked up in."""
_SEARCH: Final = "search"


async def searched(service: Service, record: SurveyRecord, survey: Survey) -> Estimate:
    """The words found in all reports that are counted now, or in more.

    One search runs at a time. Requests that come while one runs wait for the next, which counts all reports until
    then and serves all that wait: for any number of requests and any rate of reports, two searches are enough.
    """
    n_reports = await service.wait_for_store(n_told, service, record)
    known: Estimate | None = service.surveys.result_since(record.id, n_reports, _SEARCH)
    if known is not None:
        return known
    key = (record.id, n_reports, _SEARCH)
    return await service.searching.once(key, _search, service, record, survey, n_reports)


def _search(service: Service, record: SurveyRecord, survey: Survey, n_reports: int) -> Estimate:
    known: Estimate | None = service.surveys.result_since(record.id, n_reports, _SEARCH)
    if known is not None:
        return known
    began = time.perf_counter()
    reports = reports_of(service, record, survey)
    estimate = survey.estimate(reports, progress=lambda done, of: service.searching.check_stop())
    service.note_estimate(time.perf_counter() - began)
    size = BYTES_PER_COUNTER * survey.mechanism.cells + bytes_of_groups(estimate)
    return service.surveys.put_result(record.id, estimate.n_reports, _SEARCH, result=estimate, size=size)
