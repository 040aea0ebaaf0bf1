"""The element's script and the lines that embed it: one hash, headers for every page, nothing but what was built."""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from collector.client import DRINKS, Api, assert_error, running
from collector.service import Service
from collector.service import running as serving
from commands import Run, run_here
from sottovoce.collector.pages.files import ASSETS_VARIABLE, ELEMENT, PAGES, load_files, script_name, snippet_of
from sottovoce.core.integrity import integrity_of

SCRIPT = load_files({})[ELEMENT].plain.body
PATH = f"/embed/{script_name(SCRIPT)}"
PAGE = "https://www.example.org"
ADDRESS = "https://stats.example.org"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("embedding"), allow_origins=(PAGE,)) as api:
        api.publish(DRINKS)
        yield api


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A collector that no other page may ask."""
    with serving(tmp_path_factory.mktemp("embedding") / "data", "--workers", "0") as service:
        service.publish(DRINKS)
        yield service


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, service: Service) -> Run:
    monkeypatch.setenv("SOTTOVOCE_URL", service.url)
    monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
    return run_here(capsys)


def told(api: Api, survey_id: str = DRINKS.id, address: str = ADDRESS, **given: Any) -> Any:
    return api.ask("GET", f"/v1/surveys/{survey_id}/embedding?address={address}", **given)


# --- the script ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_every_page_may_load_the_script_and_keep_it(api: Api, method: str, coding: str) -> None:
    sent = {"Accept-Encoding": coding, "Origin": "https://stranger.example"}
    response = api.http.request(method, PATH, headers=sent)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in response.headers
    if method == "GET":
        assert response.content == SCRIPT


@pytest.mark.parametrize("name", [ELEMENT, "sottovoce-0000000000000000.js", f"{script_name(SCRIPT)}x", "%2e%2e"])
def test_another_version_is_not_found_and_says_what_to_do(api: Api, name: str) -> None:
    response = api.http.request("GET", f"/embed/{name}")
    assert response.status_code == 404
    assert_error(response.json())
    assert "'sottovoce survey embed' prints the present one" in response.json()["error"]["message"]


def test_the_script_has_one_address(api: Api) -> None:
    assert api.http.request("GET", f"/assets/{ELEMENT}").status_code == 404


def test_another_content_has_another_name() -> None:
    assert script_name(SCRIPT) != script_name(SCRIPT + b" ")
    assert integrity_of(SCRIPT) != integrity_of(SCRIPT + b" ")


# --- the lines ----------------------------------------------------------------------------------


def test_the_lines_name_the_script_its_hash_the_survey_and_the_key(api: Api) -> None:
    found = told(api).json()
    digest = base64.b64encode(hashlib.sha384(api.http.request("GET", found["script"]).content).digest()).decode()
    assert found["integrity"] == f"sha384-{digest}"
    assert found["bytes"] == len(SCRIPT)
    assert found["allow_origins"] == [PAGE]
    attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', found["snippet"]))
    assert attributes == {
        "type": "module",
        "crossorigin": "anonymous",
        "referrerpolicy": "no-referrer",
        "src": ADDRESS + found["script"],
        "integrity": found["integrity"],
        "collector": ADDRESS,
        "survey": DRINKS.id,
        "key": api.ask("GET", "/v1/key", token="").json()["key"],
    }


def test_the_public_address_counts_before_the_one_that_was_asked_for(tmp_path: Path) -> None:
    with running(tmp_path, public_url=ADDRESS) as api:
        api.publish(DRINKS)
        found = told(api, address="http://127.0.0.1:8470").json()
    assert f'collector="{ADDRESS}"' in found["snippet"]
    assert "127.0.0.1" not in found["snippet"]


@pytest.mark.parametrize("address", ["", "stats.example.org", "javascript:alert(1)", "https://a%22b", "https://a b"])
def test_an_address_that_is_none_is_refused(api: Api, address: str) -> None:
    response = told(api, address=address)
    assert (response.status_code, response.json()["error"]["field"]) == (400, "address")


def test_nothing_in_the_lines_can_become_another_attribute() -> None:
    lines = snippet_of('https://a"><script>', SCRIPT, '"x', "<k>")
    assert "<script>" not in lines
    assert lines.count("<") == 4


@pytest.mark.parametrize("survey_id", ["0" * 64, "x"])
def test_an_unknown_survey(api: Api, survey_id: str) -> None:
    assert told(api, survey_id).status_code == 404


# --- the command --------------------------------------------------------------------------------


def test_the_command_prints_the_lines_and_warns_that_no_page_may_ask(run: Run, service: Service) -> None:
    found = run("survey", "embed", DRINKS.title)
    assert found.status == 0
    key = service.ask("GET", "/v1/key").json["key"]
    assert found.out == snippet_of(service.url, SCRIPT, DRINKS.id, key)
    assert "no pages of other origins may ask this collector yet" in found.err
    assert "--allow-origins https://www.example.org" in found.err
    told = run("survey", "embed", DRINKS.id, "--origin", "https://shop.example", "--json").json
    assert told["snippet"] == found.out
    assert [warning for warning in told["warnings"] if "pages of https://shop.example may not ask" in warning]
    assert "--allow-origins https://shop.example" in told["warnings"][0]


def test_a_page_to_try_it_with_is_written_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "question.html"
    printed = run("survey", "embed", DRINKS.id, "--out", str(file))
    page = file.read_text(encoding="utf-8")
    assert printed.out in page
    assert page.startswith("<!doctype html>")
    again = run("survey", "embed", DRINKS.id, "--out", str(file))
    assert (again.status, again.out) == (2, "")
    assert "question.html is there already, and was not changed: name another file with --out" in again.err
    assert file.read_text(encoding="utf-8") == page
    nowhere = run("survey", "embed", DRINKS.id, "--out", str(tmp_path / "none" / "a.html"))
    assert (nowhere.status, nowhere.out) == (2, "")
    assert "cannot be written (No such file or directory)" in nowhere.err


def test_an_origin_that_is_none(run: Run) -> None:
    found = run("survey", "embed", DRINKS.id, "--origin", "shop.example/page")
    assert (found.status, found.out) == (2, "")
    assert "--origin must be a web origin such as https://www.example.org, without a path" in found.err


def test_where_pages_may_ask_nothing_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data", "--workers", "0", "--allow-origins", f"{PAGE},https://b.example") as service:
        service.publish(DRINKS)
        monkeypatch.setenv("SOTTOVOCE_URL", service.url)
        monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
        run = run_here(capsys)
        assert run("survey", "embed", DRINKS.id).err == ""
        assert run("survey", "embed", DRINKS.id, "--origin", "https://b.example").err == ""
        other = run("survey", "embed", DRINKS.id, "--origin", "https://c.example").err
        assert f"--allow-origins {PAGE},https://b.example,https://c.example" in other


# --- a script that is not the one that was built ------------------------------------------------


def test_a_file_that_was_changed_on_the_collectors_disk_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PAGES:
        (tmp_path / name).write_bytes(load_files({})[name].plain.body)
    (tmp_path / ELEMENT).write_bytes(SCRIPT.replace(b"1", b"2", 1))
    with serving(tmp_path / "data", "--workers", "0", **{ASSETS_VARIABLE: str(tmp_path)}) as service:
        service.publish(DRINKS)
        assert service.ask("GET", PATH).status == 404
        monkeypatch.setenv("SOTTOVOCE_URL", service.url)
        monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
        found = run_here(capsys)("survey", "embed", DRINKS.id, "--json").json
    assert found["integrity"] != integrity_of(SCRIPT)
    assert "the collector's script is not the one of this package" in found["warnings"][0]


@contextmanager
def meddling(service: Service) -> Iterator[str]:
    """The address of a proxy that adds a line to every script on its way."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = service.ask("GET", self.path)
            body = found.body + (b"\n" if self.path.startswith("/embed/") else b"")
            self.send_response(found.status)
            self.send_header("Content-Type", found.headers["content-type"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_script_that_is_changed_on_its_way_is_never_embedded(run: Run, service: Service) -> None:
    with meddling(service) as address:
        found = run("survey", "embed", DRINKS.id, "--url", address)
    assert found.status != 0
    assert found.out == ""
    assert "the collector serves another script than it names" in found.err
