"""The opening of sealed messages, in processes of its own: each message costs an exchange of keys.

A message of a batch holds one report, in the request with which a device would have sent it directly.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, cast, final

from sottovoce.core.errors import ObliviousError, ReportError
from sottovoce.formats.wire import BATCH_HEADER_BYTES, BATCH_MEDIA_TYPE, batch_survey
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.messages import open_request
from sottovoce.service.refusal import Refusal

__all__ = ["OPENING", "Opening", "SealedCode", "SealedReport", "Unreadable", "open_reports"]

SealedCode: TypeAlias = Literal["unknown_key", "unknown_suite", "cannot_open", "bad_message", "no_report"]
"""Why a sealed message holds no report."""

_MEDIA_TYPE: Final = BATCH_MEDIA_TYPE.encode()

_PATH: Final = re.compile(r"/v1/surveys/([0-9a-f]{64})/reports")


class SealedReport(NamedTuple):
    """A report as it came out of a message; not yet checked against its survey."""

    survey: str
    row: bytes
    """Id and report, as a row of a batch."""


class Unreadable(NamedTuple):
    """Why a message holds no report; nothing of it is quoted."""

    code: SealedCode
    message: str


def open_reports(keys: Mapping[int, bytes], messages: bytes, size: int) -> list[SealedReport | Unreadable]:
    """What is in each of the messages of this size, which follow one another."""
    opened = {key_id: _private_key(private) for key_id, private in keys.items()}
    return [_open(opened, messages[at : at + size]) for at in range(0, len(messages), size)]


def _open(keys: Mapping[int, PrivateKey], message: bytes) -> SealedReport | Unreadable:
    try:
        return _report(open_request(keys, message).request())
    except ObliviousError as error:
        return Unreadable(cast(SealedCode, error.code), str(error))


def _report(request: HttpRequest) -> SealedReport | Unreadable:
    match = _PATH.fullmatch(request.path)
    if request.method != "POST" or match is None or dict(request.headers).get(b"content-type") != _MEDIA_TYPE:
        return Unreadable(
            "no_report", f"a message of a batch is POST /v1/surveys/{{id}}/reports with {BATCH_MEDIA_TYPE}"
        )
    try:
        if batch_survey(request.content) == match[1]:
            return SealedReport(match[1], request.content[BATCH_HEADER_BYTES:])
    except ReportError as error:
        return Unreadable("no_report", str(error))
    return Unreadable("no_report", "the batch in the message is of another survey than its address")


@lru_cache(maxsize=256)
def _private_key(private: bytes) -> PrivateKey:
    return PrivateKey(private)


_CHUNK: Final = 64
"""Messages that a process opens before the next request has its turn: about a hundredth of a second."""

_MOST_BODIES: Final = 16
"""Requests that are opened or wait for it; more are asked to come again."""

_MOST_PROCESSES: Final = 16

_NICENESS: Final = 5
"""What comes through a relay has waited for minutes; direct senders wait now."""

OPENING: Final = "sottovoce-open"
"""What `ps` shows."""


@final
class Opening:
    """The processes, started when the first message comes."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._under_way = 0
        self._closed = False

    async def open(self, keys: Mapping[int, PrivateKey], messages: bytes, size: int) -> list[SealedReport | Unreadable]:
        """What is in each of the messages of this size, in their order.

        Raises
        ------
        Refusal
            When too much is waiting, when the service stops, and when a process died: nothing was acknowledged.
        """
        if self._closed or self._under_way >= _MOST_BODIES:
            raise _busy("too many sealed messages are being opened, or the service stops; send the same again later")
        self._under_way += 1
        pool = self._pool
        try:
            pool = self._pool = pool or _start()
            private = {key_id: key.private_bytes() for key_id, key in keys.items()}
            loop = asyncio.get_running_loop()
            step = _CHUNK * size
            parts = await asyncio.gather(
                *(
                    loop.run_in_executor(pool, open_reports, private, messages[at : at + step], size)
                    for at in range(0, len(messages), step)
                )
            )
        except (BrokenProcessPool, OSError):
            if self._pool is pool:
                self._pool = None  # the next request starts others
            raise _busy("a process that opens sealed messages has ended; send the same again later") from None
        finally:
            self._under_way -= 1
        return [report for part in parts for report in part]

    def close(self) -> None:
        """Drop what waits, and let the processes end."""
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


def _start() -> ProcessPoolExecutor:
    processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """Prepare a process: leave Ctrl-C to the parent, give way to others, and end when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(OPENING)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def _busy(message: str) -> Refusal:
    return Refusal(503, "busy", message)
