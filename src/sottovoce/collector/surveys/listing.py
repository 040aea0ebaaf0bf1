"""The list of surveys as pages of JSON; only changed pages are made anew."""

from __future__ import annotations

import threading
from typing import Final, final

import msgspec

from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import SurveyRecord, SurveyState
from sottovoce.protocol.surveys import SurveyEntry, Surveys

__all__ = ["PAGE_SURVEYS", "SurveyList"]

PAGE_SURVEYS: Final = 1000
"""Surveys on a page."""

_FEW: Final = 32
"""Up to this many new surveys are read one by one; more are read with all the others."""


@final
class SurveyList:
    """The surveys of a store that are open or sealed, oldest first; for several threads."""

    def __init__(self, store: Store):
        self._store = store
        self._lock = threading.Lock()
        self._standing: list[tuple[str, SurveyState]] = []
        self._entries: dict[str, SurveyEntry] = {}
        self._pages: dict[int, bytes] = {}

    def refresh(self) -> int:
        """Look what has changed; how many surveys there are."""
        with self._lock:
            standing = self._store.standing()
            if standing != self._standing:
                self._read({survey_id for survey_id, _ in standing} - self._entries.keys())
                known = [(survey_id, state) for survey_id, state in standing if survey_id in self._entries]
                self._entries = {
                    survey_id: msgspec.structs.replace(self._entries[survey_id], state=state)
                    for survey_id, state in known
                }
                self._standing, self._pages = known, {}
            return len(self._standing)

    def page(self, number: int) -> bytes:
        """A page as it was at the last look."""
        with self._lock:
            if number not in self._pages:
                shown = [survey_id for survey_id, _ in self._standing[(number - 1) * PAGE_SURVEYS :][:PAGE_SURVEYS]]
                pages = max(1, -(-len(self._standing) // PAGE_SURVEYS))
                entries = [self._entries[survey_id] for survey_id in shown]
                self._pages[number] = msgspec.json.encode(Surveys(entries, number, pages))
            return self._pages[number]

    def _read(self, new: set[str]) -> None:
        """Statements never change, and are long: each is read once."""
        records = self._store.surveys() if len(new) > _FEW else [self._store.survey(survey_id) for survey_id in new]
        for record in records:
            if record is not None and record.id in new and record.state != "deleted":
                self._entries[record.id] = _entry(record)


def _entry(record: SurveyRecord) -> SurveyEntry:
    return SurveyEntry(record.id, record.title, record.kind, record.epsilon, record.delta, record.state)
