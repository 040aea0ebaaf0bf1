"""The JavaScript client as Python sees it: built once for a run, asked over a pipe."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv

__all__ = ["Bridge", "NoNodeError", "Refused", "as_sent", "built", "double", "doubles", "node"]

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "js"
PATIENCE = 600
"""Seconds for fetching Node or the compiler over a slow line."""


class NoNodeError(Exception):
    """Node, or what the client is compiled with, cannot be had here."""


class Refused(Exception):  # noqa: N818 - what the client says, not what went wrong here
    """The client refused what it was asked; `name` is that of its error."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name


def node() -> str:
    """The path of Node 20 or newer: the machine's own, or one that is installed beside the environment."""
    return _run("node", "-p", "process.execPath").splitlines()[-1]


def built(folder: Path) -> Path:
    """The compiled client in `folder`, compiled by the first process that asks; all of a run share it."""
    bridge = folder / "build" / "test" / "bridge.js"
    # The lock is on a file that is there in any case, so that runs beside each other wait for each other too.
    with (CLIENT / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not bridge.exists():
            if not _installed():
                _run("npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefix", str(CLIENT))
            _compile(folder / "build")
            (folder / "build" / "package.json").write_text('{"type": "module"}')
    return bridge


def _compile(target: Path) -> None:
    compiler = CLIENT / "node_modules" / "typescript" / "bin" / "tsc"
    try:
        _run("node", str(compiler), "--project", str(CLIENT), "--outDir", str(target))
    except NoNodeError as error:  # Node and the compiler are there: it is the client that is wrong
        raise AssertionError(f"the JavaScript client does not compile: {error}") from error


def _installed() -> bool:
    """Whether the packages are there that the lock file names: npm writes down what it has installed."""
    kept = CLIENT / "node_modules" / ".package-lock.json"
    wanted = json.loads((CLIENT / "package-lock.json").read_text())["packages"]
    found = json.loads(kept.read_text())["packages"] if kept.exists() else {}
    return all(
        name == "" or package.get("optional") or found.get(name, {}).get("integrity") == package["integrity"]
        for name, package in wanted.items()
    )


def _run(*words: str) -> str:
    try:
        done = subprocess.run(
            [ROOT / "tools" / "with_node", *words],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={**os.environ, "PYTHON": sys.executable},
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip() or error.stdout.strip()).splitlines()[-3:]
        raise NoNodeError(f"{' '.join(words[:2])} failed: {' '.join(last)}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoNodeError(f"{' '.join(words[:2])} cannot be run: {error}") from error
    return done.stdout


class Bridge:
    """A running client; `ask` hands it one question and waits for the answer."""

    def __init__(self, node: str, program: Path) -> None:
        self._process = subprocess.Popen([node, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        if self._process.returncode != 0:
            raise AssertionError("the JavaScript client ended with an error, which it has printed")

    def ask(self, question: str, **request: Any) -> Any:
        """The answer; raises `Refused` where the client does."""
        pipes = self._process
        if pipes.stdin is None or pipes.stdout is None:
            raise AssertionError("the pipes are closed")
        pipes.stdin.write(json.dumps({"ask": question, **request}).encode() + b"\n")
        pipes.stdin.flush()
        line = pipes.stdout.readline()
        if not line:
            raise AssertionError(f"the JavaScript client failed at {question!r}; it has printed why")
        found = json.loads(line)
        if "refused" in found:
            raise Refused(found["refused"], found["message"])
        return found["answer"]

    def about(self, survey: sv.Survey, question: str, **request: Any) -> Any:
        """The answer to a question about a survey."""
        attachments = {digest: content.hex() for digest, content in getattr(survey, "attachments", {}).items()}
        return self.ask(question, statement=survey.to_json(), attachments=attachments, **request)

    def reports(self, survey: sv.Survey, values: Iterable[object]) -> list[bytes]:
        """One report for each value, drawn by the client from its own randomness."""
        joined = bytes.fromhex(self.about(survey, "reports", values=[as_sent(value) for value in values]))
        width = len(survey.tag) + survey.mechanism.report_bytes
        assert len(joined) % width == 0
        return [joined[start : start + width] for start in range(0, len(joined), width)]


def as_sent(value: Any) -> Any:
    """A value as it travels: integers of any size, byte strings, vectors of doubles to the bit, records in order."""
    if isinstance(value, np.ndarray):
        return {"doubles": np.asarray(value, dtype=">f8").tobytes().hex()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return {"integer": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        return [as_sent(part) for part in value.values()]
    return value


def double(text: str) -> float:
    """A double from its eight bytes."""
    return float(struct.unpack(">d", bytes.fromhex(text))[0])


def doubles(text: str) -> NDArray[np.float64]:
    """Doubles from their bytes."""
    return np.frombuffer(bytes.fromhex(text), dtype=">f8").astype(np.float64)
