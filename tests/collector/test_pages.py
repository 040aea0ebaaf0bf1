"""The pages and their files: what is sent, with which headers, in which form, and that nobody's visit is logged."""

from __future__ import annotations

import gzip
import io
import logging
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, assert_error, assert_headers, running
from collector.raw_http import request as raw_request
from collector.service import Service
from collector.service import running as serving
from sottovoce.collector.api.pages import PAGE_HEADERS, has_already, takes_gzip
from sottovoce.collector.pages.files import ASSETS_VARIABLE, ELEMENT, PAGES, load_files
from sottovoce.core.errors import ServiceError
from sottovoce.service.http.application import SECURITY_HEADERS
from sottovoce.service.running.log import configure_logging
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey

ROOT = Path(__file__).resolve().parents[2]

DASHBOARD = ["/", "/new", "/plan", f"/survey/{DRINKS.id}"]
SURVEY = [f"/s/{DRINKS.id}", "/s/anything"]

FILES = load_files({})
ASSETS = [name for name in FILES if name not in (*PAGES, ELEMENT)]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("pages")) as api:
        yield api


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("pages") / "data", "--workers", "0") as service:
        yield service


def get(api: Api, path: str, method: str = "GET", **headers: str) -> Any:
    given = {"Accept-Encoding": "identity", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return api.http.request(method, path, headers=given)


# --- pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DASHBOARD + SURVEY)
def test_a_page_needs_no_token_and_has_its_own_policy(api: Api, path: str) -> None:
    response = get(api, path)
    name = "survey.html" if path in SURVEY else "dashboard.html"
    assert (response.status_code, response.content) == (200, FILES[name].plain.body)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    # Nor is it kept behind the Back button.
    assert response.headers["cache-control"] == "no-store"
    for header, value in {**SECURITY_HEADERS, **PAGE_HEADERS}.items():
        assert response.headers.get_list(header) == [value]
    assert "set-cookie" not in response.headers
    assert "access-control-allow-origin" not in response.headers


def test_the_policy_of_pages() -> None:
    policy = dict(part.strip().split(" ", 1) for part in PAGE_HEADERS["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    denied = {part.strip() for part in PAGE_HEADERS["Permissions-Policy"].split(",")}
    assert {"camera=()", "geolocation=()", "microphone=()"} <= denied
    assert all(part.endswith("=()") for part in denied)


def test_the_page_of_a_survey_with_a_relay_may_connect_to_it_and_to_nothing_else(api: Api) -> None:
    relay = Relay("https://relay.example.org:8471/ldp", least=1000)
    once = Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, title="Through a relay", relay=relay)
    weekly = sv.Tracking(
        once.question, epsilon=1.0, every="week", starts="2030-01-07", periods=4, relay=relay, title="Every week"
    )
    for survey in (once, weekly, DRINKS, AGES):
        api.publish(survey)
        [policy] = get(api, f"/s/{survey.id}").headers.get_list("content-security-policy")
        wider = " https://relay.example.org:8471" if survey in (once, weekly) else ""
        own = "connect-src 'self'"
        assert policy == PAGE_HEADERS["Content-Security-Policy"].replace(own, own + wider)
    assert get(api, f"/survey/{once.id}").headers["content-security-policy"] == PAGE_HEADERS["Content-Security-Policy"]


def test_pages_name_only_files_that_there_are() -> None:
    for name in PAGES:
        named = FILES[name].plain.body.decode().split('"/assets/')[1:]
        assert {one.partition('"')[0] for one in named} <= set(ASSETS)
        assert named


@pytest.mark.parametrize("path", ["/", "/s/x", "/assets/icon.svg"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_pages_are_only_read(api: Api, path: str, method: str) -> None:
    response = get(api, path, method)
    assert response.status_code == 405
    assert set(response.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}
    assert_error(response.json())
    assert_headers(response.headers)


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASSETS)
def test_a_file(api: Api, name: str) -> None:
    response = get(api, f"/assets/{name}")
    assert (response.status_code, response.content) == (200, FILES[name].plain.body)
    assert response.headers["content-type"] == FILES[name].media_type
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert_headers(response.headers)


TRICKS = [
    "nothing.js",
    "survey.html",
    "dashboard.html",
    "element.js",
    "ICON.SVG",
    "icon.svg%00",
    "icon.svg%2f",
    "icon.svg/",
    "./icon.svg",
    "..",
    "../files.py",
    "..%2ffiles.py",
    "..%5cfiles.py",
    "%2e%2e%2ffiles.py",
    "%252e%252e%252ffiles.py",
    "..%c0%affiles.py",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "C:%5cwindows",
    "%ff",
    "x" * 5000,
    "",
]


@pytest.mark.parametrize("name", TRICKS, ids=lambda name: name[:20])
def test_whatever_is_no_file_is_not_found(service: Service, name: str) -> None:
    # Byte by byte: libraries tidy such addresses before they send them.
    host, port = service.url.removeprefix("http://").split(":")
    with urllib3.HTTPConnectionPool(host, int(port), retries=False) as pool:
        sent = raw_request(b"GET", b"/assets/" + name.encode(), b"Connection: close")
        connection = pool._new_conn()
        connection.connect()
        connection.sock.sendall(sent)
        with connection.sock.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
        connection.close()
    allowed = (b"404", b"200") if name in ("icon.svg/", "icon.svg%2f") else (b"404", b"400")
    assert head.split(b" ")[1] in allowed
    if head.split(b" ")[1] == b"404":
        assert b'{"error":{"code":' in body
    assert b"import" not in body
    assert b"root:" not in body


# --- forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/s/x", "/assets/dashboard.js"])
def test_gzip_only_for_those_who_take_it(service: Service, path: str) -> None:
    file = FILES[{"/": "dashboard.html", "/s/x": "survey.html"}.get(path, path.rpartition("/")[2])]
    assert file.packed is not None
    assert gzip.decompress(file.packed.body) == file.plain.body
    plain = service.ask("GET", path, headers={"Accept-Encoding": "gzip;q=0"}, decode_content=False)
    packed = service.ask("GET", path, headers={"Accept-Encoding": "br, gzip"}, decode_content=False)
    assert (plain.body, plain.headers.get("content-encoding")) == (file.plain.body, None)
    assert (packed.body, packed.headers["content-encoding"]) == (file.packed.body, "gzip")
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert plain.headers["etag"] != packed.headers["etag"]
    for found in (plain, packed):
        assert int(found.headers["content-length"]) == len(found.body)
        head = service.ask("HEAD", path, headers={"Accept-Encoding": found.headers.get("content-encoding", "")})
        assert (head.status, head.body) == (200, b"")
        for name in ("etag", "content-length", "content-type", "content-security-policy", "vary"):
            assert head.headers[name] == found.headers[name]


@pytest.mark.parametrize(
    ("said", "takes"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("br", False),
        ("br, gzip;q=0.1", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("gzip ; Q=0", False),
        ("gzip;q=0, *", False),
        ("*", True),
        ("*;q=0", False),
        ("identity", False),
        ("identity, *;q=0", False),
        ("gzip;q=1.000", True),
        ("gzip;q=", False),
        ("gzip;q=nan", False),
        ("gzip;q=1e9", False),
        ("gzip;q=-1", False),
        ("gzip;q=½", False),
        ("gzip;x=1", False),
        ("gzip;q=0, gzip;q=1", False),
        (",;,;=;,", False),
        ("," * 10_000, False),
    ],
)
def test_who_takes_gzip(said: str, takes: bool) -> None:
    assert takes_gzip(said) is takes


@pytest.mark.parametrize("path", ["/", "/s/x", "/assets/survey.css", "/assets/icon.svg"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_what_a_browser_has_is_not_sent_again(service: Service, path: str, coding: str) -> None:
    first = service.ask("GET", path, headers={"Accept-Encoding": coding})
    etag = first.headers["etag"]
    for said in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        for method in ("GET", "HEAD"):
            again = service.ask(method, path, headers={"Accept-Encoding": coding, "If-None-Match": said})
            assert (again.status, again.body) == (304, b"")
            assert "content-length" not in again.headers
            for name in ("etag", "cache-control", "vary", "content-security-policy"):
                assert again.headers[name] == first.headers[name]
    other = service.ask("GET", path, headers={"Accept-Encoding": coding, "If-None-Match": '"other"'})
    assert (other.status, other.body) == (200, first.body)


def test_names_of_versions_are_compared_whole() -> None:
    assert not has_already('"abc"', '"ab"')
    assert not has_already("ab", '"ab"')
    assert not has_already('w/"ab"', '"ab"')
    assert not has_already('*, "x"', '"ab"')
    assert has_already('W/"x",W/"ab"', '"ab"')


# --- where they come from -----------------------------------------------------------------------


def test_every_process_sends_the_same_bytes_under_the_same_names(api: Api, service: Service) -> None:
    assert load_files({}) == FILES
    for path in ("/", "/assets/dashboard.js"):
        for coding in ("identity", "gzip"):
            here = get(api, path, Accept_Encoding=coding)
            assert service.ask("GET", path, headers={"Accept-Encoding": coding}).headers["etag"] == here.headers["etag"]


def test_files_are_those_of_the_package() -> None:
    folder = ROOT / "src/sottovoce/collector/pages/assets"
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == {
        name: file.plain.body for name, file in FILES.items()
    }


def test_tests_may_serve_another_folder(tmp_path: Path) -> None:
    for name in (*PAGES, ELEMENT):
        (tmp_path / name).write_text(f"<!doctype html>{name}")
    (tmp_path / "new.js").write_text("1")
    (tmp_path / "notes.exe").write_text("not served")
    (tmp_path / "folder.js").mkdir()
    assert set(load_files({ASSETS_VARIABLE: str(tmp_path)})) == {*PAGES, ELEMENT, "new.js"}
    with serving(tmp_path / "data", "--workers", "0", **{ASSETS_VARIABLE: str(tmp_path)}) as service:
        assert service.ask("GET", "/").body == b"<!doctype html>dashboard.html"
        assert service.ask("GET", "/assets/new.js").headers["content-type"] == "text/javascript; charset=utf-8"
        assert service.ask("GET", "/assets/icon.svg").status == 404


def test_a_package_without_its_pages_says_so(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ServiceError, match=r"lack dashboard\.html, element\.js, survey\.html: .* install it again"):
            load_files({ASSETS_VARIABLE: str(folder)})


def test_nothing_keeps_the_files_out_of_the_wheel() -> None:
    # The wheel holds whatever is in the package's folder and not ignored; with --no-index, also where it is tracked.
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert told["wheel"] == {"packages": ["src/sottovoce"]}
    names = [f"src/sottovoce/collector/pages/assets/{name}" for name in FILES]
    asked = subprocess.run(["git", "check-ignore", "--no-index", *names], cwd=ROOT, capture_output=True, check=False)
    assert (asked.returncode, asked.stdout) == (1, b"")


# --- nothing is noted ---------------------------------------------------------------------------


def test_no_visit_has_a_line_in_the_log(api: Api) -> None:
    root, ours = logging.getLogger(), logging.getLogger("sottovoce")
    before = list(root.handlers), root.level, ours.level
    lines = io.StringIO()
    try:
        configure_logging("debug", "text", lines)
        for path in (*DASHBOARD, *SURVEY, "/assets/icon.svg", "/assets/nothing", "/favicon.ico", "/s/", "/s/a/b"):
            for method in ("GET", "HEAD", "OPTIONS", "POST"):
                get(api, path, method)
        assert lines.getvalue() == ""
        get(api, "/healthz")
        assert "route=/healthz" in lines.getvalue()
    finally:
        root.handlers = before[0]
        root.setLevel(before[1])
        ours.setLevel(before[2])
