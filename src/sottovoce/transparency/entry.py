"""One line of the log: what happened to which survey. It says nothing of time, of devices or of reports."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
import rfc8785

from sottovoce.protocol.base import Hex64
from sottovoce.transparency.tree import leaf_hash

__all__ = ["PUBLISHED", "LogEntry", "LogEvent"]

LogEvent: TypeAlias = Literal["published"]

PUBLISHED: Final[LogEvent] = "published"


class LogEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event of a survey."""

    event: Annotated[LogEvent, msgspec.Meta(description="what happened")]
    survey: Annotated[Hex64, msgspec.Meta(description="the survey's id: the SHA-256 of its canonical JSON")]

    @property
    def leaf(self) -> bytes:
        """Its canonical JSON (RFC 8785), which is the content of its leaf.

        Examples
        --------
        >>> LogEntry(PUBLISHED, "ab" * 32).leaf[:33]
        b'{"event":"published","survey":"ab'
        """
        return rfc8785.dumps({"event": self.event, "survey": self.survey})

    @property
    def hash(self) -> bytes:
        """The hash of its leaf."""
        return leaf_hash(self.leaf)
