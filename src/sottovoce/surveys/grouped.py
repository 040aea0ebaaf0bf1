"""The reports of a survey with groups: told apart by their tags, counted by group, and pooled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

import numpy as np

from sottovoce.core.errors import MismatchError, NoReportsError, ReportError, SimulationError
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.groups import GroupCounts, merged
from sottovoce.mechanisms.base import Counts
from sottovoce.surveys.aggregate import Aggregate, Reports
from sottovoce.surveys.groups import Group, GroupName, Groups
from sottovoce.surveys.simulation import Seed, check_seed
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.tracked import Histories, simulate_periods

__all__ = ["Grouped", "GroupsOfReports", "Members", "counted_groups", "simulate_groups", "simulate_groups_of_periods"]

Grouped: TypeAlias = Mapping[Any, Aggregate | Reports | Iterable[bytes]]
"""Reports by group: aggregates, batches or bytes."""

Members: TypeAlias = Mapping[Any, Any]
"""Values of simulated people by group."""


class GroupSurvey(Protocol):
    """The survey of one group, or of all of them."""

    @property
    def id(self) -> str: ...

    @property
    def tag(self) -> bytes: ...

    @property
    def groups(self) -> Groups | None: ...

    def aggregate(self) -> Aggregate: ...

    def simulate_aggregate(self, values: Any = None, *, seed: Seed = None) -> Aggregate: ...


class GroupedSurvey(GroupSurvey, Protocol):
    """A survey with groups, which makes the surveys of its groups."""

    def in_group(self, group: GroupName, /) -> GroupSurvey: ...


@final
@dataclass(frozen=True)
class GroupsOfReports:
    """Counted reports by the number of their group, and all of them together."""

    groups: Groups
    counted: Mapping[int, Aggregate]
    pooled: Aggregate

    def counts(self, make: Callable[[Counts, int], Estimate]) -> GroupCounts:
        """What estimates by group are made of."""
        known = {number: (found.counts, found.n_reports) for number, found in self.counted.items() if found.n_reports}
        return GroupCounts(self.groups, known, make)


def _groups_of(survey: GroupSurvey, argument: str) -> Groups:
    if survey.groups is None:
        raise SimulationError("this survey has no groups: use simulate").at(argument)
    return survey.groups


def counted_groups(survey: GroupedSurvey, reports: Any) -> GroupsOfReports:
    """Count reports by group: given by group, or all together, since a report's tag names its survey."""
    groups = _groups_of(survey, "reports")
    by_group = reports if isinstance(reports, Mapping) else _by_tag(survey, groups, reports)
    counted: dict[int, Aggregate] = {}
    for name, given in by_group.items():
        chosen = groups.find(name)
        if chosen.number in counted:
            raise MismatchError(f"{chosen.label} is given twice; merge its reports first").at("reports")
        member = survey.in_group(chosen)
        aggregate = given if isinstance(given, Aggregate) else member.aggregate().add(given)
        if aggregate.survey.id != member.id:
            raise MismatchError(
                f"what is given for {chosen.label} belongs to survey {aggregate.survey.id[:12]}, not to "
                f"{member.id[:12]}: give each group its own"
            ).at("reports")
        counted[chosen.number] = aggregate
    total = sum(found.n_reports for found in counted.values())
    if not total:
        raise NoReportsError("no group has reports: collect some first")
    empty = survey.aggregate()
    counts = merged([found.counts for found in counted.values()])
    return GroupsOfReports(groups, counted, Aggregate.owning(empty.survey, total, counts))


def _by_tag(survey: GroupedSurvey, groups: Groups, reports: Any) -> dict[Any, list[bytes]]:
    if isinstance(reports, Reports) or not hasattr(reports, "__iter__"):
        raise ReportError(
            "reports of a survey with groups must be given by group, for example {'A': ..., 'B': ...}, or as bytes"
        ).at("reports")
    tags = {survey.in_group(group).tag: group for group in groups}
    if len(tags) < len(groups):
        raise ReportError("two groups have the same tag; give the reports by group").at("reports")
    sorted_out: dict[Any, list[bytes]] = {}
    for position, report in enumerate(reports):
        group = tags.get(bytes(report[:TAG_BYTES])) if isinstance(report, bytes | bytearray | memoryview) else None
        if group is None:
            raise MismatchError(f"report {position} belongs to no group of this survey").at("reports")
        sorted_out.setdefault(group, []).append(bytes(report))
    return sorted_out


def simulate_groups(survey: GroupedSurvey, people: Members, seed: Seed = None) -> dict[str, Aggregate]:
    """The counted reports of simulated people of each group, by its label; drawn from (seed, group)."""
    groups = _groups_of(survey, "people")
    if not isinstance(people, Mapping) or not people:
        raise SimulationError("people must map each group to the values of its people").at("people")
    seeds = _seeds(seed)
    found: dict[str, Aggregate] = {}
    for name, values in people.items():
        group = groups.find(name)
        found[group.label] = survey.in_group(group).simulate_aggregate(values, seed=seeds(group))
    return found


def _seeds(seed: Seed) -> Callable[[Group], int]:
    """A seed of its own for every group."""
    fixed = int(np.random.SeedSequence().entropy) if seed is None else check_seed(seed)  # type: ignore[arg-type]

    def of(group: Group) -> int:
        return int(np.random.SeedSequence(fixed, spawn_key=(2, group.number)).generate_state(1, np.uint64)[0])

    return of


@dataclass(frozen=True)
class _OneGroup:
    """A tracking survey as the people of one group answer it."""

    tracking: Any
    group: Group

    @property
    def calendar(self) -> Any:
        return self.tracking.calendar

    def period(self, number: int, /) -> Any:
        return self.tracking.period(number).in_group(self.group)


def simulate_groups_of_periods(
    tracking: Any, histories: Mapping[Any, Histories], seed: Seed = None
) -> dict[int, dict[str, Aggregate]]:
    """The counted reports of simulated people by period and group; see `simulate_periods`."""
    groups = tracking.once.groups
    if groups is None:
        raise SimulationError("this survey has no groups: use simulate").at("histories")
    if not isinstance(histories, Mapping) or not histories:
        raise SimulationError("histories must map each group to the histories of its people").at("histories")
    seeds = _seeds(seed)
    found: dict[int, dict[str, Aggregate]] = {}
    for name, people in histories.items():
        group = groups.find(name)
        part: Any = _OneGroup(tracking, group)
        for number, aggregate in simulate_periods(part, people, seeds(group)).items():
            found.setdefault(number, {})[group.label] = aggregate
    return found
