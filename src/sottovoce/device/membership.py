"""Whether a value is in a survey's domain, decided in the same time for every value.

An error message can take much longer than the lookup, so it is made only where it is shown; and caches are filled
before the private value is used.
"""

from __future__ import annotations

from sottovoce.core.errors import ValueOutsideDomainError
from sottovoce.domain import Domain
from sottovoce.surveys.survey import Survey

__all__ = ["has", "prepare", "why_not"]


def prepare(survey: Survey) -> None:
    """Fill all caches, with public values."""
    domain = survey.domain
    if domain is None:
        return
    for _, part in Domain.attributes_of(domain):
        # Both kinds of lookup, and the error message, each of which may scan all labels the first time.
        part._find("")
        part._find(0)
        str(part._allowed)


def has(survey: Survey, value: object) -> bool:
    """Whether the value is in the survey's domain."""
    domain = survey.domain
    return not why_not(survey, value) if domain is None else domain._find(value) >= 0


def why_not(survey: Survey, value: object) -> str:
    """Why the value is not in the domain, in a message that does not contain it; empty if it is."""
    try:
        survey.private_input(value)
    except ValueOutsideDomainError as error:
        return str(error)
    return ""
