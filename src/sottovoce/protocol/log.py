"""The JSON of the log of published surveys: its entries, and the proofs that devices and auditors check."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
import rfc8785
from msgspec import Meta

from sottovoce.protocol.base import Hex64, ResponseStruct

__all__ = [
    *("PUBLISHED", "BlockNumber", "ConsistencyProof", "LogEntries", "LogEntry", "LogEvent", "LogProof", "LogSize"),
    *("Position", "TreeHash"),
]

LogEvent: TypeAlias = Literal["published"]

PUBLISHED: Final[LogEvent] = "published"

TreeHash = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{43}$", description="a SHA-256 in base64url")]
Place = Annotated[int, Meta(ge=0, le=2**53)]
Position = Annotated[Place, Meta(description="a position in the log, from 0")]
LogSize = Annotated[Place, Meta(description="a number of entries")]
BlockNumber = Annotated[int, Meta(ge=0, le=2**45, description="number of whole blocks of 256 entries seen before")]


class LogEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event of a survey."""

    event: Annotated[LogEvent, Meta(description="kind of event")]
    survey: Annotated[Hex64, Meta(description="the survey's id: the SHA-256 of its canonical JSON")]

    @property
    def leaf(self) -> bytes:
        """Its canonical JSON (RFC 8785), which is the content of its leaf.

        Examples
        --------
        >>> LogEntry(PUBLISHED, "ab" * 32).leaf[:33]
        b'{"event":"published","survey":"ab'
        """
        return rfc8785.dumps({"event": self.event, "survey": self.survey})


class LogEntries(ResponseStruct):
    """A part of the log."""

    start: Position
    size: Annotated[int, Meta(ge=0, description="number of entries of the log")]
    entries: list[LogEntry]


class ConsistencyProof(ResponseStruct):
    """A proof that one list begins with the other, by RFC 9162."""

    old: LogSize
    new: LogSize
    proof: list[TreeHash]


class LogProof(msgspec.Struct, frozen=True):
    """A proof that a survey is in the log, and that the log continues what was seen of it."""

    checkpoint: Annotated[str, Meta(description="the signed note of the log's head")]
    position: Annotated[Place, Meta(description="position of the survey in the log, from 0")]
    inclusion: Annotated[list[TreeHash], Meta(description="proof that the survey is at that position")]
    start: Annotated[Place, Meta(description="position at which the block begins")]
    before: Annotated[list[TreeHash], Meta(description="roots of the full subtrees before the block")]
    block: Annotated[list[TreeHash], Meta(description="hashes of the block's leaves, as far as there are any")]
    consistency: Annotated[list[TreeHash], Meta(description="the proof from the block's end to the head")]
