"""The cache of one process: surveys, which never change, and results computed from their reports."""

from __future__ import annotations

import threading
from typing import Any, Final, NamedTuple, TypeVar, final

from sottovoce.collector.intake.report_checker import ReportChecker
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.collector.surveys.published import PublishedSurvey, SurveySource, survey_of
from sottovoce.service.http.slow_work import LruCache
from sottovoce.surveys.survey import Survey

__all__ = ["CachedSurvey", "SurveyCache"]

_MOST_SURVEYS: Final = 256
"""One that is not here costs a look into the store and the reading of its statement."""

_MOST_RESULTS: Final = 96
_RESULT_BYTES: Final = 2**28
"""Room for an estimate of a million answers as bytes in two forms."""

P = TypeVar("P")


class CachedSurvey(NamedTuple):
    """A survey, and what checking its reports takes: nothing where its rounds, periods or groups have them."""

    survey: PublishedSurvey
    checker: ReportChecker | None


@final
class SurveyCache:
    """Surveys by id, and what was computed from their reports: estimates, and how pages and files show them.

    A result is valid for a number of counted reports; of each only the latest is stored.

    Parameters
    ----------
    source
        The source of surveys: a `Store`.
    """

    def __init__(self, source: SurveySource, most: int = _MOST_SURVEYS) -> None:
        self.source = source
        self._surveys: LruCache[str, CachedSurvey] = LruCache(most)
        self._results: LruCache[tuple[Any, ...], tuple[int, Any]] = LruCache(_MOST_RESULTS, _RESULT_BYTES)
        self._reading = threading.Lock()

    def __contains__(self, survey_id: str) -> bool:
        return survey_id in self._surveys

    def get(self, survey_id: str) -> CachedSurvey | None:
        """The survey of that id, if it is here."""
        return self._surveys.get(survey_id)

    def load(self, record: SurveyRecord) -> CachedSurvey:
        """The survey behind a record, read from the store where it is not here yet."""
        cached = self._surveys.get(record.id)
        if cached is not None:
            return cached
        with self._reading:  # once, however many devices come at the same moment
            return self._surveys.get(record.id) or self.add(survey_of(self.source, record))

    def add(self, survey: PublishedSurvey) -> CachedSurvey:
        """Store a survey that was read already."""
        checker = ReportChecker(survey) if isinstance(survey, Survey) and survey.takes_reports else None
        return self._surveys.put(survey.id, CachedSurvey(survey, checker))

    def result(self, survey_id: str, n_reports: int, *name: object) -> Any:
        """The result of that name from exactly this many reports; None if it is not held."""
        n, result = self._results.get((survey_id, *name)) or (-1, None)
        return result if n == n_reports else None

    def result_since(self, survey_id: str, n_reports: int, *name: object) -> Any:
        """The result of that name from this many reports or more; None if it is not held."""
        n, result = self._results.get((survey_id, *name)) or (-1, None)
        return result if n >= n_reports else None

    def put_result(self, survey_id: str, n_reports: int, *name: object, result: P, size: int) -> P:
        """Store a result of about `size` bytes."""
        self._results.put((survey_id, *name), (n_reports, result), size)
        return result

    def drop_results(self) -> None:
        """Compute every result anew: the counts of some survey are others, of as many reports."""
        self._results.clear()
