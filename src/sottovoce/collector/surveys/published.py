"""Surveys as they are stored: signed when they are published, and read back, checked against their id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeAlias

from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.errors import MismatchError, StoreError, SurveyError
from sottovoce.core.signing import SigningKey
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["PublishedSurvey", "SurveySource", "answerable_of", "signed_record", "survey_of"]

PublishedSurvey: TypeAlias = Survey | Panel | Tracking
"""What can be stored: what people answer, or what has rounds or periods that they answer."""


class SurveySource(Protocol):
    """What reading a survey takes of a store."""

    def survey(self, survey_id: str) -> SurveyRecord | None:
        """The survey of that id, in whatever state."""

    def attachment(self, digest: str) -> bytes | None:
        """What a survey names by this digest."""


class _Attached(Mapping[str, bytes]):
    """A store's attachments as a mapping: only what a statement names is fetched."""

    def __init__(self, source: SurveySource) -> None:
        self._source = source

    def __getitem__(self, digest: str) -> bytes:
        content = self._source.attachment(digest)
        if content is None:
            raise KeyError(digest)
        return content

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def survey_of(source: SurveySource, record: SurveyRecord) -> PublishedSurvey:
    """The survey behind a stored record, with the attachments it names; `StoreError` when this version cannot read it.

    Slow for some surveys: keep what it returns.
    """
    try:
        survey = Survey.from_json(record.canonical, _Attached(source))
    except SurveyError as error:
        raise StoreError(f"survey {record.id[:12]} is in the database and cannot be read: {error}") from error
    if survey.id != record.id:
        raise StoreError(f"survey {record.id[:12]} is damaged in the database: its statement has another id")
    return survey


def answerable_of(source: SurveySource, record: SurveyRecord) -> Survey:
    """The survey of a record that people answer itself; others are refused with `MismatchError`."""
    survey = survey_of(source, record)
    if not isinstance(survey, Survey) or not survey.takes_reports:
        what = "groups" if isinstance(survey, Survey) else "periods" if isinstance(survey, Tracking) else "rounds"
        raise MismatchError(f"survey {record.id[:12]} takes no reports itself; its {what} do")
    return survey


def signed_record(
    key: SigningKey,
    survey: Survey | Panel | Tracking,
    epoch: int,
    minimum_reports: int,
    parent: str | None = None,
    number: int | None = None,
    labels: tuple[str, ...] = (),
) -> SurveyRecord:
    """The record of a survey, signed now, with those of its groups; of a round or period with its parent and number."""
    groups = survey.groups if isinstance(survey, Survey) and not survey.takes_reports else None
    members = [(group.number, survey.in_group(group)) for group in groups or ()] if isinstance(survey, Survey) else []
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
        is_derived=isinstance(survey, Survey) and (survey.period is not None or survey.group is not None),
        groups=tuple(signed_record(key, member, epoch, minimum_reports, survey.id, at) for at, member in members),
    )
