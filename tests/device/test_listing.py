"""The list of surveys comes in pages: all are followed, each survey is taken once, and never without an end."""

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, as_json, refusal
from refusing import refuses
from sottovoce.core.errors import SignatureError, SurveyError
from sottovoce.device import fetch
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import Http
from sottovoce.surveys.survey import Survey


def listed(*titles: str, pages: int | None) -> Any:
    entries = [{"id": title, "title": title, "kind": "shares", "epsilon": 1.0, "state": "open"} for title in titles]
    return as_json(200, {"surveys": entries} | ({} if pages is None else {"pages": pages}))


def titles_of(played: Played) -> list[str]:
    client = CollectorClient(Http(played.url))
    try:
        return [one.title for one in client.surveys()]
    finally:
        client.close()


def test_every_page_is_read_and_no_survey_twice() -> None:
    with Played() as played:
        played.twists["GET", "/v1/surveys"] = lambda _: listed("a", "b", pages=3)
        played.twists["GET", "?page=2"] = lambda _: listed("b", "c", pages=3)
        played.twists["GET", "?page=3"] = lambda _: listed("d", pages=3)
        assert titles_of(played) == ["a", "b", "c", "d"]


def test_a_collector_without_pages() -> None:
    with Played() as played:
        played.twists["GET", "/v1/surveys"] = lambda _: listed("a", pages=None)
        assert titles_of(played) == ["a"]
        assert len(played.requests) == 1


def test_pages_that_vanish_meanwhile() -> None:
    with Played() as played:
        played.twists["GET", "/v1/surveys"] = lambda _: listed("a", pages=2)
        played.twists["GET", "?page=2"] = lambda _: refusal(404, "no_such_page")
        assert titles_of(played) == ["a"]


def test_a_collector_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_MOST_PAGES", 5)

    def more(handler: BaseHTTPRequestHandler) -> Any:
        return listed(handler.path, pages=10**15)

    with Played() as played:
        played.twists["GET", ""] = more
        assert len(titles_of(played)) == 5


# --- surveys by their names -----------------------------------------------------------------------


def test_a_survey_is_answered_by_its_title_its_id_or_the_beginning_of_it(
    played: Played, device: MakeDevice, survey: Survey
) -> None:
    owner = device()
    assert owner.answer(played.url, "Colours", 7).state == "sent"
    assert owner.find(played.url, survey.id[:8]) == owner.find(played.url, survey.id) == survey.id
    assert owner.is_answered(survey.id)
    played.requests.clear()
    assert owner.answer(played.url, "Colours", 8).drawn is False  # the first answer stands
    assert not any("reports" in path for _, path, *_ in played.requests)


@pytest.mark.parametrize("name", ["", "colours", "Colours ", "0" * 7, "f" * 8])
def test_a_name_that_no_survey_has(played: Played, device: MakeDevice, survey: Survey, name: str) -> None:
    owner = device()
    with refuses(SurveyError, "survey"):
        owner.answer(played.url, name, 7)
    assert len(owner.ledger) == 0


def test_two_surveys_of_one_title_are_told_apart_by_their_ids(
    played: Played, device: MakeDevice, survey: Survey
) -> None:
    other = sv.Survey(sv.shares(3), epsilon=1.0, title="Colours")
    played.publish(other)
    owner = device()
    with pytest.raises(SurveyError, match=other.id) as refused:
        owner.answer(played.url, "Colours", 1)
    assert refused.value.field == "survey"
    assert owner.answer(played.url, other.id, 1).state == "sent"


def test_a_list_that_leads_to_a_survey_of_another_title_is_refused(
    played: Played, device: MakeDevice, survey: Survey
) -> None:
    entry = {"id": survey.id, "title": "Drinks", "kind": "shares", "epsilon": 1.0, "state": "open"}
    played.twists["GET", "/v1/surveys?page=1"] = played.twists["GET", "/v1/surveys"] = lambda _: as_json(
        200, {"surveys": [entry]}
    )
    owner = device()
    with pytest.raises(SignatureError):
        owner.answer(played.url, "Drinks", 7)
    assert len(owner.ledger) == 0
