"""The proxy, with its real configuration: it tells the collector nothing of who asks, and writes nothing down."""

from __future__ import annotations

import http.server
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import urllib3

from collector.certificates import self_signed
from collector.service import PATIENCE, kept_port, until
from deploy.files import DEPLOY, outward_paths

NGINX = shutil.which("nginx", path="/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin")
CONF = (DEPLOY / "proxy" / "nginx.conf").read_text("utf-8")

ADDRESS_HEADERS = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Real-IP": "203.0.113.9",
    "Forwarded": "for=203.0.113.9",
    "X-Client-IP": "203.0.113.9",
    "CF-Connecting-IP": "203.0.113.9",
    "True-Client-IP": "203.0.113.9",
    "X-Cluster-Client-IP": "203.0.113.9",
    "Via": "1.1 proxy.of.203.0.113.9",
    "User-Agent": "of a person",
}


@dataclass
class Recorder:
    """What stands in the collector's place, to see all that reaches it."""

    port: int
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def recording() -> Iterator[Recorder]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = b""
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            recorder.requests.append((self.path, dict(self.headers), body))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        recorder = Recorder(server.server_address[1])
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield recorder
        finally:
            server.shutdown()


@dataclass
class Proxy:
    url: str
    folder: Path
    pool: urllib3.PoolManager

    def ask(self, path: str, **given: object) -> urllib3.BaseHTTPResponse:
        return self.pool.request("POST", self.url + path, **given)  # type: ignore[arg-type]


@pytest.fixture
def collector() -> Iterator[Recorder]:
    with recording() as recorder:
        yield recorder


@pytest.fixture
def proxy(tmp_path: Path, collector: Recorder) -> Iterator[Proxy]:
    """Its places and addresses are a test's; nothing else of the file is changed."""
    if NGINX is None:
        pytest.skip("nginx is not installed")
    certificate, key = self_signed(tmp_path)
    folder = tmp_path / "tmp"
    folder.mkdir()
    with kept_port() as port, kept_port() as alive:
        conf = CONF.replace("/run/secrets/tls.pem", str(certificate)).replace("/run/secrets/tls.key", str(key))
        conf = conf.replace("/tmp/nginx", f"{folder}/nginx").replace("listen 8443", f"listen 127.0.0.1:{port}")
        conf = conf.replace("127.0.0.1:8080", f"127.0.0.1:{alive}")
        for name in ("collector-1", "collector-2"):
            conf = conf.replace(f"{name}:8470", f"127.0.0.1:{collector.port}")
        (tmp_path / "nginx.conf").write_text(conf)
        command = [NGINX, "-c", str(tmp_path / "nginx.conf"), "-p", str(folder), "-g", "daemon off;"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            until(lambda: listens(alive), "nginx listens")
            pool = urllib3.PoolManager(ca_certs=str(certificate), retries=False, timeout=PATIENCE)
            yield Proxy(f"https://localhost:{port}", folder, pool)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_nobody_is_told_who_asks(proxy: Proxy, collector: Recorder) -> None:
    assert proxy.ask("/v1/surveys/ab/reports", body=b"report", headers=ADDRESS_HEADERS).status == 200
    ((path, headers, body),) = collector.requests
    assert (path, body) == ("/v1/surveys/ab/reports", b"report")
    assert {name.lower() for name in headers} <= {"host", "content-length", "accept-encoding", "accept"}
    assert headers["Host"] == proxy.url.removeprefix("https://")
    assert "203.0.113.9" not in str(headers)


def test_bodies_and_mistakes_leave_nothing_on_the_disk(proxy: Proxy, collector: Recorder) -> None:
    large = bytes(1024 * 1000)
    assert proxy.ask("/v1/surveys/ab/reports", body=large).status == 200
    assert proxy.ask("/v1/surveys/ab/reports", body=iter([large[:70_000], large[70_000:]]), chunked=True).status == 200
    assert [body for *_, body in collector.requests] == [large, large]
    assert proxy.ask("/v1/surveys/ab/reports", body=bytes(1024 * 1024 + 1)).status == 413
    for path in ("/metrics", "/readyz", "/healthz", "/openapi.json", "/elsewhere"):
        assert proxy.ask(path).status == 404
    assert len(collector.requests) == 2
    assert [file.name for file in proxy.folder.rglob("*") if file.is_file()] == ["nginx.pid"]


def test_pages_are_passed_on(proxy: Proxy, collector: Recorder) -> None:
    paths = outward_paths()
    assert [proxy.pool.request("GET", proxy.url + path).status for path in paths] == [200] * len(paths)
    assert [path for path, *_ in collector.requests] == paths


def test_only_the_newest_tls_and_no_visit_is_known_again(proxy: Proxy) -> None:
    host, port = proxy.url.removeprefix("https://").split(":")
    context = ssl.create_default_context(cafile=str(proxy.pool.connection_pool_kw["ca_certs"]))
    session = None
    for _ in range(2):
        plain = socket.create_connection((host, int(port)), timeout=PATIENCE)
        with context.wrap_socket(plain, server_hostname=host, session=session) as tls:
            tls.sendall(b"GET /v1/keys HTTP/1.1\r\nHost: a\r\n\r\n")
            assert tls.recv(1)  # and with it whatever the server gave to be known by
            assert tls.version() == "TLSv1.3"
            assert not tls.session_reused
            session = tls.session
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with socket.create_connection((host, int(port))) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain, server_hostname=host)


def test_the_configuration_names_no_log() -> None:
    assert "access_log off;" in CONF
    assert "error_log /dev/null crit;" in CONF
    assert CONF.count("access_log") == CONF.count("error_log") == 1
    assert "$remote_addr" not in CONF
    assert "$proxy_add_x_forwarded_for" not in CONF
