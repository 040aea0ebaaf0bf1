"""What nobody may find afterwards, looked for in every byte that the service left: tables, files, logs, a backup.

Requests come from an address of their own, 127.7.7.7, with words in them that stand nowhere else. The service logs all
it can, and everything that can go wrong does.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import math
import re
import secrets
import signal
import sqlite3
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

import sottovoce as sv
from collector.places import Place
from collector.service import PATIENCE, Service, running, until
from sottovoce.collector.running.backup import backup
from sottovoce.collector.store import DATABASE_FILE
from sottovoce.collector.store.migrations import COLUMNS
from sottovoce.core.signing import from_base64url
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.surveys.survey import Survey

PEER = "127.7.7.7"
WORD = "unmistakable"
"""Part of everything that requests say beside what must be kept."""

METHOD = "EIGENTUEMLICH"
"""A method that there is not: a word that somebody chose to send, like any other."""

TITLE = "Wassertrinkerbefragung"
"""Part of what must be kept, and still not logged."""

SURVEY = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title=f"{TITLE}; DROP TABLE surveys --")
WIDTH = SURVEY.mechanism.report_bytes

FORGED = f"\r\n2026-01-01T00:00:00Z error   {WORD} forged \x1b[31m\x00"

HEADERS = {
    "User-Agent": f"Mozilla/9.9 ({WORD})",
    "X-Forwarded-For": f"203.0.113.77, {WORD}",
    "Forwarded": f"for=203.0.113.77;by={WORD}",
    "X-Real-IP": "203.0.113.77",
    "Referer": f"https://{WORD}.example/",
    "Origin": f"https://{WORD}.example",
    "Cookie": f"session={WORD}",
    "Accept-Language": WORD,
    "X-Request-Id": WORD,
    "Traceparent": f"00-{WORD}",
}


@dataclass
class Visit:
    """A service that was visited, and all that was said to it."""

    service: Service
    key: bytes = b""
    """The signing key's private half."""
    sent: list[tuple[bytes, bytes]] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    """The secret halves of tokens, known and unknown."""
    ports: set[int] = field(default_factory=set)
    statuses: set[int] = field(default_factory=set)
    began: float = field(default_factory=time.time)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        """One request from our own address; JSON unless the body is bytes."""
        host, port = self.service.url.removeprefix("http://").split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE, source_address=(PEER, 0))
        with contextlib.closing(connection):
            connection.connect()
            self.ports.add(connection.sock.getsockname()[1])
            given = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
            if body is not None and not isinstance(body, bytes):
                body, given = json.dumps(body).encode(), {"Content-Type": "application/json", **given}
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            self.statuses.add(answer.status)
            return answer.status, answer.read()

    def admin(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        return self.ask(method, path, body, Authorization=f"Bearer {self.service.token}")


def honest(visit: Visit) -> None:
    """What analysts and devices do, with all their headers."""
    said = {"statement": SURVEY.to_json(), "minimum_reports": 1}
    assert visit.admin("POST", f"/v1/surveys?{WORD}", said)[0] == 201
    place = f"/v1/surveys/{SURVEY.id}/reports?{WORD}=1"
    visit.sent = [(secrets.token_bytes(16), SURVEY.randomize("tea")) for _ in range(60)]
    # One at a time, so that there is an order of arrival to be forgotten.
    for pair in visit.sent[:40]:
        assert visit.ask("POST", place, encode_batch(SURVEY.id, [pair]), Content_Type=BATCH_MEDIA_TYPE)[0] == 200
    assert visit.ask("POST", place, encode_batch(SURVEY.id, visit.sent[40:]), Content_Type=BATCH_MEDIA_TYPE)[0] == 200
    until(lambda: visit.service.status(SURVEY)["waiting"] == 0, "everything is counted")
    for path in (f"/v1/surveys/{SURVEY.id}/estimate?level=0.9", "/v1/tokens", "/metrics", "/openapi.json", "/readyz"):
        assert visit.admin("GET", path)[0] == 200
    token = json.loads(visit.admin("POST", "/v1/tokens", {"scopes": ["read"]})[1])
    visit.secrets += [token["token"][12:], visit.service.token[12:]]
    assert visit.admin("DELETE", f"/v1/tokens/{token['id']}")[0] == 200


def hostile(visit: Visit) -> None:
    """Everything that is refused, with words in every place that takes some."""
    stranger = secrets.token_urlsafe(32)
    visit.secrets.append(stranger)
    place = f"/v1/surveys/{SURVEY.id}"
    expected = {
        400: [
            visit.admin("GET", f"{place}/estimate?{WORD}=1"),
            visit.admin("GET", f"{place}/estimate?level={WORD}"),
            visit.admin("POST", "/v1/surveys", {WORD: WORD}),
            visit.admin("POST", "/v1/tokens", {"scopes": ["read"], "note": f"{WORD}{FORGED}"}),
            visit.admin("PUT", "/v1/log-level", {"level": f"{WORD}{FORGED}"}),
            visit.ask("POST", f"{place}/reports", WORD.encode(), Content_Type=BATCH_MEDIA_TYPE),
            visit.ask("POST", f"{place}/reports", {"id": WORD, "report": WORD, WORD: FORGED}),
        ],
        401: [
            visit.ask("GET", "/v1/tokens", Authorization=f"Bearer sv_00000000_{stranger}"),
            visit.ask("GET", "/v1/tokens", Authorization=f"Basic {WORD}"),
        ],
        404: [
            visit.ask("GET", f"/{WORD}"),
            visit.ask("GET", f"/v1/surveys/{WORD}%0d%0a{WORD}%00"),
            visit.ask("GET", f"/v1/surveys/{WORD}/{WORD}"),
            visit.admin("DELETE", f"/v1/tokens/{WORD}"),
            visit.admin("GET", f"{place}/segments/{WORD}"),
        ],
        405: [visit.ask("DELETE", "/healthz"), visit.ask(METHOD, "/healthz"), visit.ask(METHOD, f"{place}")],
        409: [visit.admin("GET", f"{place}/rounds")],
        # Only said to be so long: who sends it all may be hung up on before the answer is read.
        413: [
            visit.ask("POST", f"{place}/reports", WORD.encode(), Content_Type=BATCH_MEDIA_TYPE, Content_Length="999999")
        ],
        415: [
            visit.ask("POST", f"{place}/reports", b"", Content_Type=f"text/{WORD}"),
            visit.ask("POST", f"{place}/reports", b"", Content_Type=BATCH_MEDIA_TYPE, Content_Encoding=WORD),
        ],
        422: [
            visit.ask("POST", f"{place}/reports", {"id": WORD, "report": WORD}),
            visit.admin("POST", "/v1/surveys", {"statement": f'{{"kind": "{WORD}"}}'}),
            visit.admin("POST", "/v1/surveys", {"statement": WORD + FORGED}),
            visit.admin("POST", "/v1/surveys", {"statement": said_with(WORD + FORGED)}),
            visit.admin("POST", "/v1/surveys", {"statement": said_with(f"{WORD}\x00")}),
            visit.admin("POST", "/v1/surveys", {"statement": said_with(f"{WORD}\ud800")}),
        ],
    }
    for status, answers in expected.items():
        assert [found for found, _ in answers] == [status] * len(answers), answers


def said_with(title: str) -> str:
    """The survey's statement under another title."""
    return json.dumps({**json.loads(SURVEY.to_json()), "title": title})


def broken(visit: Visit, place: Place) -> None:
    """Rows that somebody else spoilt: what the service says of them, to whoever asks and in its log."""
    spoil(place, "UPDATE surveys SET labels = ?", (f"{WORD} [",))
    assert visit.admin("GET", f"/v1/surveys/{SURVEY.id}/status")[0] == 500
    assert visit.ask("GET", "/v1/surveys")[0] == 500
    spoil(place, "UPDATE surveys SET labels = '[]'")
    said = {"statement": said_with(f"{TITLE} again"), "minimum_reports": 1}
    other = json.loads(visit.admin("POST", "/v1/surveys", said)[1])
    spoil(place, "UPDATE surveys SET canonical = ? WHERE id = ?", (WORD.encode(), other["id"]))
    assert visit.admin("GET", f"/v1/surveys/{other['id']}/status")[0] == 503
    spoil(place, "UPDATE surveys SET canonical = ? WHERE id = ?", (other["statement"].encode(), other["id"]))


def spoil(place: Place, statement: str, values: tuple[Any, ...] = ()) -> None:
    if place.database:
        with psycopg.connect(place.database) as database:
            asked: Any = statement.replace("UPDATE ", "UPDATE sottovoce.").replace("?", "%s")
            database.execute(asked, values)
    else:
        with contextlib.closing(sqlite3.connect(place.data / DATABASE_FILE, timeout=PATIENCE)) as file, file:
            file.execute(statement, values)


def tables(place: Place) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, those that the package does not know of too."""
    if place.database:
        with psycopg.connect(place.database) as database:
            schemas = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'"
            names = database.execute(schemas).fetchall()
            assert {schema for schema, _ in names} == {"sottovoce"}
            return {name: database.execute(rows_of(f"{schema}.{name}")).fetchall() for schema, name in names}
    with contextlib.closing(sqlite3.connect(place.data / DATABASE_FILE)) as file:
        names = file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {name: file.execute(rows_of(name)).fetchall() for (name,) in names}


def rows_of(table: str) -> Any:
    return f"SELECT * FROM {table}"


@dataclass(frozen=True)
class Left:
    """What is there after a service has ended."""

    visit: Visit
    place: Place
    log: bytes
    kept: bytes
    """All bytes of all files beside the signing key, of all rows, and of a backup."""
    rows: dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def left(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Left]:
    """One visit for all tests, on each kind of database."""
    folder = tmp_path_factory.mktemp("leaks")
    with contextlib.ExitStack() as stack:
        database = ""
        if request.param == "postgresql":
            database = stack.enter_context(fresh_database(request.getfixturevalue("postgresql_server")))
        yield visited(Place(database, folder / "data"))


@contextlib.contextmanager
def fresh_database(server: str) -> Iterator[str]:
    name = f"sottovoce_leaks_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def visited(place: Place) -> Left:
    flags = ("--log-level", "debug", "--minimum-reports", "1", "--max-body-bytes", "100000")
    with running(place.data, *flags, database=place.database) as service:
        visit = Visit(service)
        honest(visit)
        hostile(visit)
        broken(visit, place)
        # While it runs, too.
        until(lambda: forgotten(visit, place), "the order is forgotten")
        until(lambda: service.status(SURVEY)["waiting"] == 0, "everything is counted")
        until(lambda: not list(moments(tables(place), visit.began)), "the lease is given back")
        visit.key = from_base64url(key_text(place))
        service.process.send_signal(signal.SIGTERM)
        assert service.process.stdout is not None
        told = service.process.stdout.read()
        assert service.process.wait(PATIENCE) == 0
        log = service.log.read_bytes() + told
    archive = place.data.with_suffix(".zip")
    backup(place.database, place.data, archive)
    rows = tables(place)
    cells = [flat(value) for found in rows.values() for row in found for value in row]
    return Left(visit, place, log, b"\n".join([*contents(place), archive.read_bytes(), *cells]), rows)


def contents(place: Place) -> list[bytes]:
    """All bytes of the files in the data folder, without the signing key."""
    return [file.read_bytes() for file in place.data.iterdir() if file.name != "signing.key"]


def shows_order(sent: list[tuple[bytes, bytes]], content: bytes) -> bool:
    """Whether two reports that came in one body stand one behind the other."""
    return any(first[0] + first[1][4:] + second[0] in content for first, second in pairwise(sent[40:]))


def forgotten(visit: Visit, place: Place) -> bool:
    """Whether no file shows the order; a report that is sent again lets the service count, and clean up behind it."""
    again = encode_batch(SURVEY.id, visit.sent[:1])
    visit.ask("POST", f"/v1/surveys/{SURVEY.id}/reports", again, Content_Type=BATCH_MEDIA_TYPE)
    return not any(shows_order(visit.sent, content) for content in contents(place))


def key_text(place: Place) -> str:
    (text,) = re.findall(r"[\w-]{43}", (place.data / "signing.key").read_text())
    return text


def flat(value: Any) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()


def moments(rows: dict[str, list[tuple[Any, ...]]], began: float) -> Iterator[tuple[str, Any]]:
    """Numbers, and digits in text, that are a time of these days in any unit."""
    for table, found in rows.items():
        for value in (value for row in found for value in row):
            numbers = [value] if isinstance(value, int | float) else []
            if isinstance(value, str):
                numbers = [int(digits) for digits in re.findall(r"(?<![0-9a-f])\d{9,19}(?![0-9a-f])", value)]
            for number in numbers:
                if any(abs(number / unit - began) < 86_400 for unit in (1, 1e3, 1e6, 1e9)):
                    yield table, value


@pytest.mark.slow
def test_nothing_is_left_of_who_asked_and_how(left: Left) -> None:
    assert left.visit.statuses == {200, 201, 400, 401, 404, 405, 409, 413, 415, 422, 500, 503}
    assert left.log.count(b"a request failed unexpectedly") == 2
    assert left.log.count(b"the store failed") == 1
    everywhere = [PEER, "203.0.113.77", WORD, WORD.upper(), "Mozilla", *left.visit.secrets, "2026-01-01"]
    for word in everywhere:
        assert word.encode() not in left.kept, word
        assert word.encode() not in left.log, word
    # Four given bytes are among the 1,500 random ones that are kept with a probability of 3 * 10^-7.
    packed = bytes(map(int, PEER.split(".")))
    for form in (
        packed,
        packed.hex().encode(),
        str(int.from_bytes(packed, "big")).encode(),
        b"::ffff:" + PEER.encode(),
    ):
        assert form not in left.kept
        assert form not in left.log
    for port in left.visit.ports:
        assert not re.search(rb"(?<!\d)%d(?!\d)" % port, left.log)


def test_a_method_that_somebody_made_up_is_not_repeated(left: Left) -> None:
    assert METHOD.encode() not in left.kept
    assert METHOD.encode() not in left.log


def test_the_log_tells_nothing_of_what_was_asked(left: Left) -> None:
    lines = left.log.decode().splitlines()
    assert sum("route=/v1/tokens status=200" in line for line in lines) == 1
    for word in ("127.", TITLE, SURVEY.id[:12], "/reports", "sv_", str(left.place.data), left.place.database or "127."):
        assert word not in left.log.decode(), word
    # A line is ours or belongs to the one before: nobody can write one that looks like another.
    for line in lines:
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (debug|info|warning|error) |    ", line), line
        assert line.isprintable()


def test_secrets_are_kept_nowhere(left: Left) -> None:
    private = left.visit.key
    assert len(private) == 32
    for form in (private, private.hex().encode(), key_text(left.place).encode()):
        assert form not in left.kept
        assert form not in left.log
    # What is kept of a token is the digest of its secret half.
    digests = {bytes(row[list(COLUMNS["tokens"]).index("digest")]) for row in left.rows["tokens"]}
    assert hashlib.sha256(left.visit.service.token[12:].encode()).digest() in digests


@pytest.mark.slow
def test_no_time_finer_than_the_precision(left: Left) -> None:
    assert not list(moments(left.rows, left.visit.began))
    epochs = {int(left.visit.began // 3600), int(time.time() // 3600), 0}
    for table, names in COLUMNS.items():
        if "epoch" in names:
            assert {row[list(names).index("epoch")] for row in left.rows[table]} <= epochs
    now = range(int(left.visit.began) - 5, int(time.time()) + 120)
    for text in {b"%d" % (second // 100) for second in now}:
        assert not re.search(rb"(?<![0-9a-f])" + text + rb"\d\d(?![0-9a-f])", left.kept)
    # The first 5 of the 8 bytes of such a floating-point number tell it to 4 seconds. Some 1,500 random bytes are kept
    # (ids, signatures, digests): that one of 2 * 40 such words is among them by chance has a probability of 10^-7.
    for second in range(4 * (now[0] // 4), now[-1], 4):
        assert struct.pack(">d", second)[:5] not in left.kept
        assert struct.pack("<d", math.nextafter(second + 4, 0))[3:] not in left.kept


def test_no_order_of_arrival(left: Left) -> None:
    sent = left.visit.sent
    names = list(COLUMNS["segment_parts"])
    parts: dict[tuple[Any, str], bytes] = {}
    for row in sorted(left.rows["segment_parts"], key=lambda row: row[names.index("part")]):
        place = (row[names.index("segment")], row[names.index("field")])
        parts[place] = parts.get(place, b"") + bytes(row[names.index("content")])
    found: dict[bytes, bytes] = {}
    for (segment, kind), ids in parts.items():
        if kind == "ids":
            listed = [ids[at : at + 16] for at in range(0, len(ids), 16)]
            assert listed == sorted(listed)
            payloads = parts[segment, "payloads"]
            assert len(payloads) == WIDTH * len(listed)
            found |= {one: payloads[WIDTH * i : WIDTH * (i + 1)] for i, one in enumerate(listed)}
    # Nothing stands beside a report: these are all bytes that are kept of them.
    assert found == {report_id: report[4:] for report_id, report in sent}
    assert left.rows["waiting"] == []
    # No free page and no journal shows it either.
    assert not shows_order(sent, left.kept)
