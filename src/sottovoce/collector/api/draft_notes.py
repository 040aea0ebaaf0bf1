"""What somebody should know before publishing a survey: why this mechanism, and what it asks of devices and people."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Final

import numpy as np

from sottovoce.collector.api.drafting import compared_in_full
from sottovoce.limits import DEFAULT_BUDGET, DEFAULT_CAP, DEFAULT_USERS, MAX_REPORT_BYTES
from sottovoce.mechanisms.binary import Binary
from sottovoce.plural import counted
from sottovoce.protocols.adaptive import AdaptiveSurvey
from sottovoce.protocols.queries import QuerySurvey
from sottovoce.simulation import AnyMechanism
from sottovoce.survey import Survey
from sottovoce.theory.adaptive_planner import error_line
from sottovoce.theory.bound_curve import rare_margin
from sottovoce.theory.offers import QueryOffers, priced
from sottovoce.theory.planner import explain

__all__ = ["explanation_of", "mechanism_of", "notes_of"]

_LONG: Final = 1024
"""A report of more bytes is worth a word."""

_USEFUL: Final = 0.05
"""A 95 % interval of half this width still says something about a share."""

_MOST_PEOPLE: Final = 10**9

_MANY: Final = 2**24
"""An estimate of more answers takes gigabytes."""


def mechanism_of(survey: Survey | AdaptiveSurvey) -> AnyMechanism:
    """What devices answer with; that of a round's question where there are rounds."""
    if isinstance(survey, AdaptiveSurvey):
        return Binary(1, survey.radius, survey.epsilon, 0.0)
    return survey.mechanism


def explanation_of(survey: Survey | AdaptiveSurvey) -> str:
    """Why this mechanism, in a sentence or two."""
    if isinstance(survey, QuerySurvey) and not compared_in_full(survey.workload):
        return _offers(survey)
    if not isinstance(survey, AdaptiveSurvey):
        return f"with {DEFAULT_USERS:,} people, {survey.explain(DEFAULT_USERS)}"
    found = error_line(survey.rounds, survey.radius, survey.epsilon, DEFAULT_USERS)
    return (
        f"everybody draws one of {counted(survey.rounds, 'round')} and answers its question with one bit; with "
        f"{DEFAULT_USERS:,} people the largest error over all rounds stays below {found.bound:.3g}, and is about "
        f"{found.predicted:.3g}"
    )


def _offers(survey: QuerySurvey) -> str:
    """The strategy beside those that can be priced by formulas alone."""
    offers = QueryOffers(survey.workload, MAX_REPORT_BYTES)
    found = priced(offers.at(survey.epsilon, DEFAULT_USERS), DEFAULT_USERS)
    name, left_out = survey.strategy.name, [one for one in offers.left_out() if one != survey.strategy.name]
    known = f"{name} ({survey.strategy.summary})"
    told = explain(found, name) if any(one.name == name for one in found) else known
    return f"with {DEFAULT_USERS:,} people, {told}. Not compared, for it takes a while: {', '.join(left_out)}"


def notes_of(survey: Survey | AdaptiveSurvey) -> list[str]:
    """What may surprise; empty for a survey without surprises."""
    notes = []
    if survey.epsilon > DEFAULT_CAP:
        notes.append(
            f"devices refuse epsilon above {DEFAULT_CAP:g} unless told otherwise, and spend {DEFAULT_BUDGET:g} in all"
        )
    if not survey.title:
        notes.append("it has no title: people are not told what it is about")
    size = mechanism_of(survey).report_bytes
    if size > _LONG:
        notes.append(f"a report takes {size:,} bytes")
    fetched = sum(map(len, survey.attachments.values()))
    if fetched:
        notes.append(f"every device fetches {fetched:,} bytes besides the survey")
    if isinstance(survey, AdaptiveSurvey):
        return [*notes, f"each of the {counted(survey.rounds, 'round')} is answered by its share of the people only"]
    if survey.n_answers > _MANY:
        notes.append(f"an estimate of {survey.n_answers:,} answers takes much memory, here and on the page")
    return [*notes, *_people(survey)]


def _people(survey: Survey) -> list[str]:
    """How many reports it takes until a rare value's interval says something; nothing where answers differ in it."""
    low, high = survey.answer_range
    useful = _USEFUL * float(np.max(high) - np.min(low))
    if math.isnan(rare_margin(survey, 1)):
        return []
    if rare_margin(survey, _MOST_PEOPLE) > useful:
        return [f"not even {_MOST_PEOPLE:,} reports give an answer to within {useful:.2g}"]
    enough = bisect_left(range(1, _MOST_PEOPLE), True, key=lambda n: rare_margin(survey, n) <= useful) + 1
    rounded = math.ceil(enough / (unit := 10 ** max(0, len(str(enough)) - 2))) * unit
    return [f"about {rounded:,} reports give an answer to within {useful:.2g}"]
