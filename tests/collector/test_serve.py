"""`sottovoce serve` in a process of its own: it starts from nothing, says what went wrong, and ends cleanly."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys

import pytest
import urllib3
import uvloop

import sottovoce as sv
from collector.certificates import self_signed
from collector.service import PATIENCE, Service, children, command_line, environment, running, until
from sottovoce.cli import main
from sottovoce.collector.store import DATABASE_FILE, open_store
from sottovoce.core.signing import SigningKey, fingerprint, from_base64url
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.surveys.survey import Survey

SURVEY = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")

REPORT_BYTES = SURVEY.mechanism.report_bytes


def reports(n: int) -> list[tuple[bytes, bytes]]:
    """Honest ones, with ids of their own."""
    return [(secrets.token_bytes(16), SURVEY.randomize("water" if i % 3 else "tea")) for i in range(n)]


def command(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command as people run it, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "sottovoce", *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment(**variables),
        timeout=PATIENCE,
    )


def said_by(status: int, out: str, err: str) -> str:
    """What a service that cannot start says: one line, and exit status 2."""
    assert (status, out) == (2, ""), err
    (line,) = err.splitlines()
    return line.removeprefix("sottovoce: error: ")


def refusal(*words: str, **variables: str) -> str:
    """What a process says that cannot start."""
    done = command("serve", *words, **variables)
    return said_by(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def refusal_here(monkeypatch, capsys):
    """The same in this process, in which nothing may get as far as running."""

    def ran(coroutine):
        coroutine.close()
        pytest.fail("the service started")

    def here(*words: str) -> str:
        with monkeypatch.context() as patch, unchanged_logging():
            patch.setattr(os, "environ", environment())
            patch.setattr(uvloop, "run", ran)
            status = main(["serve", *words])
        return said_by(status, *capsys.readouterr())

    return here


@contextlib.contextmanager
def unchanged_logging():
    """Whatever a service in this process set up for its log is gone at the end."""
    names, root = ("", "sottovoce"), logging.getLogger()
    levels, handlers = [logging.getLogger(name).level for name in names], list(root.handlers)
    try:
        yield
    finally:
        root.handlers = handlers
        for name, level in zip(names, levels, strict=True):
            logging.getLogger(name).setLevel(level)


def holding_open(service: Service, head: bytes = b"") -> socket.socket:
    """A connection on which only the beginning of a request has been sent."""
    host, port = service.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    connection.sendall(head)
    return connection


def heard(service: Service, head: bytes) -> bytes:
    """What is answered to it, if anything is before the service hangs up."""
    with holding_open(service, head) as connection, contextlib.suppress(ConnectionError):
        return connection.recv(1000)
    return b""


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A service that counts nothing and does not wait for long."""
    with running(tmp_path_factory.mktemp("idle") / "data", "--body-seconds", "1", "--workers", "0") as service:
        service.publish(SURVEY)
        yield service


# --- it works ---------------------------------------------------------------------------------


def test_from_an_empty_folder_to_an_estimate(place):
    sent = reports(300)
    with running(place.data, database=place.database) as service:
        assert service.ask("GET", "/healthz").status == service.ask("GET", "/readyz").status == 200
        service.publish(SURVEY)
        for part in (sent[:200], sent[100:]):
            assert service.send(SURVEY, part).json == {"accepted": 200, "refused": []}
        counted = service.counted(SURVEY, REPORT_BYTES)
        told = service.ask("GET", f"/v1/surveys/{SURVEY.id}/estimate").json
        assert service.stop() == 0
    assert counted == dict.fromkeys((report_id for report_id, _ in sent), 1)
    ours = json.loads(SURVEY.estimate(report for _, report in sent).to_json())
    assert told["n_reports"] == 300
    assert told["answers"] == ours["answers"]
    assert stat.S_IMODE(place.data.stat().st_mode) == 0o700
    assert stat.S_IMODE((place.data / "signing.key").stat().st_mode) == 0o600


def test_a_second_start_keeps_key_and_tokens_and_shows_none(tmp_path):
    data = tmp_path / "data"
    with running(data, "--workers", "0") as first:
        first.publish(SURVEY)
        assert first.stop() == 0
    with running(data, "--workers", "0", token=first.token) as second:
        assert second.fingerprint == first.fingerprint
        assert second.token == first.token
        assert second.status(SURVEY)["n_reports"] == 0
        assert second.stop() == 0
    with running(data, "--workers", "0", "--new-admin-token") as third:
        assert third.token not in ("", first.token)
        assert third.status(SURVEY)["n_reports"] == 0


def test_people_are_told_address_token_key_and_what_to_do(tmp_path):
    words = [sys.executable, "-m", "sottovoce", "serve", "--port", "0", "--data", str(tmp_path / "data")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        assert process.stdout is not None
        lines = []
        while not (lines and lines[-1].startswith("ready at ")):
            lines.append(process.stdout.readline())
            assert lines[-1], "the service ended before it was ready"
        address = lines[-1].removeprefix("ready at ").strip()
        assert urllib3.request("GET", f"{address}/readyz", retries=False).status == 200
        told = "".join(lines)
        assert len(re.findall(r"admin token +sv_[0-9a-f]{8}_[\w-]{43}\n", told)) == 1
        key = re.search(r"signing key +([\w-]{43})\n", told)
        assert key
        assert re.search(rf"fingerprint +{fingerprint(from_base64url(key[1]))}\n", told)
        assert json.loads(urllib3.request("GET", f"{address}/v1/key", retries=False).data)["key"] == key[1]
        assert f"dashboard     {address}/\n" in told
        assert f"survey pages  {address}/s/SURVEY\n" in told
        assert [line.split()[1] for line in lines if line.startswith("  sottovoce ")] == [
            "survey",
            "answer",
            "estimate",
        ]
        process.send_signal(signal.SIGINT)
        rest, log = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, rest) == (0, "")
    assert "sv_" not in log
    assert "Traceback" not in log


@pytest.mark.slow
def test_others_can_do_the_counting(place):
    sent = reports(50)
    flags = ("--data", str(place.data), "--lease-seconds", "1")
    with running(place.data, "--workers", "0", database=place.database) as service:
        service.publish(SURVEY)
        service.send(SURVEY, sent)
        assert service.status(SURVEY)["waiting"] == 50
        assert service.workers() == []
        words = [sys.executable, "-m", "sottovoce", "serve", "--only-work", *flags]
        helper = subprocess.Popen(
            words, stdout=subprocess.PIPE, text=True, env=environment(SOTTOVOCE_DATABASE=place.database)
        )
        try:
            assert service.counted(SURVEY, REPORT_BYTES).total() == 50
            helper.send_signal(signal.SIGTERM)
            said, _ = helper.communicate(timeout=PATIENCE)
        finally:
            helper.kill()
        assert (helper.returncode, said) == (0, "counting in 1 process\n")


def test_tls(tmp_path):
    certificate, key = self_signed(tmp_path)
    flags = ("--tls-certificate", str(certificate), "--tls-key", str(key), "--workers", "0")
    with running(tmp_path / "data", *flags, "--host", "localhost") as service:
        assert service.url.startswith("https://localhost:")
        with urllib3.PoolManager(ca_certs=str(certificate), retries=False) as pool:
            assert pool.request("GET", f"{service.url}/readyz").status == 200
            signed_in = pool.request("POST", f"{service.url}/v1/session", json={"token": service.token})
            assert signed_in.headers["set-cookie"].endswith("; Secure")
        assert service.stop() == 0
    key.write_text("no key")
    assert "must be PEM files" in refusal("--data", str(tmp_path / "other"), *flags)


def test_backup_of_a_running_service_and_restore_elsewhere(place, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "environ", environment())
    archive, folder = str(tmp_path / "monday.zip"), tmp_path / "new"
    backup = ["backup", archive, "--json", "--data", str(place.data), "--database", place.database]
    restore = ["restore", archive, "--data", str(folder)]
    with running(place.data, database=place.database) as service:
        service.publish(SURVEY)
        service.send(SURVEY, reports(120))
        counted = service.counted(SURVEY, REPORT_BYTES)
        assert main(backup) == 0
        assert json.loads(capsys.readouterr().out) == {
            "surveys": 1,
            "counted": 120,
            "waiting": 0,
            "tokens": 1,
            "objects": 0,
        }
        assert main(backup) == 2
        assert "never overwrites" in capsys.readouterr().err
    assert main(restore) == 0
    said = capsys.readouterr()
    assert said.out == f"restored from {archive}: 1 survey, 120 counted, 0 waiting, 1 token, 0 objects\n"
    assert "A backup does not hold the signing key" in said.err
    assert service.fingerprint in said.err
    assert main(restore) == 2
    assert "already holds" in capsys.readouterr().err
    shutil.copy(place.data / "signing.key", folder)
    with running(folder, "--workers", "0", token=service.token) as restored:
        assert restored.counted(SURVEY, REPORT_BYTES) == counted


# --- it cannot start --------------------------------------------------------------------------


def test_a_taken_port_is_told_and_nothing_is_created(tmp_path, refusal_here):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = refusal_here("--port", str(port), "--data", str(tmp_path / "data"))
    assert line.startswith(f"port {port} of 127.0.0.1 is taken")
    assert "--port" in line
    assert list(tmp_path.iterdir()) == []


def test_another_signing_key_than_the_databases_is_refused_with_both_fingerprints(tmp_path, refusal_here):
    data = tmp_path / "data"
    with running(data, "--workers", "0") as service:
        service.publish(SURVEY)
    kept = (data / "signing.key").read_bytes()
    (data / "signing.key").unlink()
    flags = ("--port", "0", "--data", str(data))
    line = refusal_here(*flags)
    assert "has no signing.key, and the surveys" in line
    assert service.fingerprint in line
    assert not (data / "signing.key").exists(), "no new one was made"
    other = SigningKey.load_or_create(data / "signing.key")
    line = refusal_here(*flags)
    assert fingerprint(other.public) in line
    assert service.fingerprint in line
    assert "--accept-new-key" in line
    with running(data, "--workers", "0", "--accept-new-key", token=service.token) as accepted:
        assert accepted.fingerprint == fingerprint(other.public)
        assert accepted.ask("GET", "/v1/log/checkpoint").status == 200
    (data / "signing.key").write_bytes(kept)
    assert service.fingerprint in refusal_here(*flags)


def test_two_services_cannot_share_a_port(idle, tmp_path):
    port = idle.url.rpartition(":")[2]
    assert "is taken" in refusal("--port", port, "--data", str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_a_host_that_is_not_ours(tmp_path, refusal_here):
    assert "is not an address of this machine" in refusal_here("--host", "192.0.2.1", "--data", str(tmp_path / "data"))
    assert list(tmp_path.iterdir()) == []


def test_a_data_folder_that_cannot_be_one(tmp_path, refusal_here):
    (tmp_path / "file").write_text("kept")
    for data in (tmp_path / "file", tmp_path / "file" / "below"):
        line = refusal_here("--port", "0", "--data", str(data))
        assert line.startswith(f"the data folder {data} cannot be made")
        assert "--data" in line
    assert (tmp_path / "file").read_text() == "kept"
    # A folder of the system's in which nobody may write, not even root.
    assert "/proc/self/data" in refusal_here("--port", "0", "--data", "/proc/self/data")


def test_an_unreachable_database_is_told_without_its_password_and_leaves_nothing(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"postgresql://user:hush@127.0.0.1:{gone.getsockname()[1]}/name"
    line = refusal("--port", "0", "--data", str(tmp_path / "a" / "data"), SOTTOVOCE_DATABASE=url)
    assert "PostgreSQL" in line
    assert "hush" not in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"no database at all" * 1000, b"SQLite format 3\0" + bytes(5000)])
def test_a_broken_database_is_told_and_not_overwritten(content, tmp_path, refusal_here):
    data = tmp_path / "data"
    data.mkdir()
    (data / DATABASE_FILE).write_bytes(content)
    assert str(data) in refusal_here("--port", "0", "--data", str(data))
    assert (data / DATABASE_FILE).read_bytes() == content
    assert not (data / "signing.key").exists()


def test_somebody_elses_database_is_refused(tmp_path, refusal_here):
    data = tmp_path / "data"
    data.mkdir()
    other = sqlite3.connect(data / DATABASE_FILE)
    other.execute("CREATE TABLE letters (text)")
    other.commit()
    other.close()
    before = (data / DATABASE_FILE).read_bytes()
    assert str(data) in refusal_here("--port", "0", "--data", str(data))
    assert (data / DATABASE_FILE).read_bytes() == before


def test_a_database_of_a_newer_version_is_refused(tmp_path, refusal_here):
    file = tmp_path / "data" / DATABASE_FILE
    open_store("", file.parent).close()
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as newer:
        newer.execute("INSERT INTO migrations VALUES (99, 'of later')")
    before = file.read_bytes()
    assert "has schema 99" in refusal_here("--port", "0", "--data", str(file.parent))
    assert file.read_bytes() == before
    assert not (file.parent / "signing.key").exists()


def test_a_write_ahead_log_without_its_database_is_refused_and_kept(tmp_path, refusal_here):
    data = tmp_path / "data"
    data.mkdir()
    (data / f"{DATABASE_FILE}-wal").write_bytes(b"acknowledged")
    assert "put collector.db back, or move all three files away" in refusal_here("--port", "0", "--data", str(data))
    assert [(file.name, file.read_bytes()) for file in data.iterdir()] == [(f"{DATABASE_FILE}-wal", b"acknowledged")]


def test_a_damaged_key_is_refused(tmp_path, refusal_here):
    data = tmp_path / "data"
    data.mkdir()
    (data / "signing.key").write_text("not a key")
    assert "is damaged" in refusal_here("--port", "0", "--data", str(data))
    assert (data / "signing.key").read_text() == "not a key"


@pytest.mark.parametrize(
    ("flags", "variables", "said"),
    [
        (("--port", "many"), {}, "must be a whole number"),
        ((), {"SOTTOVOCE_PROT": "1"}, "did you mean SOTTOVOCE_PORT"),
        (("--settings", "none.toml"), {}, "No such file"),
        (("--only-work", "--workers", "0"), {}, "nothing would be counted"),
        (("--only-work",), {}, "is not there"),
    ],
)
def test_wrong_settings_stop_it_before_anything_is_touched(flags, variables, said, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "environ", environment(**variables))
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *flags]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert list(tmp_path.iterdir()) == []


# --- its processes ----------------------------------------------------------------------------


def test_a_counting_process_that_dies_is_replaced_and_stopping_takes_all_along(tmp_path):
    with running(tmp_path / "data", "--lease-seconds", "0.5", "--workers", "2") as service:
        service.publish(SURVEY)

        def both() -> list[int]:
            found = service.workers()
            return found if len(found) == 2 else []

        for _ in range(2):
            old, _ = until(both, "there are two counting processes")
            assert b"\nsottovoce_workers 2.0\n" in service.ask("GET", "/metrics").body
            os.kill(old, signal.SIGKILL)
            until(lambda old=old: both() and old not in both(), "there is another")
        service.send(SURVEY, reports(10))
        assert service.counted(SURVEY, REPORT_BYTES).total() == 10
        family = children(service.process.pid)
        assert set(both()) < set(family)
        assert service.stop() == 0
        until(lambda: not any(command_line(pid) for pid in family), "all of them are gone")
        log = service.log.read_text()
    assert len(re.findall(r"counting process [01] ended after", log)) == 2
    assert "killed by SIGKILL" in log


def test_a_server_that_is_killed_leaves_no_process_behind(tmp_path):
    with running(tmp_path / "data", "--workers", "2") as service:
        until(lambda: len(service.workers()) == 2, "there are two counting processes")
        ours = os.getpriority(os.PRIO_PROCESS, service.process.pid)
        until(
            lambda: all(os.getpriority(os.PRIO_PROCESS, pid) > ours for pid in service.workers()),
            "counting gives way to those who send reports",
        )
        family = children(service.process.pid)
        os.kill(service.process.pid, signal.SIGKILL)
        until(lambda: not any(command_line(pid) for pid in family), "all of them are gone")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_connections_that_dawdle_do_not_hold_up_the_end(number, tmp_path):
    with running(tmp_path / "data", "--body-seconds", "1") as service:
        service.publish(SURVEY)
        upload = f"POST /v1/surveys/{SURVEY.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: {BATCH_MEDIA_TYPE}\r\n"
        heads = (b"", b"GET /healthz HT", upload.encode() + b"Content-Length: 100\r\n\r\nSVR1")
        open_ones = [holding_open(service, head) for head in heads]
        os.killpg(service.process.pid, number)  # as Ctrl-C does: to every process of the group
        assert service.process.wait(PATIENCE) == 0
        for connection in open_ones:
            connection.close()
        assert "Traceback" not in service.log.read_text()


def test_a_dawdling_head_is_cut_off_and_a_dawdling_body_answered(idle):
    assert b"200" not in heard(idle, b"GET /healthz HTTP/1.1\r\nHo")
    upload = f"POST /v1/surveys/{SURVEY.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: {BATCH_MEDIA_TYPE}\r\n"
    whole_head = upload.encode() + b"Content-Length: 100\r\n\r\nSVR1"
    # On a machine that stands still for a second before the head is read, that too is cut off without a word.
    assert until(lambda: heard(idle, whole_head), "a body is answered").startswith(b"HTTP/1.1 408 ")


# --- nobody's address -------------------------------------------------------------------------


def test_no_address_is_kept_or_logged(tmp_path):
    here, forwarded = "127.0.0.77", "203.0.113.77"
    data = tmp_path / "data"
    with running(data, "--log-level", "debug") as service:
        service.publish(SURVEY)
        port = int(service.url.rpartition(":")[2])
        body = encode_batch(SURVEY.id, reports(5))
        kinds = [
            ("POST", f"/v1/surveys/{SURVEY.id}/reports", body, 200),
            ("POST", f"/v1/surveys/{SURVEY.id}/reports", b"garbage", 400),
            ("GET", f"/nowhere/{forwarded}", b"", 404),
            ("GET", f"/v1/surveys/{SURVEY.id}/status", b"", 401),
        ]
        for method, path, sent, status in kinds:
            with socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(here, 0)) as connection:
                head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {forwarded}\r\nConnection: close\r\n"
                head += (
                    f"Forwarded: for={forwarded}\r\nUser-Agent: {forwarded}\r\nAuthorization: Bearer {forwarded}\r\n"
                )
                head += f"Content-Type: {BATCH_MEDIA_TYPE}\r\nContent-Length: {len(sent)}\r\n\r\n"
                connection.sendall(head.encode() + sent)
                assert connection.recv(1000).startswith(f"HTTP/1.1 {status} ".encode())
        service.counted(SURVEY, REPORT_BYTES)
        assert service.stop() == 0
        kept = [file.read_bytes() for file in (*data.iterdir(), service.log)]
    assert service.token.encode() not in b"".join(kept)
    for address in (here, forwarded):
        for form in (address.encode(), socket.inet_aton(address)):
            assert form not in b"".join(kept)
    assert len(kept) >= 3
