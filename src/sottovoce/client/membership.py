"""Whether a survey has a value, decided by the same work for every value.

An error's words can take a million times longer than the look-up that led to it, so they are found only where
somebody is shown them; and what is computed once and kept is computed before the value is looked at.
"""

from __future__ import annotations

from sottovoce.domain import Domain
from sottovoce.errors import ValueOutsideDomainError
from sottovoce.protocols.means import MeanSurvey
from sottovoce.protocols.queries import QuerySurvey
from sottovoce.protocols.rounds import Round
from sottovoce.survey import Survey

__all__ = ["has", "prepare", "why_not"]


def prepare(survey: Survey) -> None:
    """Build whatever is built once for all values, with values that everybody knows."""
    domain = _domain(survey)
    if domain is None:
        return
    for _, part in Domain.attributes_of(domain):
        # Both kinds of look-up, and the words of an error, each of which may go through all labels the first time.
        part._find("")
        part._find(0)
        str(part._allowed)


def has(survey: Survey, value: object) -> bool:
    """Whether the survey has that value."""
    domain = _domain(survey)
    return not why_not(survey, value) if domain is None else domain._find(value) >= 0


def why_not(survey: Survey, value: object) -> str:
    """Why the survey has no such value, in words that do not hold it; empty if it has."""
    try:
        survey._private_input(value)
    except ValueOutsideDomainError as error:
        return str(error)
    return ""


def _domain(survey: Survey) -> Domain | None:
    """The domain of the survey's values; None where they are vectors."""
    if isinstance(survey, MeanSurvey):
        return None
    if isinstance(survey, Round):
        return survey.survey.domain
    if isinstance(survey, QuerySurvey):
        return survey.workload.domain
    found = getattr(survey, "domain", None)
    return found if isinstance(found, Domain) else None
