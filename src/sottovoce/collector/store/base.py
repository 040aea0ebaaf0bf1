"""What the collector needs of a database: to keep and find `records`, and four promises.

1. `append` has returned: the reports survive a power cut. It has raised: none of them was kept.
2. `settle` is one transaction: reports leave the waiting list and enter a segment, or nothing happens.
3. Only the latest holder of a survey's lease can settle: every lease has a token, and a stale one is refused,
   whatever the clocks say.
4. A sealed or deleted survey takes no more reports, however the requests interleave.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from sottovoce.collector.store.object_storage import ObjectStorage
from sottovoce.collector.store.records import (
    Checkpoint,
    Lease,
    NewSegment,
    ObjectRecord,
    RoundStanding,
    Segment,
    SegmentInfo,
    Snapshot,
    SurveyRecord,
    SurveyState,
    TokenRecord,
    Totals,
    Waiting,
)
from sottovoce.protocol.log import LogEntry
from sottovoce.service.storage.committer import Arrival, Closed

__all__ = ["Store", "StoreSettings"]


class Store(abc.ABC):
    """One database. Safe to use from several threads; several processes may each open their own.

    Methods raise `StoreFullError` when the disk is full, `StoreUnavailableError` when the database cannot be reached
    or stays locked (try again), and `StoreError` otherwise. After any of them nothing has been changed.
    """

    # --- life -------------------------------------------------------------------------------

    @abc.abstractmethod
    def close(self) -> None:
        """Give everything back; the store cannot be used afterwards."""

    @abc.abstractmethod
    def check(self, *, thorough: bool = False) -> None:
        """Raise unless the database answers and takes a report, which is inserted and taken back.

        A thorough check also commits, and so waits for the disk; what it leaves is what it found.
        """

    @abc.abstractmethod
    def now(self) -> float:
        """The time of the database's clock, in seconds since 1970: the same for all who share it."""

    @abc.abstractmethod
    def last_number(self) -> int:
        """The largest number that durable reports were ever given; it is never lower again, unless some are lost."""

    @abc.abstractmethod
    def forget(self) -> bool:
        """Drop what the database still keeps of deleted surveys and of rows that are gone; False: try again."""

    # --- surveys ----------------------------------------------------------------------------

    @abc.abstractmethod
    def publish(self, record: SurveyRecord, attachments: Mapping[str, bytes]) -> SurveyRecord:
        """Keep a survey; returns the one that stands, which is the first of that id.

        A round is refused with `MismatchError` when another survey already is that round of its parent, when the
        parent is not open, or when an earlier round is missing or still open. Periods of a tracking survey may overlap.
        """

    @abc.abstractmethod
    def log_entries(self, start: int = 0, most: int | None = None) -> list[LogEntry]:
        """The log of publications from a position on: one entry for each survey and round, in the order they came.

        An entry is made in the transaction that publishes its survey. None ever goes away or changes its position, also
        when the survey is deleted. Periods have none: they follow from their survey.
        """

    @abc.abstractmethod
    def log_size(self) -> int:
        """How many entries the log has."""

    @abc.abstractmethod
    def statement(self, survey_id: str) -> bytes | None:
        """The statement behind an entry of the log, also after the survey was deleted; None if it has no entry.

        Empty if an earlier version, which kept none, has deleted the survey.
        """

    @abc.abstractmethod
    def signer(self) -> bytes | None:
        """The public key that services on this database sign with; None before the first has said."""

    @abc.abstractmethod
    def set_signer(self, public: bytes, *, replace: bool = False) -> bytes:
        """Note that key unless there is one already, or in place of that; the one that stands then."""

    @abc.abstractmethod
    def survey(self, survey_id: str) -> SurveyRecord | None:
        """The survey of that id, in whatever state."""

    @abc.abstractmethod
    def surveys(self) -> list[SurveyRecord]:
        """All but deleted surveys that are not rounds, oldest first."""

    @abc.abstractmethod
    def standing(self) -> list[tuple[str, SurveyState]]:
        """Id and state of the same surveys, without reading what they say."""

    @abc.abstractmethod
    def tracked(self) -> list[str]:
        """The ids of open tracking surveys, oldest first; quick however many other surveys there are."""

    @abc.abstractmethod
    def rounds(self, parent: str) -> list[SurveyRecord]:
        """The rounds of a panel, or the periods of a tracking survey that have begun, first to last."""

    @abc.abstractmethod
    def latest_round(self, parent: str) -> SurveyRecord | None:
        """The last of these rounds or periods; None before the first."""

    @abc.abstractmethod
    def standing_rounds(self, parent: str) -> list[RoundStanding]:
        """The standing of rounds or periods, without their statements; deleted ones are included, with no reports."""

    @abc.abstractmethod
    def attachment(self, digest: str) -> bytes | None:
        """What a survey, also a deleted one, names by this digest of its content, in hexadecimal."""

    @abc.abstractmethod
    def seal(self, survey_id: str) -> None:
        """Refuse its reports from now on, and those of its rounds or periods. Sealing twice changes nothing."""

    @abc.abstractmethod
    def delete(self, survey_id: str) -> None:
        """Remove all reports and counts, also of its rounds; the id stays, so that the survey cannot come back.

        What the log has an entry for, statement and attachments, stays as well: anybody may ask what was published.
        From then on nobody sees any of them. Of a survey that takes long to erase, or on a disk whose room others hold
        at the moment, rows may be left; `forget` goes on.
        """

    # --- reports on their way in ------------------------------------------------------------

    @abc.abstractmethod
    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        """Keep all of them in one transaction, durable on return; for each None, or why its survey takes none."""

    def append_at_once(self, arrival: Arrival) -> bool:
        """Keep one, durable on return, if nobody and no network has to be waited for; whether that was so.

        False says no more than that: `append` finds out what is the matter.
        """
        return False

    @abc.abstractmethod
    def waiting(self, survey_id: str) -> int:
        """How many reports are durable and not yet counted (a resent one included)."""

    @abc.abstractmethod
    def totals(self) -> Totals:
        """How many reports wait and how many are counted, of all surveys together."""

    @abc.abstractmethod
    def oldest_waiting(self) -> dict[int, int]:
        """The number of the oldest waiting entry of each survey, by the survey's number in the store."""

    # --- counting ---------------------------------------------------------------------------

    @abc.abstractmethod
    def lease(self, holder: str, seconds: float) -> Lease | None:
        """A lease on some survey with waiting reports that nobody else holds; None if there is no such survey.

        The holder's own live lease is renewed, its token kept. Any other is taken over once it has expired, or when
        its expiry lies further ahead than a lease can last (a clock was set back); the token then grows by one.
        """

    @abc.abstractmethod
    def lease_untidy(self, holder: str, seconds: float, epoch: int, crowd: int) -> Lease | None:
        """A lease on a survey that nobody holds and whose small segments reveal when few people answered.

        Small is below `crowd` reports. One that is not the only segment of its epoch reveals it, once that epoch is
        over (before `epoch`, or its survey sealed); until then more reports may come to it.
        """

    @abc.abstractmethod
    def lease_survey(self, holder: str, seconds: float, survey_id: str) -> Lease | None:
        """A lease on this survey, if nobody holds it."""

    @abc.abstractmethod
    def release(self, lease: Lease) -> None:
        """End a lease at once; one that has expired is left alone."""

    @abc.abstractmethod
    def take(self, lease: Lease, most: int) -> list[Waiting]:
        """Waiting reports of the lease's survey, about `most` of them (at least one entry if there is any)."""

    @abc.abstractmethod
    def settle(
        self,
        lease: Lease,
        taken: Sequence[Waiting],
        segments: Sequence[NewSegment],
        checkpoint: Checkpoint | None = None,
    ) -> bool:
        """Forget `taken`, keep `segments`, and mark all segments as in a given checkpoint, in one transaction.

        False, and nothing changed, when the lease is stale, its survey is deleted, or something taken is gone.
        """

    @abc.abstractmethod
    def compact(self, lease: Lease, old: Sequence[int], merged: NewSegment) -> bool:
        """Replace segments by `merged`, which holds the same reports, in one transaction; False as for `settle`.

        The old ones must be of one epoch, and all or none of them checkpointed.
        """

    @abc.abstractmethod
    def hand_in(self, survey_id: str, checkpoint: Checkpoint) -> bool:
        """Keep counts that were made elsewhere from all reports of a survey, as its checkpoint.

        False, and nothing changed, unless the survey is sealed and none of its reports waits. `StoreError` when they
        are of another number of reports than its segments hold.
        """

    # --- object storage ---------------------------------------------------------------------

    objects: ObjectStorage | None = None
    """The storage of segments that the database only names."""

    @abc.abstractmethod
    def ended(self, epoch: int, crowd: int) -> list[tuple[str, int]]:
        """Surveys and epochs whose segments can move to object storage, oldest first.

        An epoch can once it is over (before `epoch`, or its survey sealed), none of its reports waits, and no segment
        below `crowd` is to join another. A survey whose segments somebody is just moving is left out.
        """

    @abc.abstractmethod
    def note_object(self, record: ObjectRecord, seconds: float) -> bool:
        """Keep the name of an object before it is written, to remove it if it is not in use after this many seconds.

        False, and nothing changed, when its survey is deleted, or somebody is just moving segments of it.
        """

    @abc.abstractmethod
    def move(self, name: str, old: Sequence[int]) -> bool:
        """Replace segments by one that names the object, which holds their reports, in one transaction.

        They must be of one epoch, and all or none of them checkpointed. False, and nothing changed, when one of them,
        the survey or the object is gone.
        """

    @abc.abstractmethod
    def objects_due(self, most: int) -> list[str]:
        """Names of objects to be removed, which from now on nothing can use; those of deleted surveys too."""

    @abc.abstractmethod
    def drop_object(self, name: str) -> None:
        """Let an object that will not be used be removed at once."""

    @abc.abstractmethod
    def forget_object(self, name: str) -> None:
        """Forget the name of an object that was removed."""

    @abc.abstractmethod
    def object_lengths(self) -> Iterator[tuple[str, int]]:
        """Name and length of every object in use."""

    # --- what has been counted --------------------------------------------------------------

    @abc.abstractmethod
    def snapshot(self, survey_id: str) -> Snapshot:
        """One consistent view of a survey's counted reports."""

    @abc.abstractmethod
    def segments(self, survey_id: str, after: int = -1) -> list[SegmentInfo]:
        """Its segments with numbers above `after`, in order. Numbers grow: a later segment has a larger one."""

    @abc.abstractmethod
    def read_segments(self, survey_id: str, after: int = -1) -> Iterator[Segment]:
        """Its segments with their reports, one after the other, so that memory stays bounded."""

    # --- tokens -----------------------------------------------------------------------------

    @abc.abstractmethod
    def add_token(self, record: TokenRecord) -> None:
        """Keep a token's hash."""

    @abc.abstractmethod
    def token(self, token_id: str) -> TokenRecord | None:
        """The token of that id, revoked or not."""

    @abc.abstractmethod
    def tokens(self) -> list[TokenRecord]:
        """All of them."""

    @abc.abstractmethod
    def revoke_token(self, token_id: str) -> bool:
        """Revoke a token; returns whether it exists."""


class StoreSettings(Protocol):
    """The settings of a service that concern its store."""

    @property
    def database(self) -> str:
        """The `database` of `open_store`."""

    @property
    def data(self) -> Path:
        """The `data` of `open_store`."""

    @property
    def max_database_bytes(self) -> int:
        """The `max_bytes` of `open_store`."""

    @property
    def reserve_bytes(self) -> int:
        """The `reserve_bytes` of `open_store`."""

    @property
    def objects(self) -> str:
        """The `objects` of `open_store`."""
