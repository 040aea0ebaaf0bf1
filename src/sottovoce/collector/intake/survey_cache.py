"""The cache of one process: surveys, which never change, and results computed from their reports."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final, Generic, NamedTuple, TypeVar, final

from sottovoce.collector.intake.report_checker import ReportChecker
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.collector.surveys.published import PublishedSurvey, SurveySource, survey_of
from sottovoce.surveys.survey import Survey

__all__ = ["CachedSurvey", "LruCache", "SurveyCache"]

K = TypeVar("K")
P = TypeVar("P")

_MOST_SURVEYS: Final = 256
"""One that is not here costs a look into the store and the reading of its statement."""

_MOST_RESULTS: Final = 96
_RESULT_BYTES: Final = 2**28
"""Room for an estimate of a million answers as bytes in two forms."""


@final
class LruCache(Generic[K, P]):
    """The results used last, up to a number and a total size; safe to use from several threads.

    Examples
    --------
    >>> cache: LruCache[str, str] = LruCache(most=3, room=10)
    >>> for name, size in (("a", 4), ("b", 4), ("c", 4), ("d", 11)):
    ...     _ = cache.put(name, name.upper(), size)
    >>> [cache.get(name) for name in "abcd"]
    [None, 'B', 'C', None]
    """

    def __init__(self, most: int, room: int = 0):
        self._most = most
        self._room = room
        self._found: OrderedDict[K, tuple[P, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, name: K) -> bool:
        return name in self._found

    def get(self, name: K) -> P | None:
        """The result of that name, if it is here."""
        with self._lock:
            if name not in self._found:
                return None
            self._found.move_to_end(name)
            return self._found[name][0]

    def put(self, name: K, result: P, size: int = 0) -> P:
        """Store a result in place of an earlier one of that name, unless it is larger than all the room.

        Those that were not used for longest are dropped for it.
        """
        with self._lock:
            self._size -= self._found.pop(name, (result, 0))[1]
            if size <= self._room:
                self._found[name] = result, size
                self._size += size
            while len(self._found) > self._most or self._size > self._room:
                self._size -= self._found.popitem(last=False)[1][1]
        return result

    def clear(self) -> None:
        """Drop all of them."""
        with self._lock:
            self._found.clear()
            self._size = 0


class CachedSurvey(NamedTuple):
    """A survey, and what checking its reports takes: nothing where its rounds or periods have them."""

    survey: PublishedSurvey
    checker: ReportChecker | None


@final
class SurveyCache:
    """Surveys by id, and what was computed from their reports: estimates, and how pages and files show them.

    A result is valid for a number of counted reports; of each only the latest is stored.

    Parameters
    ----------
    source
        Where surveys are found: a `Store`.
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
        found = self._surveys.get(record.id)
        if found is not None:
            return found
        with self._reading:  # once, however many devices come at the same moment
            return self._surveys.get(record.id) or self.add(survey_of(self.source, record))

    def add(self, survey: PublishedSurvey) -> CachedSurvey:
        """Store a survey that was read already."""
        checker = ReportChecker(survey) if isinstance(survey, Survey) else None
        return self._surveys.put(survey.id, CachedSurvey(survey, checker))

    def result(self, survey_id: str, n_reports: int, *name: object) -> Any:
        """What was computed under that name from exactly so many reports; None where it is not here."""
        n, found = self._results.get((survey_id, *name)) or (-1, None)
        return found if n == n_reports else None

    def result_since(self, survey_id: str, n_reports: int, *name: object) -> Any:
        """What was computed under that name from so many reports or more; None where it is not here."""
        n, found = self._results.get((survey_id, *name)) or (-1, None)
        return found if n >= n_reports else None

    def put_result(self, survey_id: str, n_reports: int, *name: object, result: P, size: int) -> P:
        """Store a result of about `size` bytes."""
        self._results.put((survey_id, *name), (n_reports, result), size)
        return result

    def drop_results(self) -> None:
        """Compute every result anew: the counts of some survey are others, of as many reports."""
        self._results.clear()
