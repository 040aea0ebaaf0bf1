"""What a store takes and gives: surveys, reports on their way in, counted ones, objects and tokens, each a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from sottovoce.core.errors import StoreError

__all__ = [
    "Checkpoint",
    "Lease",
    "NewSegment",
    "ObjectRecord",
    "RoundStanding",
    "Segment",
    "SegmentInfo",
    "Snapshot",
    "SurveyRecord",
    "SurveyState",
    "TokenRecord",
    "Totals",
    "Waiting",
    "epoch_of",
]

SurveyState: TypeAlias = Literal["open", "sealed", "deleted"]


class _Stated(msgspec.Struct):
    """What is read of a statement without reading the rest."""

    delta: float = 0.0
    groups: Any = None
    group: int | None = None
    calendar: Any = None
    period: int | None = None


@dataclass(frozen=True)
class SurveyRecord:
    """A published survey, or a part of one: a round of a panel, a period of a tracking survey, a group's survey."""

    id: str
    canonical: bytes = field(repr=False)
    """The statement, byte for byte as it was signed."""
    signature: bytes = field(repr=False)
    title: str
    kind: str
    epsilon: float
    minimum_reports: int
    """No estimate before that many."""
    epoch: int
    """The time at which it was published, in the collector's coarse time."""
    parent: str | None = None
    """The survey that a round, a period or a group belongs to."""
    round: int | None = None
    """The number of the round, period or group, from 1."""
    labels: tuple[str, ...] = ()
    """What an analyst calls the choices of a round."""
    state: SurveyState = "open"
    groups: tuple[SurveyRecord, ...] = ()
    """The surveys of its groups, which are stored with it; empty for a record that was read."""
    is_derived: bool = False
    """Whether its statement follows from the parent's, so that the log needs no entry; said when it is stored."""

    @property
    def delta(self) -> float:
        """What the statement says; 0 where it says nothing: the promise is then pure epsilon-LDP."""
        return self._stated.delta

    @property
    def has_groups(self) -> bool:
        """Whether its groups have the reports."""
        stated = self._stated
        is_tracking = stated.calendar is not None and stated.period is None
        return stated.groups is not None and stated.group is None and not is_tracking

    @cached_property
    def _stated(self) -> _Stated:
        try:
            return msgspec.json.decode(self.canonical, type=_Stated)
        except msgspec.DecodeError as error:
            raise StoreError(f"survey {self.id[:12]} is damaged in the database: restore a backup") from error


@dataclass(frozen=True)
class Waiting:
    """Reports that are durable and not yet counted."""

    number: int
    """The store's own; unique, not always increasing in the order of commits."""
    epoch: int
    n: int
    rows: bytes = field(repr=False)


class Totals(NamedTuple):
    """Reports of all surveys."""

    waiting: int
    counted: int


class RoundStanding(NamedTuple):
    """How a round or a period stands, and how many reports it has."""

    round: int
    id: str
    state: SurveyState
    counted: int
    waiting: int


@dataclass(frozen=True)
class Lease:
    """The right to settle one survey's waiting reports, until somebody else takes it."""

    survey: str
    token: int


@dataclass(frozen=True)
class NewSegment:
    """Counted reports of one epoch, each id once, in the order of their ids: the order of arrival is forgotten."""

    epoch: int
    n: int
    ids: bytes = field(repr=False)
    payloads: bytes = field(repr=False)


@dataclass(frozen=True)
class SegmentInfo:
    """What is known of a segment without reading it."""

    number: int
    epoch: int
    n: int
    checkpointed: bool
    """Whether the survey's checkpoint includes it."""
    object: str | None = None
    """The name of the object that holds its reports; None when the database does."""


@dataclass(frozen=True)
class Segment:
    """A segment with its reports."""

    info: SegmentInfo
    ids: bytes = field(repr=False)
    payloads: bytes = field(repr=False)


@dataclass(frozen=True)
class Checkpoint:
    """Sums over all checkpointed segments: little-endian 64-bit integers, one a cell of the survey's mechanism."""

    n: int
    counts: bytes = field(repr=False)


@dataclass(frozen=True)
class Snapshot:
    """All counted reports of a survey at one moment: the checkpoint, and the segments it lacks."""

    checkpoint: Checkpoint | None
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class ObjectRecord:
    """An object as it is noted before it is written."""

    survey: str
    name: str
    sha256: str
    length: int


@dataclass(frozen=True)
class TokenRecord:
    """A token as it is kept: its hash, never itself."""

    id: str
    digest: bytes = field(repr=False)
    scopes: frozenset[str]
    note: str
    epoch: int
    revoked: bool = False
    expires: int | None = None
    """Seconds since 1970 after which it opens nothing; None for one that does not expire."""


def epoch_of(unix_seconds: float, time_precision: int) -> int:
    """How many whole spans of `time_precision` seconds had passed since 1970.

    Examples
    --------
    >>> epoch_of(7199.9, 3600), epoch_of(7200.0, 3600)
    (1, 2)
    """
    return int(unix_seconds // time_precision)
