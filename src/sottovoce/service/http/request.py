"""A request, and reading its body: bounded in length and time, of an allowed media type, never decompressed."""

from __future__ import annotations

import asyncio
from typing import Any, final

import msgspec

from sottovoce.service.http.response import Receive, Scope
from sottovoce.service.http.validation import find_fault
from sottovoce.service.refusal import Refusal

__all__ = ["Deadline", "Deadlines", "Request", "decode_json"]


@final
class Deadline:
    """The deadline of one body, which a task waits for."""

    __slots__ = ("_due", "_task", "passed")

    def __init__(self, task: asyncio.Task[Any], due: float):
        self._task, self._due = task, due
        self.passed = False

    def look(self, now: float) -> float:
        """The time at which it is due; once it has passed, the task that waits is cancelled."""
        if now >= self._due and not self.passed:
            self.passed = True
            self._task.cancel()
        return self._due

    def is_reason(self) -> bool:
        """Whether this is why the running task was cancelled, and nothing else; the task may then go on."""
        return self.passed and not self._task.uncancel()


@final
class Deadlines:
    """Deadlines of the bodies that one event loop reads: one timer for all, since setting one takes long."""

    def __init__(self) -> None:
        self._open: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, seconds: float) -> Deadline:
        """Give the running task this many seconds from now, until `end`."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can have a deadline")
        deadline = Deadline(task, loop.time() + seconds)
        self._open.add(deadline)
        if self._timer is None:
            self._timer = loop.call_later(seconds, self._look, loop)
        return deadline

    def end(self, deadline: Deadline) -> None:
        """The body is there, or nobody waits for it any more."""
        self._open.discard(deadline)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the waits that took too long; look again when the next one might."""
        now = loop.time()
        later = [due for due in [deadline.look(now) for deadline in self._open] if due > now]
        self._timer = loop.call_at(min(later), self._look, loop) if later else None


@final
class Request:
    """One request, as handlers see it."""

    __slots__ = ("_length", "media_type", "path_parameters", "receive", "scope", "service", "token")

    token: Any
    """What the service admitted; only where the route demands a scope."""

    service: Any
    """What the routes' handlers know it to be: the collector's `Service`, or a relay's."""

    def __init__(self, service: Any, scope: Scope, receive: Receive, path_parameters: dict[str, str]):
        self.service = service
        self.scope = scope
        self.path_parameters = path_parameters
        self.media_type = ""
        self.receive = receive
        self._length: int | None = None

    def header(self, name: bytes) -> str | None:
        """The value of a header, several joined by commas; None where it is absent."""
        values = [value for key, value in self.scope["headers"] if key == name]
        return b", ".join(values).decode("latin-1") if values else None

    def check_media_type(self, allowed: tuple[str, ...]) -> None:
        """Refuse a body of another media type, and any compression."""
        content_type = b""
        for name, value in self.scope["headers"]:
            if name == b"content-type":
                content_type = value
            elif name == b"content-length":
                self._length = int(value) if value.isdigit() and len(value) < 20 else None
            elif name == b"content-encoding":
                # Also identity: one way of sending a body, so that nothing is left to interpretation.
                raise Refusal(415, "compressed_body", "leave Content-Encoding out: compressed bodies are not accepted")
        self.media_type = content_type.partition(b";")[0].strip().lower().decode("latin-1")
        if self.media_type not in allowed:
            raise Refusal(415, "unsupported_media_type", f"Content-Type must be {' or '.join(allowed)}")

    async def read(self, limit: int, seconds: float) -> bytes:
        """The whole body, of at most `limit` bytes and within `seconds`.

        A Content-Length above the limit is refused before anything is read.
        """
        if self._length is not None and self._length > limit:
            raise _too_large(limit)
        deadline = self.service.deadlines.begin(seconds)
        try:
            return await self._gather(limit)
        except asyncio.CancelledError:
            if not deadline.is_reason():
                raise
        finally:
            self.service.deadlines.end(deadline)
        raise Refusal(
            408, "body_too_slow", f"the body did not arrive within {seconds:g} seconds; send it again, faster"
        )

    async def _gather(self, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                # Nothing is stored. If anybody reads this it is a proxy, which may pass it on to a device whose report
                # is good: so it is a status after which the same is sent again.
                raise Refusal(
                    408, "incomplete_body", "the connection ended before the body was complete; send it again"
                )
            part = event.get("body", b"")
            size += len(part)
            if size > limit:
                raise _too_large(limit)
            if not event.get("more_body", False):
                # Most bodies are one part: no copy then.
                return bytes(part) if not parts else b"".join([*parts, part])
            parts.append(part)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, "body_too_large", f"the body is longer than {limit:,} bytes; send it in parts")


def decode_json(body: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """A body decoded strictly, or a refusal that names the field at fault."""
    try:
        try:
            return decoder.decode(body)
        except msgspec.ValidationError:
            fault = find_fault(msgspec.json.decode(body), decoder.type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refusal(400, "malformed_json", "the body is not JSON in UTF-8") from None
    message = "the body has the wrong shape" if fault is None else fault.message
    raise Refusal(400, "invalid_body", f"{message}; see /openapi.json", field=(fault and fault.path) or None)
