"""On a terminal there is a bar; in a pipe there is JSON and nothing else; interrupting and closing are quiet."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from sottovoce.cli import ledger, main

COMMAND = [sys.executable, "-m", "sottovoce"]
AT_ONCE = """
import sys
from sottovoce.cli import main
from sottovoce.core import progress
progress._QUIET_SECONDS = 0.0
sys.exit(main())
"""
"""The same command, which shows what it does without waiting whether that takes two seconds."""
SIMULATE = ["simulate", "shares", "--values", "64", "--people", "200_000", "--epsilon", "1", "--json"]
ENVIRONMENT = os.environ | {"TERM": "xterm-256color", "COLUMNS": "120"}


@contextlib.contextmanager
def on_a_terminal(words: list[str], command: list[str] = COMMAND) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command with standard error on a pseudo-terminal, and the end from which its words can be read."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, stderr=theirs, env=ENVIRONMENT)
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        os.close(ours)


def read_until(terminal: int, wanted: bytes | None) -> bytes:
    """What the terminal shows, up to `wanted` or to the end."""
    shown = b""
    while wanted is None or wanted not in shown:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        shown += piece
    return shown


def test_a_bar_on_the_terminal_and_only_json_in_the_pipe():
    with on_a_terminal(SIMULATE, [sys.executable, "-c", AT_ONCE]) as (process, terminal):
        shown = read_until(terminal, None).decode()
        assert process.stdout is not None
        out = process.stdout.read().decode()
        assert process.wait() == 0
    assert "simulating" in shown
    assert "━" in shown
    assert "of 200,000 people" in shown
    assert json.loads(out)["people"] == 200_000
    assert "\x1b" not in out


def test_no_bar_where_there_is_no_terminal(run_process):
    outcome = run_process(*SIMULATE)
    assert outcome.err == ""
    assert outcome.json["people"] == 200_000


def test_interrupting_is_quiet():
    with on_a_terminal([*SIMULATE, "--people", "1e10"]) as (process, terminal):
        # Some people must have answered: libraries that are still being imported swallow an interrupt now and then.
        shown = b""
        while not re.search(rb"[1-9][0-9,]* of 10,", shown):
            piece = read_until(terminal, b" people")
            assert piece, "it ended by itself"
            shown += piece
        process.send_signal(signal.SIGINT)
        shown += read_until(terminal, None)
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait() == 130
    assert b"Traceback" not in shown


def test_a_closed_pipe_is_quiet():
    for words in (["mechanisms"], ["mechanisms", "--json"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([*COMMAND, *words], stdout=write_end, stderr=subprocess.PIPE, check=False)
        os.close(write_end)
        assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_that_python_wraps_or_ignores_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrapped(_: object) -> int:
        class Attribute:
            def __set_name__(self, *_: object) -> None:
                raise KeyboardInterrupt

        type("Owner", (), {"name": Attribute()})
        return 0

    def ignored(_: object) -> int:
        class Finalized:
            def __del__(self) -> None:
                raise KeyboardInterrupt

        Finalized()
        ends = time.monotonic() + 10
        while time.monotonic() < ends:
            pass
        return 0

    before = sys.unraisablehook
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark leaves one of its own behind
    try:
        for run in (wrapped, ignored):
            monkeypatch.setattr(ledger, "_run", run)
            assert main(["ledger"]) == 130
    finally:
        signal.signal(signal.SIGINT, handler)
    assert sys.unraisablehook is before
