"""Bytes on a socket that no HTTP library would send: the service refuses or hangs up, and goes on serving others.

Whatever was answered with an acknowledgement is stored, and nothing else is.
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collector.raw_http import BODY_SECONDS, DRINKS, PLACE, Fuzz, Said, request
from collector.service import PATIENCE, Service, running


@contextlib.contextmanager
def giving(body_seconds: float, data: Path) -> Iterator[Service]:
    """A service that hangs up on whoever takes longer for a head or a body."""
    flags = ("--minimum-reports", "1", "--max-body-bytes", "4096", "--log-level", "debug")
    with running(data, "--body-seconds", str(body_seconds), *flags) as service:
        service.publish(DRINKS)
        yield service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with giving(BODY_SECONDS, tmp_path / "data") as service:
        yield service


# --- lengths and chunks ---------------------------------------------------------------------------


def lengths(fuzz: Fuzz) -> Iterator[Said]:
    """Content-Length that is wrong, missing, double, or no number."""
    body, _ = fuzz.batch()
    n = b"%d" % len(body)
    for said in (
        *(b"", b"-1", b"+" + n, b"0x39", n + b".0", n + b"e0", n + b" " + n, n + b"," + n, n + b", 5", b"\xb2"),
        *(b"%d" % 2**62, b"%d" % 2**63, b"%d" % 2**64, b"9" * 30, b"9" * 5000, b"nan", b"1_0", b"\x0057", n + b"\x00"),
    ):
        good, report_id = fuzz.batch()
        yield Said([fuzz.post(b"Content-Length: " + said, body=good)], ids=[report_id])
    for first, second in ((n, b"5"), (b"5", n), (n, n), (b"0", n), (n, b"")):
        good, report_id = fuzz.batch()
        lines = (b"Content-Length: " + first, b"Content-Length: " + second)
        yield Said([fuzz.post(*lines, body=good)], ids=[report_id])
    yield Said([fuzz.post(body=body)])  # none: no body, and then something that is no request
    for short in (0, 1, 5, 35, 36, 40, len(body) - 1):
        yield Said([fuzz.post(b"Content-Length: %d" % short, body=body)], answers=2)
    for long in (1, 21, 4000, 10**6):
        yield Said([fuzz.post(b"Content-Length: %d" % (len(body) + long), body=body)])
        yield Said([fuzz.post(b"Content-Length: %d" % (len(body) + long), body=body)], finish=True)
        yield Said([fuzz.post(b"Content-Length: %d" % (len(body) + long), body=body)], reset=True)


def chunked(body: bytes, *sizes: int) -> bytes:
    found, at = b"", 0
    for size in sizes:
        found += b"%x\r\n" % size + body[at : at + size] + b"\r\n"
        at += size
    return found


def chunks(fuzz: Fuzz) -> Iterator[Said]:
    """Chunked bodies: honest ones, and every lie that chunks can tell."""
    header, end = b"Transfer-Encoding: chunked", b"0\r\n\r\n"
    for sizes in ((57,), (1, 56), (36, 21), tuple([1] * 57)):
        body, report_id = fuzz.batch()
        yield Said([fuzz.post(header, body=chunked(body, *sizes) + end)], ids=[report_id])
    lies = [
        b"39\r\n%b",  # no end
        b"ff\r\n%b\r\n0\r\n\r\n",
        b"5\r\n%b\r\n0\r\n\r\n",
        b"-39\r\n%b\r\n0\r\n\r\n",
        b"0x39\r\n%b\r\n0\r\n\r\n",
        b"zz\r\n%b\r\n0\r\n\r\n",
        b"\r\n%b\r\n0\r\n\r\n",
        b"ffffffffffffffff\r\n%b\r\n0\r\n\r\n",
        b"fffffffffffffffff\r\n%b\r\n0\r\n\r\n",
        b"39;" + b"a" * 40_000 + b"\r\n%b\r\n0\r\n\r\n",
        b"39\n%b\n0\n\n",
        b"39\r\n%b0\r\n\r\n",
        b"39\r\n%b\r\n0\r\n" + b"x: y\r\n" * 2000 + b"\r\n",
        b"0\r\n\r\n39\r\n%b\r\n0\r\n\r\n",
    ]
    for lie in lies:
        for finish in (False, True):
            body, report_id = fuzz.batch()
            yield Said([fuzz.post(header, body=lie.replace(b"%b", body))], ids=[report_id], finish=finish)
    for other in (
        b"gzip, chunked",
        b"chunked, gzip",
        b"identity",
        b"chunked, chunked",
        b"xchunked",
        b"\x0bchunked",
        b"",
    ):
        body, report_id = fuzz.batch()
        said = fuzz.post(b"Transfer-Encoding: " + other, body=chunked(body, 57) + end)
        yield Said([said], ids=[report_id])
    for length in (b"57", b"0", b"5"):  # both ways at once: which one counts must not be a matter of opinion
        body, report_id = fuzz.batch()
        lines = (b"Content-Length: " + length, header)
        yield Said([fuzz.post(*lines, body=chunked(body, 57) + end)], ids=[report_id])
        yield Said([fuzz.post(*reversed(lines), body=chunked(body, 57) + end)], ids=[report_id])
    yield Said([fuzz.post(header, body=chunked(bytes(8192), 4096, 4096) + end)])  # longer than is read


def kinds(fuzz: Fuzz) -> Iterator[Said]:
    """Compression, forms, and other media types: 415, whatever the body is."""
    body, _ = fuzz.batch()
    bomb = gzip.compress(bytes(2**24), 9)[:4000]
    for coding in (b"gzip", b"br", b"deflate", b"zstd", b"identity", b"gzip, gzip", b"", b"\xff"):
        for content in (body, bomb):
            yield Said([fuzz.post(b"Content-Encoding: " + coding, sized(content), body=content)])
    for kind in (
        *(b"", b"text/plain", b"application/octet-stream", b"application/x-www-form-urlencoded", b"*/*"),
        *(b"multipart/form-data; boundary=x", b"application/vnd.sottovoce.report", b"application/json5", b"\xff/\xfe"),
    ):
        for content in (body, b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n", b"a=b"):
            yield Said([fuzz.post(sized(content), body=content, kind=kind)])


def sized(body: bytes) -> bytes:
    return b"Content-Length: %d" % len(body)


# --- heads ----------------------------------------------------------------------------------------


def heads(fuzz: Fuzz) -> Iterator[Said]:
    """Addresses, methods, versions and headers that are none."""
    survey = f"/v1/surveys/{DRINKS.id}".encode()
    for path in (
        *(b"/%2e%2e/%2e%2e/etc/passwd", b"/../../etc/passwd", b"/v1/surveys/%00", b"/v1/surveys/\x00", b"//v1//key"),
        *(b"/v1/surveys/%ff%fe", b"/v1/surveys/%ed%a0%80", b"/v1/surveys/%c0%af", b"/v1/surveys/%zz", b"/v1/surveys/%"),
        *(
            b"/v1/surveys/\xc3\xa9",
            b"/v1/surveys/a%2fb",
            b"/v1%2fkey",
            b"/v1/key%20",
            b"/v1/key/",
            b"/v1/key;a=b",
            b"*",
        ),
        *(b"http://elsewhere.example/v1/key", b"https://u:p@[::1]:1/v1/key", b"//elsewhere.example/v1/key", b"", b"v1"),
        *(survey + b"?" + b"a" * 5000, survey + b"?%ff=%00&=&&==", survey + b"#x", survey.upper(), survey + b"\x7f"),
        *(
            survey + b"/estimate?level=%ff",
            survey + b"/segments/%f0%9f%92%a9",
            b"/" + b"a" * 70_000,
            b"/" + b"/a" * 9000,
        ),
        *(b"/v1/surveys/" + b"%41" * 20_000, b"/v1/surveys/" + b"0" * 64, b"/v1/tokens/' OR 1=1 --", b"/\r\nX: y"),
    ):
        for method in (b"GET", b"POST", b"DELETE", b"OPTIONS", b"HEAD"):
            yield Said([request(method, path, b"Content-Length: 0", b"Connection: close")])
    for method in (
        b"get",
        b"BREW",
        b"",
        b"A" * 5000,
        b"GE T",
        b"G\x00T",
        b"CONNECT",
        b"TRACE",
        b"PRI",
        b"QUERY",
        b"\xff",
    ):
        for target in (b"/healthz", PLACE, b"*", b"here:443"):
            yield Said([request(method, target, b"Connection: close")], finish=method == b"CONNECT")
    for version in (b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.2", b"HTTP/9.9", b"http/1.1", b"HTTP/1.1 x", b""):
        yield Said([request(b"GET", b"/healthz", b"Connection: close", version=version)])
    for lines in (
        *((b"X: y",) * 99, (b"X: y",) * 5000, (b"X: " + b"y" * 500_000,), (b"x" * 70_000 + b": y",)),
        *(
            (b"no colon",),
            (b": empty",),
            (b"a b: c",),
            (b"X: a\x00b",),
            (b"X: a\r\n folded",),
            (b"X : y",),
            (b"Host: b",),
        ),
        *((b"Authorization: \xff\xfe",), (b"Authorization: Bearer " + b"x" * 9000,), (b"Authorization: Bearer",)),
        *(
            (b"Authorization: bearer sv_" + b"0" * 8 + b"_" + b"A" * 43,),
            (b"Upgrade: websocket", b"Connection: upgrade"),
        ),
        *((b"Upgrade: h2c", b"Connection: Upgrade, HTTP2-Settings", b"HTTP2-Settings: AAMAAABk"), (b"Expect: x",)),
        *((b"Origin: \xff",), (b"Cookie: " + b"a=b; " * 1000,), (b"Range: bytes=0-1",), (b"Accept: nothing/here",)),
        *((b"X-HTTP-Method-Override: DELETE",), (b"X-Forwarded-Host: elsewhere", b"Forwarded: for=_x")),
    ):
        for target in (b"/healthz", b"/v1/tokens"):
            yield Said([request(b"GET", target, *lines, b"Connection: close")])
    for junk in (
        b"",
        b"\r\n" * 1000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
        b"GET / HTTP/1.1\r\n",
    ):
        yield Said([junk], finish=True)
    for _ in range(200):
        yield Said([fuzz.rng.bytes(int(fuzz.rng.integers(1, 400)))], finish=True)


def mutated(fuzz: Fuzz, n: int) -> Iterator[Said]:
    """Good requests with a few bytes of the head changed, dropped or doubled; the body stays what it is."""
    token = b"Authorization: Bearer " + fuzz.service.token.encode()
    for i in range(n):
        body, report_id = fuzz.batch()
        good = fuzz.post(sized(body), b"Accept: */*", body=b"")
        if i % 3 == 0:
            target = (
                b"/v1/surveys/" + DRINKS.id.encode() + fuzz.pick(b"/status", b"/estimate?level=0.5", b"", b"/segments")
            )
            good, body = request(b"GET", target, token, b"Content-Length: 0"), b""
        head = bytearray(good)
        for _ in range(int(fuzz.rng.integers(4))):
            at = int(fuzz.rng.integers(len(head)))
            match int(fuzz.rng.integers(4)):
                case 0:
                    head[at] = int(fuzz.rng.integers(256))
                case 1:
                    del head[at : at + int(fuzz.rng.integers(1, 6))]
                case 2:
                    head[at:at] = fuzz.pick(
                        b"\r\n", b"\x00", b" ", b":", b"%", b"\n", b"\xff", b"/", b"0", b"\t", b"\r"
                    )
                case 3:
                    head[at:at] = head[at : at + 20]
        # Some say no more after it: what was cut off is not waited for.
        yield Said([bytes(head) + body], ids=[report_id] if body else [], finish=i % 4 == 1)


# --- how it is sent -------------------------------------------------------------------------------


def in_pieces(fuzz: Fuzz) -> Iterator[Said]:
    """Slowly, together, and not to the end."""
    for size in (1, 7, 30):  # too slow in the body
        body, report_id = fuzz.batch()
        head = fuzz.post(sized(body), body=b"")
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        yield Said([head, *pieces], ids=[report_id])
    for _ in range(8):  # too slow in the head
        head = fuzz.post(sized(bytes(57)), body=b"")
        yield Said([head[at : at + 5] for at in range(0, len(head), 5)])
    for n in (2, 8, 40):  # one after another without waiting
        made = [fuzz.batch() for _ in range(n)]
        together = b"".join(fuzz.post(sized(body), body=body) for body, _ in made)
        yield Said([together], answers=n, ids=[report_id for _, report_id in made])
        # Beginning with a good one, and then a bad one: what comes behind that is not read as a request.
        good, later = fuzz.batch(), fuzz.batch()
        bad = b"GET / HTTP/1.1\r\nbad header\r\n\r\n"
        said = fuzz.post(sized(good[0]), body=good[0]) + bad + fuzz.post(sized(later[0]), body=later[0])
        yield Said([said], answers=3, ids=[good[1], b"", later[1]])
    for end in range(0, 260, 7):  # cut off at every place, politely and not
        for reset in (False, True):
            body, report_id = fuzz.batch()
            said = fuzz.post(sized(body), body=body)[:end]
            yield Said([said], ids=[report_id], finish=not reset, reset=reset)
    for _ in range(3):
        body, report_id = fuzz.batch()
        head = fuzz.post(sized(body), b"Expect: 100-continue", body=b"")
        yield Said([head, body], ids=[report_id])


@pytest.mark.slow
@pytest.mark.parametrize("family", [lengths, chunks, kinds, heads, in_pieces])
def test_what_no_library_sends(service: Service, family: Callable[[Fuzz], Iterator[Said]]) -> None:
    fuzz = Fuzz(service, seed=1)
    fuzz.send(list(family(fuzz)))
    assert fuzz.statuses.total() > 30
    fuzz.settle()


def test_changed_heads(service: Service) -> None:
    fuzz = Fuzz(service, seed=2)
    fuzz.send(list(mutated(fuzz, 3000)))
    assert {200, 400, 401, 404, 405, 415} <= fuzz.statuses.keys()
    assert len(fuzz.acknowledged) > 300
    fuzz.settle()


def test_behind_two_lengths_nothing_is_read(tmp_path: Path) -> None:
    """Where a proxy in front believes the other length, somebody's next request could be hidden in this one's body."""
    # Exactly one answer each is expected: nobody is cut off because this machine stood still for a second.
    with giving(PATIENCE, tmp_path / "data") as service:
        fuzz = Fuzz(service, seed=3, body_seconds=PATIENCE)
        all_said = []
        for lines in (
            (b"Content-Length: 5", b"Transfer-Encoding: chunked"),
            (b"Transfer-Encoding: chunked", b"Content-Length: 5"),
        ):
            body, report_id = fuzz.batch()
            first = fuzz.post(*lines, body=chunked(body, 57) + b"0\r\n\r\n")
            all_said.append(Said([first + request(b"GET", b"/v1/key")], answers=2, ids=[report_id]))
        assert [len(heard.answers) for heard in fuzz.send(all_said)] == [1, 1]
        fuzz.settle()
