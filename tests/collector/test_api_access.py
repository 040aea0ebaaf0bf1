"""Who may do what: every address with no token, with wrong ones, and with every scope."""

from collections.abc import Iterator
from typing import Any

import pytest

import sottovoce as sv
from collector.client import DRINKS, Api, running
from sottovoce.collector.api.admission import SCOPES
from sottovoce.collector.app import ROUTES
from sottovoce.service.http.route import Route

ADDRESSES = {
    "{survey_id}": DRINKS.id,
    "{digest}": "0" * 64,
    "{segment_number}": "0",
    "{token_id}": "0" * 8,
}

GUARDED = [route for route in ROUTES if route.scopes]
OPEN = [route for route in ROUTES if not route.scopes]
ANSWERING = [route for route in GUARDED if not route.is_stream]
"""Those whose answers come to an end by themselves."""

WRONG = [
    "",
    "sv_",
    "sv_00000000_" + "A" * 43,
    "sv_00000000_" + "A" * 42,
    "SV_00000000_" + "A" * 43,
    "sv_0000000'_" + "A" * 43,
    "x" * 5000,
]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("access")) as api:
        api.publish(DRINKS)
        yield api


def place(route: Route) -> tuple[str, str]:
    (path,), (method,) = route.paths, route.methods
    for name, value in ADDRESSES.items():
        path = path.replace(name, value)
    return method, path


def name_of(route: Route) -> str:
    return route.name


def code(response: Any) -> str:
    return str(response.json()["error"]["code"])


def test_what_is_open_and_what_is_not() -> None:
    assert sorted(map(name_of, OPEN)) == [
        "asset",
        "dashboard_page",
        "element_script",
        "get_attachment",
        "get_checkpoint",
        "get_consistency",
        "get_health",
        "get_key",
        "get_latest_round",
        "get_log_proof",
        "get_openapi",
        "get_readiness",
        "get_sealing_keys",
        "get_statement",
        "get_survey",
        "get_time",
        "list_log_entries",
        "list_questions",
        "list_surveys",
        "pass_request",
        "send_reports",
        "send_sealed_reports",
        "sign_in",
        "sign_out",
        "survey_page",
    ]


@pytest.mark.parametrize("route", GUARDED, ids=name_of)
def test_without_a_token_or_with_a_wrong_one(api: Api, route: Route) -> None:
    method, path = place(route)
    for token in WRONG:
        response = api.ask(method, path, token=token)
        assert (response.status_code, code(response)) == (401, "unauthorized")
        assert response.headers["www-authenticate"].startswith("Bearer")
    for given in (api.admin, f"Basic {api.admin}", f"Bearer{api.admin}"):
        response = api.ask(method, path, token="", headers={"Authorization": given})
        assert (response.status_code, code(response)) == (401, "unauthorized")


@pytest.mark.parametrize("route", ANSWERING, ids=name_of)
@pytest.mark.parametrize("scope", ["read", "ask", "publish"])
def test_scopes(api: Api, route: Route, scope: str) -> None:
    opens = {"read": {"read"}, "ask": {"read", "ask"}, "publish": {"read", "publish"}}[scope]
    method, path = place(route)
    response = api.ask(method, path, token=api.token(scope))
    # A survey that is no round is sealed by who may publish; the scope ask is enough for rounds only.
    sealing = route.name == "seal_survey" and scope == "ask"
    if opens & set(route.scopes) and not sealing:
        assert response.status_code not in (401, 403)
    else:
        assert (response.status_code, code(response)) == (403, "insufficient_scope")


def test_who_may_ask_closes_rounds(tmp_path_factory: pytest.TempPathFactory) -> None:
    from collector.client import AGES

    with running(tmp_path_factory.mktemp("rounds")) as api:
        api.publish(AGES)
        asked = sv.adaptive.round_of(AGES, 1, "age < 30")
        assert api.open_round(asked).status_code == 201
        ask, read = api.token("ask"), api.token("read")
        assert api.ask("POST", f"/v1/surveys/{asked.id}/seal", token=read).status_code == 403
        assert api.ask("POST", f"/v1/surveys/{AGES.id}/seal", token=ask).status_code == 403
        assert api.ask("POST", f"/v1/surveys/{asked.id}/seal", token=ask).json()["state"] == "sealed"


def test_the_body_is_not_read_before_the_token(api: Api) -> None:
    async def never() -> Any:
        raise AssertionError("the body was read")
        yield {}

    headers = {"Content-Type": "application/json"}
    assert api.raw("POST", "/v1/surveys", headers, never()).status == 401


def test_a_token_is_shown_once_and_opens_until_revoked(api: Api) -> None:
    response = api.ask("POST", "/v1/tokens", json={"scopes": ["publish", "read"], "note": "for Ada"})
    assert response.status_code == 201
    made = response.json()
    assert (made["scopes"], made["note"]) == (["read", "publish"], "for Ada")
    assert made["token"].startswith(f"sv_{made['id']}_")
    listed = api.ask("GET", "/v1/tokens")
    assert {"id": made["id"], "scopes": ["read", "publish"], "note": "for Ada", "revoked": False, "expires": None} in (
        listed.json()["tokens"]
    )
    secret = made["token"].removeprefix(f"sv_{made['id']}_")
    assert len(secret) > 40
    assert secret not in listed.text
    where = f"/v1/surveys/{DRINKS.id}/status"
    assert api.ask("GET", where, token=made["token"]).status_code == 200
    assert api.ask("GET", where, token=made["token"][:-1] + "!").status_code == 401
    revoked = api.ask("DELETE", f"/v1/tokens/{made['id']}")
    assert revoked.json() == {"id": made["id"], "revoked": True}
    response = api.ask("GET", where, token=made["token"])
    assert (response.status_code, code(response)) == (401, "unauthorized")


@pytest.mark.parametrize("token_id", ["0" * 8, "x", "0" * 9, "' OR 1", "%00000000"])
def test_no_such_token(api: Api, token_id: str) -> None:
    response = api.ask("DELETE", f"/v1/tokens/{token_id}")
    assert (response.status_code, code(response)) == (404, "unknown_token")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"scopes": []},
        {"scopes": ["root"]},
        {"scopes": "read"},
        {"scopes": ["read"] * 5},
        {"scopes": ["read"], "note": 1},
        {"scopes": ["read"], "note": "a\0b"},
        {"scopes": ["read"], "note": "a\nb"},
        {"scopes": ["read"], "note": "x" * 201},
        {"scopes": ["read"], "id": "0" * 8},
    ],
)
def test_tokens_that_cannot_be_made(api: Api, body: Any) -> None:
    response = api.ask("POST", "/v1/tokens", json=body)
    assert (response.status_code, code(response)) == (400, "invalid_body")


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({}, "scopes", "scopes is missing"),
        ([], None, "the body must be an object"),
        ({"scopes": []}, "scopes", "scopes must be a list of 1 to 4 entries"),
        ({"scopes": ["gazpacho"]}, "scopes[0]", "scopes[0] must be one of admin, ask, publish, read"),
        ({"scopes": ["read"], "note": 1}, "note", "note must be one line of text"),
        ({"scopes": ["read"], "note": "gazpacho\0"}, "note", "note must be one line of text"),
        ({"scopes": ["read"], "note": "x" * 201}, "note", "note must be one line of text of at most 200 characters"),
        ({"scopes": ["read"], "gazpacho": 1}, None, "the body has an unknown field; the fields are scopes, note"),
    ],
)
def test_what_is_wrong_with_a_body_is_said_without_repeating_it(api: Api, body: Any, field: str, words: str) -> None:
    error = api.ask("POST", "/v1/tokens", json=body).json()["error"]
    assert error["field"] == field
    assert error["message"].startswith(words)
    assert "gazpacho" not in error["message"]


def test_every_scope_is_explained() -> None:
    assert set(SCOPES) == {"read", "ask", "publish", "admin"}


def test_whoever_has_no_token_cannot_fill_the_log(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        for _ in range(20):
            for path in ("/v1/tokens", "/metrics", f"/v1/surveys/{'0' * 64}/estimate"):
                assert api.ask("GET", path, token="").status_code == 401
            assert api.ask("GET", "/openapi.json", token="").status_code == 200
    lines = [record for record in caplog.records if record.name.startswith("sottovoce")]
    assert len(lines) <= 4
