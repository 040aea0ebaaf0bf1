"""`sv.disclose`: every kind of survey has a page, and its numbers are those of their homes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import sottovoce as sv
from disclosure.kinds import RELAY, of_every_kind
from foreign import install
from refusing import refuses
from sottovoce.core.errors import MechanismError, MismatchError, SurveyError
from sottovoce.core.limits import DEFAULT_BUDGET, DEFAULT_CAP
from sottovoce.core.signing import fingerprint
from sottovoce.disclosure import About, Disclosure, PlaceInLog, UnreadSurvey, read_survey
from sottovoce.disclosure.brief import asked_survey
from sottovoce.disclosure.not_covered import GAPS
from sottovoce.disclosure.randomizer import DOCUMENTS
from sottovoce.disclosure.registry import FIELDS, PARTS
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.questions import QUESTIONS

ROOT = Path(__file__).parents[2]
KINDS = list(of_every_kind())
SCHEMA = ROOT / "src" / "sottovoce" / "disclosure" / "disclosure.schema.json"
SAID = {"curator": "City of Utrecht", "curator_type": "Government", "purpose": "planning bus lines", "people": 100_000}


@pytest.fixture(scope="module")
def schema() -> Any:
    return jsonschema_rs.validator_for(json.loads(SCHEMA.read_text(encoding="utf-8")))


def page_of(name: str, **others: Any) -> Disclosure:
    return sv.disclose(of_every_kind()[name], **{"audit": "none", **others})


def values(page: Disclosure, chapter: str) -> dict[str, Any]:
    return {one.name: one.value for one in page[chapter].claims}


# --- every kind -----------------------------------------------------------------------------------


def test_every_kind_of_question_is_among_the_surveys() -> None:
    asked = {asked_survey(survey).question.kind for survey in of_every_kind().values()}
    assert asked == set(QUESTIONS)


@pytest.mark.parametrize("name", KINDS)
def test_a_page_of_every_kind_is_complete_and_fits_the_schema(name: str, schema: Any) -> None:
    page = page_of(name)
    assert (page.standing, page.faults) == ("complete", {})
    page.check()
    schema.validate(json.loads(page.to_json()))
    for kind in ("html", "markdown"):
        shown = page.render(kind)
        assert of_every_kind()[name].id in shown
        assert "not audited here" in shown


@pytest.mark.parametrize("name", KINDS)
def test_the_numbers_are_those_of_their_homes(name: str) -> None:
    survey = of_every_kind()[name]
    asked = asked_survey(survey)
    page = page_of(name)
    found = values(page, "guarantee")
    assert (found["local_epsilon"], found["delta"]) == (survey.epsilon, survey.delta)
    assert found["exact_epsilon"] == getattr(asked.mechanism, "exact_epsilon", None)
    assert found["lifetime_loss"] == DEFAULT_BUDGET
    assert ("above_cap" in found) == (survey.epsilon > DEFAULT_CAP)
    mechanism = values(page, "mechanism")
    assert (mechanism["name"], mechanism["report"]) == (asked.mechanism.name, asked.mechanism.report_bytes)
    versions = values(page, "versions")
    assert (versions["id"], versions["statement_bytes"]) == (survey.id, len(survey.canonical))
    assert versions["package"] == sv.__version__
    assert [versions[f"attachment_{n}"] for n, _ in enumerate(survey.attachments, 1)] == list(survey.attachments)


@pytest.mark.parametrize("name", [name for name in KINDS if asked_survey(of_every_kind()[name]).relay is not None])
def test_central_numbers_are_those_of_the_certificate(name: str) -> None:
    survey = of_every_kind()[name]
    certificate = survey.amplified()
    page = page_of(name)
    found = values(page, "guarantee")
    assert (found["central_epsilon"], found["central_delta"]) == (certificate.epsilon, certificate.delta)
    assert found["central_batch"] == certificate.n == RELAY.least
    assert page["guarantee"]["central_assumption"].text == certificate.assumption
    assert page.headline.lower().startswith(str(certificate).lower().partition(", 1,000 of them")[0])
    assert page["who_sees"]["relay"].value == RELAY.url
    assert page["registry"]["deployment/deployment_model/model_name"].value == "Shuffle"


def test_without_a_relay_nothing_central_is_claimed() -> None:
    page = page_of("shares")
    central = [one for one in page["guarantee"].claims if one.name.startswith("central_")]
    assert {one.state for one in central} == {"not claimed"}
    assert {one.name for one in central} == {f"central_{end}" for end in ("epsilon", "delta", "batch", "assumption")}
    assert page["registry"]["deployment/deployment_model/model_name"].value == "Local"


def test_what_a_survey_costs_over_its_life() -> None:
    renewed, kinds = of_every_kind()["renewed"], of_every_kind()
    year, four, endless = (page_of(name)["guarantee"] for name in ("tracking", "renewed", "endless"))
    assert (year["survey_loss"].text, year["survey_loss"].value) == ("Epsilon 1 for all 52 weeks together.", 1.0)
    assert (four["survey_loss"].text, four["survey_loss"].value) == (
        "Epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks, and epsilon 4 over all 52 weeks.",
        4.0,
    )
    together = sv.compose(renewed.amplified(), delta=RELAY.delta, times=4)
    assert four["central_survey_loss"].value == together.epsilon
    assert year["central_survey_loss"].value == kinds["tracking"].amplified().epsilon
    assert endless["survey_loss"].value is None
    assert "adds up without an end" in endless["survey_loss"].text
    assert endless["central_survey_loss"].state == "not claimed"


def test_the_unit_fits_the_kind() -> None:
    units = {name: page_of(name)["guarantee"]["unit"].text for name in KINDS}
    assert "whole set of options" in units["choices"]
    assert "all fields of a person's record" in units["records"]
    assert "over all 3 rounds" in units["round"]
    assert "whole history over all 52 weeks" in units["tracking"]
    assert units["tracking"] == units["period"]
    assert "one window: their history within 13 weeks" in units["renewed"]
    assert page_of("renewed")["registry"]["deployment/privacy_loss/privacy_unit"].text.startswith("Person-window-level")


# --- the audit ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["shares", "tracking", "round"])
def test_the_audit_is_the_real_one(name: str) -> None:
    told: list[int] = []
    page = page_of(name, audit="quick", progress=told.append)
    found, asked = values(page, "audit"), asked_survey(of_every_kind()[name])
    assert (found["verdict"], found["subject"]) == ("proved", asked.id)
    assert sum(told) > 1000
    assert found["when"] == values(page, "versions")["made"]
    assert "up to 3 processor seconds" in page["audit"]["budget"].text
    assert page.headline.startswith("Local epsilon 1")
    assert page.headline.endswith(". The audit's verdict: proved.")
    assert values(page, "guarantee")["exact_epsilon"] == asked.mechanism.exact_epsilon


def test_a_result_can_be_given_if_it_is_of_this_survey(schema: Any) -> None:
    survey = of_every_kind()["approximate"]
    result = sv.audit(survey, samples=100, seconds=0.5)
    page = sv.disclose(survey, audit=result)
    found = values(page, "audit")
    assert (found["verdict"], found["fault_size"]) == (result.verdict, result.fault_size)
    assert found["lower_bound"] == result.certified_lower_bound
    assert values(page, "guarantee")["exact_epsilon"] == result.exact_epsilon
    assert page["guarantee"]["exact_epsilon"].text.startswith("at most ")
    assert page["audit"]["when"].text == "not recorded"
    schema.validate(json.loads(page.to_json()))
    with refuses(MismatchError, "audit"):
        sv.disclose(of_every_kind()["shares"], audit=result)
    with refuses(MismatchError, "audit"):
        sv.disclose(survey, audit=sv.audit("randomized_response", samples=100))


def test_other_words_for_the_audit_are_refused() -> None:
    with refuses(SurveyError, "audit"):
        sv.disclose(of_every_kind()["shares"], audit="some")  # type: ignore[arg-type]


@pytest.fixture
def truthful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that draws as it should, and then sends the truth."""

    def send(self: Any, value: int, source: Any) -> int:
        source.bernoulli(self._levels.threshold)
        source.below(self.domain_size - 1)
        return value

    monkeypatch.setattr(RandomizedResponse, "_randomize", send)


@pytest.mark.usefixtures("truthful")
def test_a_broken_device_has_no_page_that_looks_fine(schema: Any) -> None:
    survey = of_every_kind()["shuffled"]
    with pytest.raises(MechanismError, match="the audit found it broken"):
        sv.disclose(survey)
    page = sv.disclose(survey, partial=True)
    assert page.standing == "broken"
    assert page.headline.startswith("BROKEN. Do not deploy")
    schema.validate(json.loads(page.to_json()))
    assert values(page, "audit")["verdict"] == "broken"
    unstated = {one.name for one in page["guarantee"].claims if one.state == "cannot be stated"}
    assert {"local_epsilon", "exact_epsilon", "delta", "central_epsilon", "trust", "survey_loss"} <= unstated
    assert page["mechanism"]["arithmetic"].state == "cannot be stated"
    for name in ("epsilon", "algorithms", "security", "collection", "trust_model", "floating_point"):
        assert page["nist"][name].state == "cannot be stated", name
    for field in ("epsilon", "delta"):
        assert page["registry"][f"deployment/privacy_loss/privacy_parameters/{field}"].value is None
    assert '<p class="headline broken">BROKEN' in page.to_html()
    assert "**BROKEN" in page.to_markdown()
    assert "privacy_parameters" not in page.registry_entry()["deployment"]["privacy_loss"]


# --- what cannot be stated ------------------------------------------------------------------------


def unknown_mechanism() -> Any:
    return read_survey(of_every_kind()["shuffled"].to_json().replace("randomized_response", "nobody_knows"))


def unknown_question() -> Any:
    return read_survey(of_every_kind()["shares"].to_json().replace('"shares"', '"feelings"'))


def relay_without_certificate() -> Any:
    stated = of_every_kind()["approximate"].to_statement() | {"relay": RELAY.to_statement()}
    return read_survey(json.dumps(stated))


def panel() -> Any:
    return of_every_kind()["round"].seat.panel


@pytest.mark.parametrize(
    ("survey", "reason", "parts"),
    [
        (unknown_mechanism, "no mechanism for values is named 'nobody_knows'", "mechanism.name central_epsilon"),
        (unknown_question, "kind must be one of shares", "asked.kind guarantee.unit"),
        (relay_without_certificate, "certificate exists for pure epsilon-LDP only", "guarantee.central_epsilon"),
        (panel, "a panel asks nothing itself", "guarantee.exact_epsilon mechanism.name audit.verdict"),
    ],
)
def test_what_cannot_be_stated_is_refused_by_name_or_marked(survey: Any, reason: str, parts: str, schema: Any) -> None:
    with pytest.raises(SurveyError) as refused:
        sv.disclose(survey(), audit="none")
    for said in (reason, *parts.split(), "--partial"):
        assert said in str(refused.value)
    page = sv.disclose(survey(), audit="none", partial=True)
    assert page.standing == "partial"
    assert page.headline.startswith("INCOMPLETE")
    schema.validate(found := json.loads(page.to_json()))
    assert found["cannot_be_stated"] == list(page.faults)
    assert "<b>cannot be stated</b>: " in page.to_html()
    assert "**cannot be stated**: " in page.to_markdown()


def test_what_a_survey_says_of_itself_is_no_statement() -> None:
    found = unknown_mechanism()
    assert isinstance(found, UnreadSurvey)
    assert (found.mechanism_name, found.kind, found.states_relay) == ("nobody_knows", "shares", True)
    epsilon = sv.disclose(found, partial=True)["guarantee"]["local_epsilon"]
    assert (epsilon.state, epsilon.value) == ("cannot be stated", None)
    assert epsilon.text.startswith("the survey says 1, but ")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2, "epsilon": NaN}', '{"format": 3}', '{"format": 2, "n": 1e999}']
)
def test_what_is_no_survey_at_all_is_refused(text: str) -> None:
    with pytest.raises(SurveyError):
        read_survey(text)


@pytest.mark.parametrize(
    "stated",
    [
        {"title": 7, "question": [], "design": "x", "epsilon": "1"},
        {"title": "a\nb", "question": {"kind": 3}, "design": {"mechanism": {"name": "<b>"}}, "epsilon": True},
        {"title": "x" * 500, "question": {"kind": "\u202e"}, "design": {"mechanism": []}, "delta": 1},
    ],
)
def test_odd_statements_are_shown_without_harm(stated: dict[str, Any], schema: Any) -> None:
    page = sv.disclose(read_survey(json.dumps({"format": 2, **stated})), partial=True)
    assert (page.standing, page.title) == ("partial", "")
    schema.validate(json.loads(page.to_json()))
    assert "<b>" not in page.to_html().replace("<b>cannot be stated</b>", "").replace("<b>not claimed</b>", "")


def test_only_surveys_are_disclosed() -> None:
    with refuses(SurveyError, "survey"):
        sv.disclose("survey.json")  # type: ignore[arg-type]


def test_a_mechanism_of_another_package_needs_its_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = install(tmp_path, monkeypatch, name="lazy_response")
    survey = sv.Survey(sv.shares(["a", "b", "c"]), epsilon=1.0, mechanism="lazy_response")
    with pytest.raises(
        SurveyError, match=r"lazy_response is of another package.*guarantee\.local_epsilon.*audit\.verdict"
    ):
        sv.disclose(survey, audit="none")
    unaudited = sv.disclose(survey, audit="none", partial=True)
    assert {"audit.verdict", "guarantee.local_epsilon", "guarantee.exact_epsilon"} <= unaudited.faults.keys()
    assert unaudited["nist"]["collection"].state == "cannot be stated"
    page = sv.disclose(survey)
    assert (page.standing, page["audit"]["verdict"].value) == ("complete", "proved")
    assert page["mechanism"]["origin"].value == module
    assert "not malice" in page["not_covered"]["foreign_code"].text
    assert page["nist"]["timing"].state == "not claimed"


# --- forms, sentences, documents ------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_every_field_of_the_registry_and_every_part_of_the_guidelines_is_there(name: str) -> None:
    page = page_of(name)
    assert [one.name for one in page["registry"].claims] == list(FIELDS)
    assert [one.name for one in page["nist"].claims] == list(PARTS)


def test_what_is_said_about_a_survey_fills_the_registry() -> None:
    page = page_of("shares", about=SAID)
    field = page["registry"]
    assert field["deployment/basic/data_curators"].text == "City of Utrecht (Government)"
    assert field["deployment/basic/intended_use"].text == "planning bus lines"
    assert field["deployment/basic/data_product_region"].state == "not claimed"
    margin = of_every_kind()["shares"].design.margin(100_000)
    assert field["deployment/implementation/utility"].value == margin == page["nist"]["utility"].value
    entry = page.registry_entry()["deployment"]
    assert entry["basic"] == {
        "name": "Drinks",
        "data_curators": [{"data_curator_name": "City of Utrecht", "data_curator_type": "Government"}],
        "intended_use": "planning bus lines",
        "data_product_type": "Summary statistics",
    }
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 0.0}
    assert entry["privacy_loss"]["number_of_privacy_units"] == 100_000
    assert entry["dp_variant"]["variant_name"] == "Pure DP"
    assert page_of("approximate").registry_entry()["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"


def plain(page: str) -> str:
    """A page's sentences, without marks of emphasis and code, quotation and breaks of lines."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return " ".join(line.lstrip("> ").replace("**", "").replace("*", "").replace("`", "") for line in text.splitlines())


@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.name)
def test_what_is_not_covered_stands_in_the_threat_model_word_by_word(gap: Any) -> None:
    page, _, place = gap.page.partition("#")
    assert gap.text in " ".join(plain(page).split())
    headings = [line.lstrip("# ").lower() for line in (ROOT / page).read_text().splitlines() if line.startswith("#")]
    assert not place or place in {heading.replace(" ", "-") for heading in headings}


def evidence() -> Iterator[str]:
    for name in KINDS:
        for chapter in page_of(name).chapters:
            yield from (one.evidence for one in chapter.claims if one.evidence)


def test_evidence_leads_somewhere() -> None:
    for place in sorted({*evidence(), *DOCUMENTS.values()}):
        path, _, heading = place.partition("#")
        text = (ROOT / path).read_text(encoding="utf-8")
        found = {line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")}
        assert not heading or heading in found, place


def test_every_mechanism_has_its_document() -> None:
    assert set(DOCUMENTS) == set(MECHANISMS)
    for name, page in DOCUMENTS.items():
        assert f"`{name}`" in (ROOT / page).read_text(encoding="utf-8"), name


def test_key_and_log_are_stated_if_they_are_given(schema: Any) -> None:
    log = PlaceInLog(index=3, tree_size=10, root="ab" * 32)
    page = page_of("shares", key=bytes(32), log=log)
    found = values(page, "versions")
    assert (found["key"], found["log"]) == (fingerprint(bytes(32)), "ab" * 32)
    told = json.loads(page.to_json())
    schema.validate(told)
    assert told["log"] == {"index": 3, "tree_size": 10, "root": "ab" * 32}
    assert page_of("shares").to_dict()["log"] is None


@pytest.mark.parametrize(
    ("given", "field"), [((10, 10, "ab" * 32), "index"), ((0, 0, "ab" * 32), "tree_size"), ((0, 1, "AB" * 32), "root")]
)
def test_a_place_in_a_log_is_checked(given: tuple[Any, ...], field: str) -> None:
    with refuses(SurveyError, field):
        PlaceInLog(*given)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ([], "about"),
        ({"curater": "x"}, "about"),
        ({"curator": 7}, "curator"),
        ({"curator": "a\nb"}, "curator"),
        ({"purpose": "x" * 2001}, "purpose"),
        ({"curator_type": "Club"}, "curator_type"),
        ({"sector": "Sports"}, "sector"),
        ({"publication_date": "31.1.2027"}, "publication_date"),
        ({"people": 0}, "people"),
        ({"people": True}, "people"),
        ({"links": "https://example.org"}, "links"),
        ({"links": ["https://example.org", "javascript:alert(1)"]}, "links"),
        ({"links": ['https://example.org/"onclick="x']}, "links"),
        ({"authors": [3]}, "authors[0]"),
    ],
)
def test_what_is_said_about_a_survey_is_checked(given: Any, field: str) -> None:
    with refuses(SurveyError, field):
        About.of(given)


@pytest.mark.parametrize("epsilon", [0.1234564, 1.2345644, 0.1 + 0.2, 7.00000049])
def test_no_digit_of_a_stated_epsilon_is_rounded_away(epsilon: float) -> None:
    page = sv.disclose(sv.Survey(sv.shares(["yes", "no"]), epsilon=epsilon), audit="none")
    shown = str(page["guarantee"]["local_epsilon"].text).split(":")[0].removeprefix("epsilon ")
    assert float(shown) == epsilon
    assert f"at most e^{shown} times" in page["guarantee"]["local_epsilon"].text
    assert page["guarantee"]["survey_loss"].text.startswith(f"epsilon {shown}.")
    assert page.headline.startswith(f"Local epsilon {shown}.")


def test_what_is_proved_is_never_rounded_to_more() -> None:
    survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    result = replace(sv.audit(survey, samples=100, seconds=0.1), certified_lower_bound=0.123457, fault_size=0.0012344)
    audit = sv.disclose(survey, audit=result)["audit"]
    assert "at least 0.1234 " in audit["lower_bound"].text
    assert "more than 0.00124 " in audit["fault_size"].text


def test_servers_that_draw_reports_are_not_passed_over() -> None:
    assert "it has seen them" in page_of("shares")["not_covered"]["server"].text
    for name, survey in of_every_kind().items():
        once = isinstance(survey, sv.Survey) and survey.relay is None and survey.seat is None and survey.period is None
        assert ("server" in values(page_of(name), "not_covered")) == once, name
    assert "no original data outside devices" not in page_of("shares")["nist"]["security"].text
