"""What a disclosure is made of: claims, each stated, not claimed, or impossible to state, gathered in chapters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, final

from sottovoce.core.errors import SurveyError

__all__ = ["NOT_CLAIMED", "UNSTATED", "Chapter", "Claim", "Shown", "State", "Value", "not_claimed", "unstated"]

State: TypeAlias = Literal["stated", "not claimed", "cannot be stated"]
"""Said; left open, which a reviewer must ask about; or asked for and impossible to say, a fault of the page."""

NOT_CLAIMED: Final = "not claimed"
UNSTATED: Final = "cannot be stated"

Value: TypeAlias = bool | int | float | str | None


@final
@dataclass(frozen=True)
class Claim:
    """One line of a page.

    Attributes
    ----------
    name
        For programs; unique within its chapter.
    label
        For people.
    text
        The claim in words, or why nothing is claimed; it may be empty.
    value
        The claim as a number or a word, where it is one.
    evidence
        The page of the documentation with more, by its path in the sources.
    """

    name: str
    label: str
    text: str
    value: Value = None
    evidence: str = ""
    state: State = "stated"

    @property
    def words(self) -> str:
        """The text, with its state before it unless it is stated.

        Examples
        --------
        >>> unstated("audit", "Audit", "it was not run").words
        'cannot be stated: it was not run'
        """
        if self.state == "stated":
            return self.text
        return f"{self.state}: {self.text}" if self.text else self.state

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "label": self.label,
            "state": self.state,
            "text": self.text,
            "value": self.value if self.state == "stated" else None,
            "evidence": self.evidence,
        }


def not_claimed(name: str, label: str, why: str = "", evidence: str = "") -> Claim:
    """A claim that is left open, and what the reader may do about it."""
    return Claim(name, label, why, None, evidence, NOT_CLAIMED)


def unstated(name: str, label: str, why: str, evidence: str = "") -> Claim:
    """A claim that should be there, and why it is not."""
    return Claim(name, label, why, None, evidence, UNSTATED)


@final
@dataclass(frozen=True)
class Chapter:
    """Claims under one heading; `note` introduces them."""

    name: str
    title: str
    note: str
    claims: tuple[Claim, ...]

    @classmethod
    def of(cls, name: str, title: str, claims: Iterable[Claim], note: str = "") -> Self:
        """The chapter with these claims, whose names must differ."""
        held = tuple(claims)
        if len({claim.name for claim in held}) < len(held):
            raise SurveyError(f"two claims of the chapter {name!r} have the same name")
        return cls(name, title, note, held)

    def __getitem__(self, name: str) -> Claim:
        return next(claim for claim in self.claims if claim.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the claims by name."""
        return {
            "title": self.title,
            "note": self.note,
            "claims": {claim.name: claim.to_dict() for claim in self.claims},
        }


class Shown(Protocol):
    """What the formats show of a disclosure."""

    @property
    def title(self) -> str:
        """The survey's title, untrusted text."""

    @property
    def survey(self) -> str:
        """The survey's id."""

    @property
    def made(self) -> datetime:
        """The time at which it was written."""

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """What is claimed, in order."""

    @property
    def standing(self) -> str:
        """How complete it is."""

    @property
    def headline(self) -> str:
        """What a reader must know before anything else."""
