"""The record of one claim that was checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """A printed claim beside the figure that is so, at one setting.

    Attributes
    ----------
    found, how
        The figure, and how it was computed.
    stands
        Whether the claim is so.
    expected
        Whether docs/findings.md says that it is.
    """

    where: str
    claim: str
    printed: float
    found: float
    setting: str
    stands: bool
    how: str
    expected: bool

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is that of docs/findings.md."""
        return self.stands == self.expected

    def to_dict(self) -> dict[str, Any]:
        """A row of the table of findings."""
        return asdict(self)
