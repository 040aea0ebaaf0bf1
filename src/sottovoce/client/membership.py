"""Whether a survey has a value, decided by the same work for every value.

An error's words can take a million times longer than the look-up that led to it, so they are found only where
somebody is shown them; and what is computed once and kept is computed before the value is looked at.
"""

from __future__ import annotations

from sottovoce.domain import Domain
from sottovoce.errors import ValueOutsideDomainError
from sottovoce.surveys.survey import Survey

__all__ = ["has", "prepare", "why_not"]


def prepare(survey: Survey) -> None:
    """Build whatever is built once for all values, with values that everybody knows."""
    domain = survey.domain
    if domain is None:
        return
    for _, part in Domain.attributes_of(domain):
        # Both kinds of look-up, and the words of an error, each of which may go through all labels the first time.
        part._find("")
        part._find(0)
        str(part._allowed)


def has(survey: Survey, value: object) -> bool:
    """Whether the survey has that value."""
    domain = survey.domain
    return not why_not(survey, value) if domain is None else domain._find(value) >= 0


def why_not(survey: Survey, value: object) -> str:
    """Why the survey has no such value, in words that do not hold it; empty if it has."""
    try:
        survey.private_input(value)
    except ValueOutsideDomainError as error:
        return str(error)
    return ""
