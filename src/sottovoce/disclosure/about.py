"""What a survey cannot know about its own use: who asks, what for, where, and for how long reports are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, Final, Self, final

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import MAX_PEOPLE, check_integer
from sottovoce.surveys.statement import parse_json

__all__ = ["CURATOR_TYPES", "SECTORS", "About"]

CURATOR_TYPES: Final = ("Government", "Industry", "Nonprofit")
"""Types of curators, by the registry of deployments."""

SECTORS: Final = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""Sectors, by the registry of deployments."""

_LONGEST: Final = 2000
_MOST_LINKS: Final = 20
_LARGEST_FILE: Final = 2**20
_LINK: Final = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/?#@!$&*+,;=%:()-]*)?", re.ASCII)


@final
@dataclass(frozen=True)
class About:
    """What only those who ask can say; everything is optional, and what is left out is "not claimed" on the page.

    Attributes
    ----------
    curator, curator_type
        Who publishes the estimates; one of `CURATOR_TYPES`.
    contact
        Whom a reviewer asks: an address, or a page.
    purpose
        The use of the estimates.
    description
        The published results, in a few sentences.
    region, sector
        Where the people live or which law applies; one of `SECTORS`.
    publication_date
        The day of the first publication, as YYYY-MM-DD.
    people
        About how many people are asked; utility is stated for this number.
    unprotected
        What is published beside the estimates without any noise.
    retention
        For how long reports are kept, and who deletes them.
    justification
        Why this epsilon, and how it was decided.
    tuning
        What was looked at before the survey was designed, and whether that cost privacy.
    authors
        Who filled this in.
    links
        Addresses with more to read.

    Examples
    --------
    >>> About.of({"curator": "City of Utrecht", "purpose": "planning bus lines"}).curator
    'City of Utrecht'
    >>> About.of({"curater": "City of Utrecht"})
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: about has an unknown field 'curater'; allowed: curator, ...
    """

    curator: str = ""
    curator_type: str = ""
    contact: str = ""
    purpose: str = ""
    description: str = ""
    region: str = ""
    sector: str = ""
    publication_date: str = ""
    people: int | None = None
    unprotected: str = ""
    retention: str = ""
    justification: str = ""
    tuning: str = ""
    authors: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in _TEXTS:
            _check_line(name, getattr(self, name))
        for name, allowed in (("curator_type", CURATOR_TYPES), ("sector", SECTORS)):
            if getattr(self, name) not in ("", *allowed):
                raise SurveyError(f"{name} must be one of {', '.join(allowed)}, or left out").at(name)
        if self.publication_date and not _is_day(self.publication_date):
            raise SurveyError("publication_date must be a day written as YYYY-MM-DD, for example 2027-01-31").at(
                "publication_date"
            )
        if self.people is not None:
            object.__setattr__(self, "people", check_integer("people", self.people, 1, MAX_PEOPLE))
        for name in ("authors", "links"):
            object.__setattr__(self, name, _check_list(name, getattr(self, name)))
        wrong = next((number for number, link in enumerate(self.links, 1) if not _LINK.fullmatch(link)), None)
        if wrong is not None:
            raise SurveyError(
                f"link {wrong} of links is not an address; allowed: http:// or https://, a host, and a path without "
                "spaces and quotation marks"
            ).at("links")

    @classmethod
    def of(cls, given: object) -> Self:
        """Read these facts from a mapping; unknown fields are refused by name."""
        if not isinstance(given, Mapping):
            raise SurveyError('about must be an object of fields, for example {"curator": "City of Utrecht"}').at(
                "about"
            )
        known = [field.name for field in fields(cls)]
        unknown = next((name for name in given if name not in known), None)
        if unknown is not None:
            shown = str(unknown)[:60]
            raise SurveyError(f"about has an unknown field {shown!r}; allowed: {', '.join(known)}").at("about")
        named: dict[str, Any] = dict(given)
        return cls(**named)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read these facts from a file of JSON."""
        try:
            with path.open("rb") as file:
                text = file.read(_LARGEST_FILE + 1)
        except OSError as error:
            problem = error.strerror or "it cannot be read"
            raise SurveyError(f"{str(path)!r} cannot be read: {problem}; name a file of JSON").at("about") from None
        if len(text) > _LARGEST_FILE:
            raise SurveyError(f"{str(path)!r} is longer than {_LARGEST_FILE:,} bytes: name a file of JSON").at("about")
        try:
            return cls.of(parse_json(text))
        except SurveyError as error:
            error.args = (f"in {str(path)!r}: {str(error).replace('the survey is', 'it is')}",)
            raise


_TEXTS: Final = tuple(field.name for field in fields(About) if field.type == "str")


def _check_line(name: str, text: object) -> None:
    if not isinstance(text, str) or len(text) > _LONGEST or not text.isprintable():
        raise SurveyError(f"{name} must be one line of printable text, at most {_LONGEST:,} characters").at(name)


def _check_list(name: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or len(given) > _MOST_LINKS:
        raise SurveyError(f"{name} must be a list of at most {_MOST_LINKS} texts").at(name)
    for index, text in enumerate(given):
        _check_line(f"{name}[{index}]", text)
    return tuple(given)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
