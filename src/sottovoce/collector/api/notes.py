"""What to know before publishing a survey: its cost for devices, people and analysts, and its central guarantee."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from sottovoce.core.limits import DEFAULT_BUDGET, DEFAULT_CAP
from sottovoce.core.words import both_guarantees, plural
from sottovoce.planning.solve import fewest_people
from sottovoce.protocol.surveys import CentralGuarantee
from sottovoce.surveys.amplified import Amplified
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["central_body", "central_of", "notes_of", "people_note"]

_LONG: Final = 1024
"""A report of more bytes is worth a word."""

_USEFUL: Final = 0.05
"""A margin of this part of the answers' range still says something."""

_MOST_PEOPLE: Final = 10**9

_MANY: Final = 2**24
"""An estimate of more answers takes gigabytes."""


def notes_of(survey: Survey | Panel) -> list[str]:
    """What may surprise; empty for a survey without surprises."""
    notes = []
    if survey.epsilon > DEFAULT_CAP:
        notes.append(f"devices refuse epsilon above {DEFAULT_CAP:g} by default, and spend {DEFAULT_BUDGET:g} in all")
    size = survey.mechanism.report_bytes
    if size > _LONG:
        notes.append(f"a report takes {size:,} bytes")
    fetched = sum(map(len, survey.attachments.values()))
    if fetched:
        notes.append(f"every device fetches {fetched:,} bytes besides the survey")
    if isinstance(survey, Panel):
        notes.append(f"each of the {plural(survey.rounds, 'round')} is answered by its share of the people only")
    elif survey.n_answers > _MANY:
        notes.append(f"an estimate of {survey.n_answers:,} answers takes much memory, here and on the page")
    return notes


def people_note(survey: Survey, *, tracked: bool = False) -> str:
    """How many reports, of a period if it is tracked, it takes until the margin of every answer says something."""
    low, high = survey.answer_range
    useful = _USEFUL * float(np.max(high) - np.min(low))
    reports = "reports in a period" if tracked else "reports"
    precision = f"each answer to within {useful:.2g} {survey.question.unit}".rstrip()
    if survey.question.answers_are_shares:
        precision = f"each share to within {100 * useful:g} points"
    design = survey.design
    if design.margin(_MOST_PEOPLE) > useful:
        return f"not even {_MOST_PEOPLE:,} {reports} give {precision} (95 %)"
    enough = fewest_people(lambda n: design.margin(n) <= useful, _MOST_PEOPLE)
    rounded = math.ceil(enough / (unit := 10 ** max(0, len(str(enough)) - 2))) * unit
    return f"about {rounded:,} {reports} give {precision} (95 %)"


def central_of(survey: Survey | Panel | Tracking) -> CentralGuarantee | None:
    """The certificate of the batches that its relay forwards; None for a survey without a relay."""
    if isinstance(survey, Panel) or survey.relay is None:
        return None
    return central_body(survey.amplified(), survey.relay.url)


def central_body(certificate: Amplified, relay: str | None = None) -> CentralGuarantee:
    """A certificate with its assumption and both guarantees in words."""
    return CentralGuarantee(
        local_epsilon=certificate.local_epsilon,
        epsilon=certificate.epsilon,
        lower=certificate.lower,
        delta=certificate.delta,
        least=certificate.n,
        method=certificate.method,
        assumption=certificate.assumption,
        promise=both_guarantees(certificate.local_epsilon, certificate.epsilon, certificate.delta),
        relay=relay,
    )
