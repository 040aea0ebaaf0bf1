"""A survey that is not what its owner signed is refused on the survey page: nothing is drawn, nothing is sent."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect

import sottovoce as sv
from browser.survey_page import SurveyPage
from browser.visitor import Visitor
from collector.service import Service
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

Envelope = dict[str, Any]
Change = Callable[[Envelope], Envelope]


def statement(**fields: Any) -> Change:
    """Other words of the survey under the old signature and id."""
    return lambda envelope: envelope | {"statement": canonical(json.loads(envelope["statement"]) | fields)}


def renamed(**fields: Any) -> Change:
    """The same, with the id that belongs to the new words."""

    def change(envelope: Envelope) -> Envelope:
        altered = statement(**fields)(envelope)
        return altered | {"id": hashlib.sha256(altered["statement"].encode()).hexdigest()}

    return change


def canonical(words: dict[str, Any]) -> str:
    return json.dumps(words, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def other_signature(envelope: Envelope) -> Envelope:
    first = "B" if envelope["signature"][0] == "A" else "A"
    return envelope | {"signature": first + envelope["signature"][1:]}


def signed_by_another(envelope: Envelope) -> Envelope:
    """Whole in itself; only the key is not the one that this browser knows."""
    key = SigningKey(secrets.token_bytes(32))
    signature = to_base64url(key.sign(envelope["statement"].encode()))
    return envelope | {"key": to_base64url(key.public), "signature": signature}


CHANGES: dict[str, Change] = {
    "signature": other_signature,
    "id": lambda envelope: envelope | {"id": "0" * 64},
    "epsilon": statement(epsilon=1.9),
    "epsilon and id": renamed(epsilon=1.9),
    "mechanism": statement(design={"strategy": "histogram", "mechanism": {"name": "randomized_response"}}),
    "title": statement(title="Something harmless"),
    "radius": statement(question={"kind": "vector", "dimension": 2, "radius": 2}),
}


def survey_for(name: str) -> Survey:
    title = f"Tampered with: {secrets.token_hex(4)}"
    if name == "radius":
        return Survey(sv.vector(2, 1.0), epsilon=1.0, title=title)
    return Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, mechanism="hadamard", title=title)


def changed(change: Change) -> Callable[[Route], None]:
    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json=change(response.json()))

    return answer


def assert_refused(visitor: Visitor, tab: SurveyPage) -> None:
    tab.stops("not what its owner signed")
    expect(tab.page.get_by_text("nothing was sent")).to_be_visible()
    expect(tab.page.get_by_role("radio")).to_have_count(0)
    assert tab.records() == []
    assert visitor.reports_sent() == []


@pytest.mark.parametrize("name", CHANGES)
def test_a_survey_that_was_changed_is_refused(service: Service, visitor: Visitor, name: str) -> None:
    survey = survey_for(name)
    service.publish(survey)
    visitor.context.route(f"**/v1/surveys/{survey.id}", changed(CHANGES[name]))
    assert_refused(visitor, SurveyPage.visit(visitor, survey))


def test_a_survey_left_as_it_is_is_not(service: Service, visitor: Visitor) -> None:
    survey = survey_for("id")
    service.publish(survey)
    visitor.context.route(f"**/v1/surveys/{survey.id}", changed(lambda envelope: envelope))
    SurveyPage.visit(visitor, survey).answer("tea")


def test_another_key_than_the_known_one_is_refused(service: Service, visitor: Visitor) -> None:
    before, later = survey_for("id"), survey_for("id")
    service.publish(before)
    service.publish(later)
    tab = SurveyPage.visit(visitor, before)
    expect(tab.draw_button).to_be_visible()
    visitor.context.route(f"**/v1/surveys/{later.id}", changed(signed_by_another))
    assert_refused(visitor, SurveyPage.visit(visitor, later))


def test_a_survey_changed_between_question_and_draw_is_refused(service: Service, visitor: Visitor) -> None:
    survey = survey_for("id")
    service.publish(survey)
    tab = SurveyPage.visit(visitor, survey)
    tab.choose("tea")
    visitor.context.route(f"**/v1/surveys/{survey.id}", changed(statement(epsilon=1.9)))
    tab.draw_button.click()
    tab.stops("not what its owner signed")
    assert tab.records() == []
    assert visitor.reports_sent() == []
