"""The list of surveys: every page as the store has it now, and each statement read once."""

import json
from typing import Any

import pytest

from collector.records import survey_record
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.collector.surveys import listing as survey_list
from sottovoce.collector.surveys.listing import PAGE_SURVEYS, SurveyList

STATEMENT = b'{"delta":0.25}'


def named(name: str) -> SurveyRecord:
    return survey_record(name, canonical=STATEMENT)


def told(listed: SurveyList, page: int = 1) -> Any:
    listed.refresh()
    return json.loads(listed.page(page))


def test_it_follows_the_store(store: Store) -> None:
    listed = SurveyList(store)
    assert told(listed) == {"surveys": [], "page": 1, "pages": 1}
    first, second = named("first"), named("second")
    store.publish(first, {})
    store.publish(second, {})
    entry = {"id": first.id, "title": "first", "kind": "shares", "epsilon": 1.1, "delta": 0.25, "state": "open"}
    assert told(listed)["surveys"] == [entry, {**entry, "id": second.id, "title": "second"}]
    store.seal(first.id)
    assert told(listed)["surveys"][0] == {**entry, "state": "sealed"}
    store.delete(first.id)
    assert [one["title"] for one in told(listed)["surveys"]] == ["second"]


def test_pages_hold_each_survey_once(store: Store) -> None:
    names = [f"survey {number}" for number in range(2 * PAGE_SURVEYS + 1)]
    with store.write(growing=True) as transaction:  # type: ignore[attr-defined]
        transaction.many(
            "INSERT INTO surveys (id, canonical, signature, title, kind, epsilon, minimum_reports, epoch, labels, "
            "state) VALUES (?, ?, ?, ?, 'shares', 1, 1, 1, '[]', 'open')",
            [(named(name).id, STATEMENT, b"", json.dumps(name)) for name in names],
        )
    listed = SurveyList(store)
    assert listed.refresh() == len(names)
    pages = [told(listed, page) for page in (1, 2, 3)]
    assert [len(page["surveys"]) for page in pages] == [PAGE_SURVEYS, PAGE_SURVEYS, 1]
    assert [(page["page"], page["pages"]) for page in pages] == [(1, 3), (2, 3), (3, 3)]
    assert [one["title"] for page in pages for one in page["surveys"]] == names


def test_statements_are_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.publish(named("first"), {})
    listed = SurveyList(store)
    told(listed)
    read: list[str] = []
    entry_of = survey_list._entry

    def noted(record: SurveyRecord) -> Any:
        read.append(record.title)
        return entry_of(record)

    monkeypatch.setattr(survey_list, "_entry", noted)
    store.publish(named("second"), {})
    store.seal(named("first").id)
    assert [one["state"] for one in told(listed)["surveys"]] == ["sealed", "open"]
    assert read == ["second"]
