"""A survey as it is stored when it is published: its statement, signed."""

from __future__ import annotations

from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.signing import SigningKey
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["signed_record"]


def signed_record(
    key: SigningKey,
    survey: Survey | Panel | Tracking,
    epoch: int,
    minimum_reports: int,
    parent: str | None = None,
    number: int | None = None,
    labels: tuple[str, ...] = (),
) -> SurveyRecord:
    """The record of a survey, signed now; of a round or period with its parent and number."""
    return SurveyRecord(
        id=survey.id,
        canonical=survey.canonical,
        signature=key.sign(survey.canonical),
        title=survey.title,
        kind=survey.kind,
        epsilon=survey.epsilon,
        minimum_reports=minimum_reports,
        epoch=epoch,
        parent=parent,
        round=number,
        labels=labels,
    )
