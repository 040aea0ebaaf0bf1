"""Every address of the OpenAPI document against the real service, with bodies good, nearly good and random.

Schemathesis reads the document and knows which requests it allows; what the service answers to these, and to all
others, must be what the document says. In the end exactly what was acknowledged is stored.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.core.media_types import MEDIA_TYPE_STRATEGIES
from schemathesis.engine import StopReason, events, from_schema
from schemathesis.engine.recorder import Interaction

import sottovoce as sv
from collector.service import Service, running
from sottovoce.collector.app import ROUTES
from sottovoce.core.signing import from_base64url
from sottovoce.formats.aggregate_bytes import MEDIA_TYPE, to_bytes
from sottovoce.formats.wire import BATCH_HEADER_BYTES, BATCH_MEDIA_TYPE, REPORT_ID_BYTES, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.key_configuration import KeyConfiguration, read_signed_keys
from sottovoce.oblivious.messages import REQUEST_MEDIA_TYPE, SEALED_MEDIA_TYPE, encode_sealed_batch, seal_request
from sottovoce.questions.shares import Shares
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Prefix

pytestmark = pytest.mark.slow

DRINKS = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
AGES = sv.Panel({"age": range(100), "smokes": ["no", "yes"]}, rounds=3, epsilon=2.0, title="Ages")
FIRST, SECOND, THIRD = (sv.adaptive.round_of(AGES, number, f"age < {10 * number}") for number in (1, 2, 3))
GOALS = Survey(sv.shares(["yes", "no"]), epsilon=1.0, title="Shall it be sealed?")
GONE = Survey(sv.shares(["yes", "no"]), epsilon=1.0, title="Shall it be deleted?")
FRESH = [Survey(sv.shares(["yes", "no"]), epsilon=1.0, title=f"Number {i}") for i in range(3)]
EXPENDABLE = [Survey(sv.shares(["yes", "no"]), epsilon=1.0, title=f"Expendable {i}") for i in range(3)]
ATTACHED = Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="optimized", title="With a strategy")

LABELS = {
    f"{method} {path}": route
    for route in ROUTES
    if not route.is_page
    for path in route.paths
    for method in route.methods
}
STREAMS = {label: route for label, route in LABELS.items() if route.is_stream}

SEALED_REPORTS = 5
PAYLOAD = DRINKS.mechanism.report_bytes
ARMS = Survey(Shares(["yes", "no"]), epsilon=1.0, title="Arms", groups={"arm": ["A", "B"]})
ROW = REPORT_ID_BYTES + len(DRINKS.randomize("tea"))

GOOD: dict[str, list[dict[str, Any]]] = {
    "draft_survey": [{"kind": "shares", "epsilon": 1.0, "title": "Drafted", "parameters": {"labels": ["yes", "no"]}}],
    "draft_question": [{"query": "age < 30"}, {"query": "age < 31"}, {"query": "age < 32"}],
    "weigh": [{"population": {"arm": {"A": 0.5, "B": 0.5}}}],
    "plan_survey": [{"kind": "shares", "parameters": {"values": 10}, "epsilon": 1.0, "people": 1000}],
}
"""Bodies that no generator would find, asked besides those it does."""

COMPARED = {"path.survey_id": "grouped", "query.first": "first arm", "query.second": "second arm"}

STATUSES = {
    # Beyond the shape that a schema can say: 410 for what was deleted, 422 for text that is no survey or no report.
    "positive_data_acceptance": {"expected-statuses": ["2xx", "401", "403", "404", "409", "410", "422"]},
    "negative_data_rejection": {"expected-statuses": ["400", "401", "403", "404", "405", "409", "410", "415", "422"]},
    "missing_required_header": {"expected-statuses": ["401", "415"]},
}


def changed(body: bytes, place: int, bits: int) -> bytes:
    at = place % len(body)
    return body[:at] + bytes([body[at] ^ bits]) + body[at + 1 :]


def cut(body: bytes, end: int) -> bytes:
    return body[: end % len(body)]


def counts() -> st.SearchStrategy[bytes]:
    """Counts of the sealed survey's reports as an engine hands them in, of more or fewer, changed, and no counts."""
    answers = st.lists(st.sampled_from(["yes", "no"]), min_size=4, max_size=6)
    some = answers.map(lambda given: to_bytes(GOALS.aggregate().add([GOALS.randomize(one) for one in given])))
    good = st.just(to_bytes(GOALS.aggregate().add([GOALS.randomize("yes") for _ in range(SEALED_REPORTS)])))
    return st.one_of(good, spoilt(some))


def bodies() -> st.SearchStrategy[bytes]:
    """Batches as devices send them, with their bits and lengths changed, and no batches at all."""
    honest = st.sampled_from([DRINKS.randomize(value) for value in ("tea", "coffee", "water") for _ in range(4)])
    ids = st.binary(min_size=REPORT_ID_BYTES, max_size=REPORT_ID_BYTES)
    good = st.lists(st.tuples(ids, honest), min_size=1, max_size=6).map(lambda rows: encode_batch(DRINKS.id, rows))
    return st.one_of(
        good,
        st.builds(changed, good, st.integers(0, 2**20), st.integers(1, 255)),
        st.builds(cut, good, st.integers(0, 2**20)),
        st.builds(bytes.__add__, good, st.binary(min_size=1, max_size=2 * ROW)),
        st.builds(lambda rows: encode_batch(DRINKS.id, ()) + rows, st.binary(max_size=4 * ROW)),
        st.binary(max_size=200),
    )


def spoilt(good: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes as they should be, with bits and lengths changed, and any."""
    return st.one_of(
        good,
        st.builds(changed, good, st.integers(0, 2**20), st.integers(1, 255)),
        st.builds(cut, good, st.integers(0, 2**20)),
        st.binary(max_size=200),
    )


def requests(key: KeyConfiguration) -> st.SearchStrategy[bytes]:
    """What devices ask for, sealed."""
    asked = [HttpRequest("GET", path) for path in ("/v1/key", f"/v1/surveys/{DRINKS.id}", "/v1/tokens", "/v1/surveys")]
    return spoilt(st.sampled_from([seal_request(key, one).message for one in asked]))


def sealed_batches(key: KeyConfiguration) -> st.SearchStrategy[bytes]:
    """Reports of an open round, of a sealed survey, and other requests, as a relay passes them on."""
    messages = [seal_request(key, HttpRequest("GET", "/v1/key")).message]
    headers = ((b"content-type", BATCH_MEDIA_TYPE.encode()),)
    for survey, value in ((SECOND, (30, "no")), (GOALS, "yes")):
        body = encode_batch(survey.id, [(secrets.token_bytes(16), survey.randomize(value))])
        request = HttpRequest("POST", f"/v1/surveys/{survey.id}/reports", headers=headers, content=body)
        messages.append(seal_request(key, request).message)
    several = st.lists(st.sampled_from(messages), min_size=1, max_size=4)
    return spoilt(several.map(lambda some: encode_sealed_batch(len(some[0]), some)))


@pytest.fixture(autouse=True)
def _batches(service: Service) -> Iterator[None]:
    """Schemathesis knows how to make bodies of our media types, and forgets it again."""
    told = service.ask("GET", "/v1/keys")
    (key,) = read_signed_keys(told.body, from_base64url(told.json["key"]))
    made = {
        BATCH_MEDIA_TYPE: bodies(),
        MEDIA_TYPE: counts(),
        REQUEST_MEDIA_TYPE: requests(key),
        SEALED_MEDIA_TYPE: sealed_batches(key),
    }
    for media_type, strategy in made.items():
        schemathesis.openapi.media_type(media_type, strategy)
    yield
    for media_type in made:
        MEDIA_TYPE_STRATEGIES.pop(media_type)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Surveys in every state, one of them with reports; rounds sealed, open and still to come."""
    with running(tmp_path / "data", "--minimum-reports", "1") as service:
        for survey in (DRINKS, AGES, GOALS, GONE, *EXPENDABLE):
            service.publish(survey)
        attached = {digest: base64.b64encode(content).decode() for digest, content in ATTACHED.attachments.items()}
        said: dict[str, Any] = {"statement": ATTACHED.to_json(), "attachments": attached}
        assert service.ask("POST", "/v1/surveys", json=said).status == 201
        for asked in (FIRST, SECOND):
            said = {"statement": asked.to_json(), "minimum_reports": 1}
            assert service.ask("POST", f"/v1/surveys/{AGES.id}/rounds", json=said).status == 201
            if asked is FIRST:
                assert service.ask("POST", f"/v1/surveys/{asked.id}/seal").status == 200
        # Its one segment stays as it is, while those of a survey that still takes reports are put together.
        few = [(secrets.token_bytes(16), GOALS.randomize("yes")) for _ in range(SEALED_REPORTS)]
        assert service.send(GOALS, few).json["accepted"] == SEALED_REPORTS
        service.counted(GOALS, GOALS.mechanism.report_bytes)
        assert service.ask("POST", f"/v1/surveys/{GOALS.id}/seal").status == 200
        assert service.ask("DELETE", f"/v1/surveys/{GONE.id}").status == 200
        service.publish(ARMS)
        for arm in "AB":
            member = ARMS.in_group(arm)
            assert service.send(member, [(secrets.token_bytes(16), member.randomize("yes"))]).status == 200
            service.counted(member, member.mechanism.report_bytes)
        service.tracking = published_today(service)  # type: ignore[attr-defined]
        yield service


def published_today(service: Service) -> str:
    """The id of a tracking survey whose first period has begun, lasts ten years, and has counted reports."""
    status = 0
    while status != 201:  # at midnight, today is over before it is said
        today = service.ask("GET", "/v1/time").json["now"][:10]
        tracking = sv.Tracking(Shares(["no", "yes"]), every=3660, starts=today, periods=2, epsilon=1.0)
        status = service.ask("POST", "/v1/surveys", json={"statement": tracking.to_json()}).status
        assert status in (201, 422)
    period = tracking.period(1)
    assert service.send(period, [(secrets.token_bytes(16), period.randomize("yes")) for _ in range(4)]).status == 200
    service.counted(period, period.mechanism.report_bytes)
    return tracking.id


def tokens(service: Service, n: int) -> list[str]:
    """The ids of new ones, which may be revoked without harm."""
    made = [service.ask("POST", "/v1/tokens", json={"scopes": ["read"]}).json for _ in range(n)]
    return [one["id"] for one in made]


def segments(service: Service) -> list[str]:
    """The numbers of the sealed survey's."""
    return [str(one["number"]) for one in service.ask("GET", f"/v1/surveys/{GOALS.id}/segments").json["segments"]]


def configuration(service: Service, *, token: str, examples: int, stateful: bool = False) -> SchemathesisConfig:
    """What is asked, and with which words that no generator would find."""

    def often(name: str) -> dict[str, Any]:
        return {"dictionary": name, "probability": 0.6}

    # What is learnt from answers is not used again: nothing would keep it from sealing what the reports are for.
    each = {"enabled": not stateful, "extra-data-sources": {"responses": False}}
    return SchemathesisConfig.from_dict(
        {
            "seed": 20_26,
            "continue-on-failure": True,
            "request-timeout": 30,
            "base-url": service.url,
            "checks": STATUSES,
            "headers": {"Authorization": f"Bearer {token}"} if token else {},
            "generation": {"max-examples": examples, "deterministic": True, "no-shrink": True},
            # The requests shall not depend on words that happen to stand in the sources.
            "analysis": {"constants": {"enabled": False}},
            "phases": {
                "examples": each,
                "coverage": each,
                "fuzzing": each,
                "stateful": {"enabled": stateful, "max-steps": 12},
            },
            "dictionaries": {
                "surveys": {"values": [one.id for one in (DRINKS, AGES, FIRST, SECOND, GOALS, GONE)]},
                "panel": {"values": [AGES.id]},
                "tracking": {"values": [service.tracking]},  # type: ignore[attr-defined]
                "grouped": {"values": [ARMS.id]},
                "first arm": {"values": ["A"]},
                "second arm": {"values": ["B"]},
                "variables": {"values": ["arm"]},
                "answers": {"values": ["no", "yes"]},
                "taking": {"values": [DRINKS.id]},
                "expendable": {"values": [one.id for one in EXPENDABLE]},
                "statements": {"values": [one.to_json() for one in (DRINKS, GONE, *FRESH)]},
                "rounds": {"values": [one.to_json() for one in (SECOND, THIRD, AGES)]},
                "sealed": {"values": [GOALS.id]},
                "segments": {"values": segments(service)},
                "digests": {"values": list(ATTACHED.attachments)},
                "tokens": {"values": tokens(service, 3)},
                # Only where a token is sent along anyway: nobody else shall have a cookie that opens something.
                "secrets": {"values": [token] if token else ["sv_00000000_" + "A" * 43]},
            },
            "parameters": {
                "path.survey_id": often("surveys"),
                "path.segment_number": often("segments"),
                "path.token_id": often("tokens"),
                "path.digest": often("digests"),
            },
            "operations": [
                # Their answers would never end.
                *({"include-operation-id": route.name, "enabled": False} for route in STREAMS.values()),
                # The run must not revoke the token it goes on asking with.
                *([{"include-operation-id": "revoke_token", "enabled": False}] if stateful else []),
                {
                    "include-operation-id": "send_reports",
                    "parameters": {"path.survey_id": often("taking")},
                    # Most of the bodies that are made here are bad, and the document cannot say so of bytes.
                    "checks": {"positive_data_acceptance": {"expected-statuses": ["200", "400", "404", "409", "422"]}},
                },
                *(
                    {
                        "include-operation-id": name,
                        "checks": {"positive_data_acceptance": {"expected-statuses": ["200", "400", "422"]}},
                    }
                    for name in ("pass_request", "send_sealed_reports")
                ),
                *(
                    {"include-operation-id": name, "parameters": {key: often(value) for key, value in words.items()}}
                    for name, words in {
                        "seal_survey": {"path.survey_id": "expendable"},
                        "delete_survey": {"path.survey_id": "expendable"},
                        "sign_in": {"body.token": "secrets"},
                        "publish_survey": {"body.statement": "statements"},
                        "open_round": {"path.survey_id": "panel", "body.statement": "rounds"},
                        "list_rounds": {"path.survey_id": "panel"},
                        "draft_question": {"path.survey_id": "panel"},
                        "get_latest_round": {"path.survey_id": "panel"},
                        "list_periods": {"path.survey_id": "tracking"},
                        "list_groups": {"path.survey_id": "grouped"},
                        "get_by_group": {"path.survey_id": "grouped", "query.variable": "variables"},
                        "get_by_group_csv": {"path.survey_id": "grouped", "query.variable": "variables"},
                        "get_comparison": COMPARED,
                        "get_comparison_csv": COMPARED,
                        "weigh": {"path.survey_id": "grouped"},
                        "get_curve": {"path.survey_id": "tracking", "query.answer": "answers"},
                        "get_difference": {"path.survey_id": "tracking", "query.answer": "answers"},
                        "hand_in_aggregate": {"path.survey_id": "sealed"},
                        "get_segment": {"path.survey_id": "sealed", "path.segment_number": "segments"},
                    }.items()
                ),
            ],
        }
    )


class Run:
    """All that was asked and answered, and what was not as the document says."""

    def __init__(self, service: Service, **asked: Any):
        self.failures: list[str] = []
        self.calls: list[tuple[str, Interaction]] = []
        self.statuses: dict[str, Counter[int]] = {}
        self.checks: set[str] = set()
        told = service.ask("GET", "/openapi.json").json
        for name, examples in GOOD.items():
            _content(told, name)["examples"] = {str(at): {"value": body} for at, body in enumerate(examples)}
        whole = _whole(told["components"]["schemas"])
        schema = schemathesis.openapi.from_dict(told, config=configuration(service, **asked))

        @schema.hook
        def filter_body(context: Any, body: Any) -> bool:
            # JSON Schema calls 3.0 an integer, which the service does not: whoever counts writes 3.
            return not _counts_in_fractions(body, whole)

        for event in from_schema(schema).execute():
            match event:
                case events.ScenarioFinished():
                    self._scenario(event)
                case events.NonFatalError() | events.FatalError():
                    self.failures.append(repr(event))
                case events.EngineFinished():
                    assert event.stop_reason == StopReason.COMPLETED
                    self.failures += [failure.message for failure in event.failures]

    def _scenario(self, event: events.ScenarioFinished) -> None:
        for case, checks in event.recorder.checks.items():
            for check in checks:
                self.checks.add(check.name)
                if check.failure_info is not None:
                    answer = event.recorder.interactions[case].response
                    told = answer.content[:300] if answer else None
                    info = check.failure_info
                    self.failures.append(f"{check.name}: {info.failure.message}\n{info.code_sample}\n{told!r}")
        for case, interaction in event.recorder.interactions.items():
            label = event.recorder.cases[case].value.operation.label
            assert interaction.response is not None, f"no answer to {interaction.request.method} of {label}"
            self.calls.append((label, interaction))
            # Other methods are tried at each address too.
            if interaction.request.method == label.partition(" ")[0]:
                self.statuses.setdefault(label, Counter())[interaction.response.status_code] += 1

    def acknowledged(self) -> set[bytes]:
        """The ids of all reports of which the service said that they are durable."""
        found: set[bytes] = set()
        for label, interaction in self.calls:
            if label.endswith("/reports") and interaction.response and interaction.response.status_code == 200:
                told, ids = json.loads(interaction.response.content), ids_of(interaction)
                refused = {one["position"] for one in told["refused"]}
                assert len(ids) - len(refused) == told["accepted"]
                found |= {one for position, one in enumerate(ids) if position not in refused}
        return found


def _content(told: dict[str, Any], name: str) -> dict[str, Any]:
    """The JSON body of an operation in a document."""
    (found,) = (
        operation["requestBody"]["content"]["application/json"]
        for place in told["paths"].values()
        for operation in place.values()
        if operation["operationId"] == name
    )
    content: dict[str, Any] = found
    return content


def _whole(schemas: dict[str, Any]) -> set[str]:
    """The fields of all bodies that hold whole numbers."""
    return {
        name
        for schema in schemas.values()
        for name, inner in schema["properties"].items()
        if any(one.get("type") == "integer" for one in (inner, *inner.get("anyOf", ())))
    }


def _counts_in_fractions(body: Any, whole: set[str]) -> bool:
    """Whether such a field holds a number written with a point."""
    if isinstance(body, list):
        return any(_counts_in_fractions(one, whole) for one in body)
    if not isinstance(body, dict):
        return False
    return any(
        (name in whole and isinstance(value, float)) or _counts_in_fractions(value, whole)
        for name, value in body.items()
    )


def ids_of(interaction: Interaction) -> list[bytes]:
    """The report ids of a body, in order."""
    body = interaction.request.body or b""
    if interaction.request.headers["Content-Type"][0] == BATCH_MEDIA_TYPE:
        return [body[at : at + REPORT_ID_BYTES] for at in range(BATCH_HEADER_BYTES, len(body), ROW)]
    said = json.loads(body)
    return [bytes.fromhex(one["id"]) for one in said.get("reports", [said])]


def test_with_a_token_everything_is_as_documented(service: Service) -> None:
    before = [(secrets.token_bytes(16), DRINKS.randomize("tea")) for _ in range(50)]
    assert service.send(DRINKS, before).json["accepted"] == 50
    service.counted(DRINKS, PAYLOAD)
    run = Run(service, token=service.token, examples=15)
    assert not run.failures, "\n\n".join(run.failures)
    assert run.statuses.keys() >= LABELS.keys() - STREAMS.keys() - {"GET /openapi.json"}
    # Each address was not only refused: the generator found its way in.
    closed = {label: statuses for label, statuses in run.statuses.items() if min(statuses) >= 300}
    # Two periods with reports take two days; here there is one.
    assert min(closed.pop("GET /v1/surveys/{survey_id}/difference")) == 400
    # No survey here asks for words; those of test_api_words.py do.
    assert all(409 in closed.pop(f"{method} /v1/surveys/{{survey_id}}/words") for method in ("GET", "POST"))
    assert not closed, closed
    assert {200, 400, 404, 415, 422} <= run.statuses["POST /v1/surveys/{survey_id}/reports"].keys()
    # None is switched off.
    assert run.checks == set(schemathesis.checks.CHECKS.get_all_names())
    acknowledged = run.acknowledged()
    assert len(acknowledged) > 3
    assert service.counted(DRINKS, PAYLOAD) == dict.fromkeys(acknowledged | {one for one, _ in before}, 1)
    assert service.ask("GET", "/readyz").status == 200
    assert "Error" not in service.log.read_text()


def test_without_a_token_nothing_of_the_analysts_is_open(service: Service) -> None:
    run = Run(service, token="", examples=4)
    assert not run.failures, "\n\n".join(run.failures)
    for label, statuses in run.statuses.items():
        if LABELS[label].scopes:
            # 404 for an id that is no part of a path, such as one with a slash.
            assert statuses.keys() <= {401, 404}, (label, statuses)
            assert statuses[401] > 0, label
    assert service.counted(DRINKS, PAYLOAD) == dict.fromkeys(run.acknowledged(), 1)
    assert "Error" not in service.log.read_text()


def test_one_request_after_another(service: Service) -> None:
    run = Run(service, token=service.token, examples=12, stateful=True)
    assert not run.failures, "\n\n".join(run.failures)
    assert len(run.calls) > 30
    # What is changed on the way is not always the same: ids are drawn anew.
    succeeded = {label for label, statuses in run.statuses.items() if statuses[200] or statuses[201]}
    assert len(succeeded) > 5
    assert any(label.startswith(("POST", "DELETE")) for label in succeeded)
    assert service.ask("GET", "/v1/tokens").status == service.ask("GET", "/readyz").status == 200
    assert "Error" not in service.log.read_text()
