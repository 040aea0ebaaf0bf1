"""Signing in, and when the cookie counts: every way in which a browser, or somebody who misuses one, can send it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from collector.client import DRINKS, Api, running
from sottovoce.collector.api.admission import COOKIE, PAGE_HEADER, SECURE_COOKIE, cookie_token
from sottovoce.service.running.log import configure_logging

SESSION = "/v1/session"
STATUS = f"/v1/surveys/{DRINKS.id}/status"
CHANGE = "/v1/tokens/00000000"
"""Only an admin may delete there, and does no harm: there is no such token."""

PAGE = {PAGE_HEADER: "1"}
HERE = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("sessions")) as api:
        api.publish(DRINKS)
        yield api


def ask(api: Api, method: str, path: str, cookie: str | None = None, body: Any = None, **headers: Any) -> Any:
    """One request without a token, with a Cookie header of exactly this text."""
    given = {} if cookie is None else {"Cookie": cookie}
    given |= headers.pop("headers", {})
    response = api.ask(method, path, token="", headers=given, **({} if body is None else {"json": body}))
    api.http.cookies.clear()
    return response


def signed_in(token: str) -> str:
    return f"{COOKIE}={token}"


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def reads(api: Api, cookie: str | None, **headers: str) -> bool:
    response = ask(api, "GET", STATUS, cookie, headers=headers)
    assert response.status_code in (200, 401)
    return bool(response.status_code == 200)


def changes(api: Api, cookie: str | None, headers: dict[str, str]) -> bool:
    response = ask(api, "DELETE", CHANGE, cookie, headers=headers)
    assert response.status_code in (404, 401)
    return bool(response.status_code == 404)


# --- signing in and out ------------------------------------------------------------------------


def test_from_signing_in_to_signing_out(api: Api) -> None:
    made = api.ask("POST", "/v1/tokens", json={"scopes": ["publish", "read"], "note": "for Ada"}).json()
    who = {"scopes": ["read", "publish"], "note": "for Ada"}
    response = ask(api, "POST", SESSION, body={"token": made["token"]}, headers={**PAGE, **HERE})
    assert (response.status_code, response.json()) == (200, who)
    assert response.headers.get_list("set-cookie") == [
        f"{COOKIE}={made['token']}; HttpOnly; SameSite=Strict; Path=/",
    ]
    assert response.headers["cache-control"] == "no-store"
    cookie = signed_in(made["token"])
    assert ask(api, "GET", SESSION, cookie, headers=HERE).json() == who
    response = ask(api, "DELETE", SESSION, cookie, headers={**PAGE, **HERE})
    assert (response.status_code, response.json()) == (200, {"signed_in": False})
    assert response.headers.get_list("set-cookie") == [f"{COOKIE}=; Max-Age=0; HttpOnly; SameSite=Strict; Path=/"]
    assert code(ask(api, "GET", SESSION)) == (401, "unauthorized")


def test_a_bearer_may_ask_who_it_is(api: Api) -> None:
    assert api.ask("GET", SESSION).json()["scopes"] == ["admin"]


@pytest.mark.parametrize(
    "token", ["", "x", "sv_00000000_" + "A" * 43, "sv_", "a; Path=/evil", "a\r\nSet-Cookie: b=c", "é"]
)
def test_a_wrong_token_signs_nobody_in(api: Api, token: str) -> None:
    response = ask(api, "POST", SESSION, body={"token": token})
    assert code(response) == (401, "unauthorized")
    assert response.json()["error"]["field"] == "token"
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize("around", [" {}", "{} ", "{}\n", "{};", '"{}"', "Bearer {}"])
def test_a_token_is_taken_as_it_is(api: Api, around: str) -> None:
    response = ask(api, "POST", SESSION, body={"token": around.format(api.admin)})
    assert code(response) == (401, "unauthorized")


@pytest.mark.parametrize("body", [{}, [], {"token": 1}, {"token": None}, {"token": "x", "scopes": ["admin"]}])
def test_another_shape_signs_nobody_in(api: Api, body: Any) -> None:
    assert code(ask(api, "POST", SESSION, body=body)) == (400, "invalid_body")


def test_a_form_of_another_site_signs_nobody_in(api: Api) -> None:
    # What a form can send without asking first: no JSON.
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data"):
        body = f'{{"token": "{api.admin}"}}'
        response = api.ask("POST", SESSION, token="", content=body, headers={"Content-Type": kind})
        assert code(response) == (415, "unsupported_media_type")
        assert "set-cookie" not in response.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "", "same-origin, cross-site", "SAME-ORIGIN"])
def test_other_sites_sign_nobody_in_or_out(api: Api, site: str) -> None:
    headers = {**PAGE, "Sec-Fetch-Site": site}
    for method, body in (("POST", {"token": api.admin}), ("DELETE", None)):
        response = ask(api, method, SESSION, signed_in(api.admin), body, headers=headers)
        assert code(response) == (403, "other_site")
        assert "set-cookie" not in response.headers


def test_signing_out_needs_no_good_cookie(api: Api) -> None:
    for cookie in (None, signed_in("x"), signed_in("sv_00000000_" + "A" * 43)):
        response = ask(api, "DELETE", SESSION, cookie)
        assert response.status_code == 200
        assert "Max-Age=0" in response.headers["set-cookie"]


def test_the_cookie_is_secure_behind_tls(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("tls"), public_url="https://collector.example/") as api:
        for method, body in (("POST", {"token": api.admin}), ("DELETE", None)):
            told = ask(api, method, SESSION, body=body).headers["set-cookie"]
            assert told.startswith("__Host-sottovoce_session=")
            assert told.endswith("; HttpOnly; SameSite=Strict; Path=/; Secure")
        # Any host of the domain can set a cookie of the other name.
        held, tossed = f"{SECURE_COOKIE}={api.admin}", signed_in(api.admin)
        assert ask(api, "GET", SESSION, tossed).status_code == 401
        assert ask(api, "GET", SESSION, f"{signed_in('x')}; {held}; {signed_in('y')}").status_code == 200
    with running(tmp_path_factory.mktemp("plain"), public_url="http://collector.example") as api:
        assert "Secure" not in ask(api, "POST", SESSION, body={"token": api.admin}).headers["set-cookie"]
        api.http.base_url = "https://testserver.local"  # as granian says of a connection with TLS
        assert ask(api, "POST", SESSION, body={"token": api.admin}).headers["set-cookie"].endswith("; Secure")


# --- when the cookie counts --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("site", "counts"),
    [
        (None, True),
        ("same-origin", True),
        ("none", True),
        ("same-site", False),
        ("cross-site", False),
        ("", False),
        ("same-origin, same-origin", False),
        ("Same-Origin", False),
        ("nonsense", False),
    ],
)
def test_reading(api: Api, site: str | None, counts: bool) -> None:
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    for more in ({}, PAGE):
        assert reads(api, signed_in(api.admin), **headers, **more) is counts
    assert not reads(api, None, **headers)


@pytest.mark.parametrize(
    ("headers", "counts"),
    [
        ({}, False),
        (HERE, False),
        (PAGE, True),
        (PAGE | HERE, True),
        (PAGE | {"Sec-Fetch-Site": "none"}, False),
        (PAGE | {"Sec-Fetch-Site": "same-site"}, False),
        (PAGE | {"Sec-Fetch-Site": "cross-site"}, False),
        (HERE | {PAGE_HEADER: ""}, False),
        (HERE | {PAGE_HEADER: "0"}, False),
        (HERE | {PAGE_HEADER: "true"}, False),
        (HERE | {PAGE_HEADER: "1, 1"}, False),
        (HERE | {"X-Requested-With": "XMLHttpRequest"}, False),
    ],
)
def test_changing(api: Api, headers: dict[str, str], counts: bool) -> None:
    assert changes(api, signed_in(api.admin), headers) is counts
    assert not changes(api, None, headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", ""])
def test_every_other_method_needs_the_header(method: str) -> None:
    cookie = (b"cookie", f"{COOKIE}=held".encode())
    assert cookie_token(method, [cookie]) is None
    assert cookie_token(method, [cookie, (b"sec-fetch-site", b"same-origin")]) is None
    assert cookie_token(method, [cookie, (b"x-sottovoce-page", b"1")]) == "held"
    assert cookie_token(method, [cookie, (b"x-sottovoce-page", b"1"), (b"x-sottovoce-page", b"1")]) is None


def test_heads_are_reads_that_no_user_types() -> None:
    cookie = (b"cookie", f"{COOKIE}=held".encode())
    assert cookie_token("HEAD", [cookie]) == "held"
    assert cookie_token("HEAD", [cookie, (b"sec-fetch-site", b"same-origin")]) == "held"
    assert cookie_token("HEAD", [cookie, (b"sec-fetch-site", b"none")]) is None
    assert cookie_token("GET", [cookie, (b"sec-fetch-site", b"none")]) == "held"
    assert (
        cookie_token("GET", [cookie, (b"sec-fetch-site", b"same-origin"), (b"sec-fetch-site", b"cross-site")]) is None
    )


def test_a_bearer_wins_whatever_it_says(api: Api) -> None:
    cookie, read = signed_in(api.admin), api.token("read")
    for given in ("Bearer sv_00000000_" + "A" * 43, "Bearer", "Basic eDp5", "", "nonsense"):
        assert not reads(api, cookie, Authorization=given)
        assert not changes(api, cookie, {**PAGE, **HERE, "Authorization": given})
    response = ask(api, "GET", "/v1/tokens", cookie, headers={**HERE, "Authorization": f"Bearer {read}"})
    assert code(response) == (403, "insufficient_scope")
    # And a good one needs nothing of what a cookie needs.
    assert changes(api, signed_in("x"), {"Authorization": f"Bearer {api.admin}", "Sec-Fetch-Site": "cross-site"})


def test_a_cookie_opens_what_its_token_opens(api: Api) -> None:
    read = signed_in(api.token("read"))
    assert reads(api, read)
    assert code(ask(api, "DELETE", CHANGE, read, headers=PAGE)) == (403, "insufficient_scope")


def test_a_revoked_token_is_refused_at_once(api: Api) -> None:
    made = api.ask("POST", "/v1/tokens", json={"scopes": ["read"]}).json()
    cookie = signed_in(made["token"])
    assert reads(api, cookie)
    api.ask("DELETE", f"/v1/tokens/{made['id']}")
    assert not reads(api, cookie)
    assert code(ask(api, "GET", SESSION, cookie)) == (401, "unauthorized")
    assert code(ask(api, "POST", SESSION, body={"token": made["token"]})) == (401, "unauthorized")


def test_of_two_cookies_none_counts(api: Api) -> None:
    good, bad = signed_in(api.admin), signed_in("sv_00000000_" + "A" * 43)
    for cookie in (f"{good}; {bad}", f"{bad}; {good}", f"{good}; {good}", f"{good}; {COOKIE}="):
        assert not reads(api, cookie)
    other = (b"cookie", bad.encode())
    assert cookie_token("GET", [(b"cookie", good.encode()), other]) is None
    told = ask(api, "GET", STATUS, f"{good}; {bad}").json()["error"]["message"]
    assert "several session cookies" in told
    assert "several" not in ask(api, "GET", STATUS, bad).json()["error"]["message"]


def test_several_cookies_are_cleared_when_somebody_signs_in_or_out(api: Api) -> None:
    one, several = signed_in(api.admin), f"{signed_in(api.admin)}; {signed_in('x')}"
    response = ask(api, "POST", SESSION, several, {"token": api.admin}, headers=PAGE)
    assert code(response) == (401, "unauthorized")
    assert response.headers["clear-site-data"] == '"cookies"'
    assert "set-cookie" not in response.headers
    assert "several session cookies" in response.json()["error"]["message"]
    response = ask(api, "DELETE", SESSION, several, headers=PAGE)
    assert (response.status_code, response.headers["clear-site-data"]) == (200, '"cookies"')
    # With one there is no need to clear what belongs to others of the domain.
    for method, body in (("POST", {"token": api.admin}), ("DELETE", None)):
        response = ask(api, method, SESSION, one, body, headers=PAGE)
        assert response.status_code == 200
        assert "clear-site-data" not in response.headers


@pytest.mark.parametrize(
    "cookie",
    [
        "{good}",
        "a=b; {good}",
        "{good};a=b",
        "{good} ;  a=b",
        "a=b;{good}",
        "; ;{good};;",
        "=x; {good}; novalue",
        "other_sottovoce_session=x; {good}",
    ],
)
def test_beside_other_cookies(api: Api, cookie: str) -> None:
    assert reads(api, cookie.format(good=signed_in(api.admin)))


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        ";",
        "=",
        "sottovoce_session",
        "sottovoce_session=",
        "Sottovoce_Session={token}",
        "sottovoce_session2={token}",
        "x{name}={token}",
        '{name}="{token}"',
        "{name}=%73{token}",
        "{name}=={token}",
        "{name}={token}x",
        "{name}={token},x=y",
        "{name}=sv_\xff\xfe",
        "{name}=\x01\x02",
        "{name}={{}}",
    ],
)
def test_garbage_opens_nothing(api: Api, cookie: str) -> None:
    raw = cookie.replace("{{}}", "{}").replace("{name}", COOKIE).replace("{token}", api.admin).encode("latin-1")
    response = api.ask("GET", STATUS, token="", headers={b"Cookie": raw})
    assert code(response) == (401, "unauthorized")


def test_huge_cookies(api: Api) -> None:
    good = signed_in(api.admin)
    assert not reads(api, f"{COOKIE}={'x' * 100_000}")
    assert not reads(api, f"{good}{'x' * 100_000}")
    assert not reads(api, "; ".join([good] * 2000))
    assert reads(api, "; ".join([*(f"a{i}={i}" for i in range(5000)), good]))


# --- other origins -----------------------------------------------------------------------------


def test_no_other_origin_is_allowed_the_header(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("origins"), allow_origins="*") as api:
        api.publish(DRINKS)
        for path in (SESSION, STATUS, "/v1/log-level", f"/v1/surveys/{DRINKS.id}", f"/v1/surveys/{DRINKS.id}/reports"):
            asked = {
                "Origin": "https://evil.example",
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": f"{PAGE_HEADER}, content-type",
            }
            response = api.ask("OPTIONS", path, token="", headers=asked)
            assert PAGE_HEADER.lower() not in response.headers.get("access-control-allow-headers", "").lower()
            assert "access-control-allow-credentials" not in response.headers
        response = ask(api, "GET", STATUS, signed_in(api.admin), headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in response.headers


def test_the_cookie_is_in_no_line_of_the_log(api: Api) -> None:
    root, ours = logging.getLogger(), logging.getLogger("sottovoce")
    before = list(root.handlers), root.level, ours.level
    lines = io.StringIO()
    try:
        configure_logging("debug", "json", lines)
        ask(api, "POST", SESSION, body={"token": api.admin})
        ask(api, "POST", SESSION, body={"token": "sv_wrong"})
        ask(api, "GET", SESSION, signed_in(api.admin))
        ask(api, "GET", f"{SESSION}?token={api.admin}", signed_in("sv_wrong"))
        ask(api, "DELETE", SESSION, signed_in(api.admin))
    finally:
        root.handlers = before[0]
        root.setLevel(before[1])
        ours.setLevel(before[2])
    assert lines.getvalue().count("/v1/session") >= 3
    assert "sv_" not in lines.getvalue()
