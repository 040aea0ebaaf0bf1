"""A collector played by the standard library's HTTP server: honest unless told otherwise, then as bad as it gets."""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import msgspec

from sottovoce.core.signing import SigningKey, fingerprint, to_base64url
from sottovoce.formats.wire import batch_rows, batch_survey
from sottovoce.protocol.log import PUBLISHED, LogEntry
from sottovoce.surveys.statement import Stated
from sottovoce.surveys.survey import Survey
from sottovoce.transparency.evidence import log_proof
from sottovoce.transparency.tree import GrowingTree, leaf_hash
from sottovoce.transparency.tree_head import TreeHead, sign_checkpoint

Reply = tuple[int, dict[str, str], bytes]
Twist = Callable[[BaseHTTPRequestHandler], Any]


def as_json(status: int, answer: object, **headers: str) -> Reply:
    return status, {"Content-Type": "application/json", **headers}, json.dumps(answer).encode()


def refusal(status: int, code: str, **headers: str) -> Reply:
    return as_json(status, {"error": {"code": code, "message": f"no: {code}", "field": None}}, **headers)


class Played:
    """What it was asked is in `requests`, the bodies it was sent in `bodies`.

    `twists` maps a method and the end of a path to a function that answers in place of the honest one: it returns a
    reply, writes to the socket itself and returns None, or returns `Played.HONEST`.
    """

    HONEST = object()

    def __init__(self, key: SigningKey | None = None) -> None:
        self.key = SigningKey(bytes(range(32))) if key is None else key
        self.surveys: dict[str, Stated] = {}
        self.states: dict[str, str] = {}
        self.rounds: dict[tuple[str, int], Survey] = {}
        self.requests: list[tuple[str, str]] = []
        self.ports: list[int] = []
        """The device's end of the connection, for every request."""
        self.bodies: list[bytes] = []
        self.log: list[str] | None = None
        """Surveys in its log; None for a collector without one."""
        self.twists: dict[tuple[str, str], Twist] = {}
        self.change: Callable[[dict[str, Any]], object] = lambda envelope: None
        self._connections: list[socket.socket] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                outer._connections.append(self.connection)

            def do_GET(self) -> None:
                outer._serve(self)

            def do_POST(self) -> None:
                outer._serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def publish(self, survey: Stated) -> str:
        self.surveys[survey.id] = survey
        if isinstance(survey, Survey) and survey.seat is not None:
            self.rounds[survey.seat.panel.id, survey.seat.round] = survey
        return survey.id

    def reports(self, survey: Any) -> list[bytes]:
        """Rows of id and report in every body for a survey, repetitions included."""
        mine = [body for body in self.bodies if batch_survey(body) == survey.id]
        return [row.tobytes() for body in mine for row in batch_rows(body, survey.id, survey.mechanism.report_bytes)]

    def envelope(self, survey: Stated) -> dict[str, Any]:
        statement = survey.canonical
        answer = {
            "id": hashlib.sha256(statement).hexdigest(),
            "statement": statement.decode(),
            "signature": to_base64url(self.key.sign(statement)),
            "key": to_base64url(self.key.public),
            "attachments": list(survey.attachments),
            "state": self.states.get(survey.id, "open"),
        }
        self.change(answer)
        return answer

    def signed(self, statement: str) -> dict[str, Any]:
        """An envelope around any text at all, with a signature and an id that are right."""
        raw = statement.encode()
        return {
            "id": hashlib.sha256(raw).hexdigest(),
            "statement": statement,
            "signature": to_base64url(self.key.sign(raw)),
            "key": to_base64url(self.key.public),
            "attachments": [],
            "state": "open",
        }

    def checkpoint(self) -> str:
        """The signed head of its log."""
        tree = self._tree()
        return sign_checkpoint(self.key, TreeHead(tree.size, tree.root(tree.size)))

    def _tree(self) -> GrowingTree:
        tree = GrowingTree()
        for survey in self.log or ():
            tree.append(leaf_hash(LogEntry(PUBLISHED, survey).leaf))
        return tree

    def _log_proof(self, survey: str, block: int) -> Reply:
        if self.log is None:
            return refusal(404, "not_found")
        if survey not in self.log:
            return refusal(404, "not_in_log")
        proof = log_proof(self._tree(), self.checkpoint(), len(self.log), self.log.index(survey), block)
        return as_json(200, msgspec.to_builtins(proof))

    # --- answering --------------------------------------------------------------------------

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        path = handler.path
        self.requests.append((handler.command, path))
        self.ports.append(handler.client_address[1])
        twist = next((t for (m, end), t in self.twists.items() if m == handler.command and path.endswith(end)), None)
        if handler.command == "POST":
            self.bodies.append(body)
        try:
            reply = self.HONEST if twist is None else twist(handler)
            if reply is self.HONEST:
                reply = self._honest(handler.command, path.strip("/").split("/"))
            if reply is None:
                handler.close_connection = True
                return
            status, headers, content = reply
            handler.send_response(status)
            for name, text in headers.items():
                handler.send_header(name.replace("_", "-"), text)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        except OSError:
            handler.close_connection = True  # the device has had enough

    def _honest(self, method: str, parts: list[str]) -> Reply:
        match [method, *parts]:
            case ["GET", "v1", "surveys"]:
                listed = [
                    {"id": s.id, "title": s.title, "kind": s.kind, "epsilon": s.epsilon, "state": "open"}
                    for s in self.surveys.values()
                    if getattr(s, "seat", None) is None
                ]
                return as_json(200, {"surveys": listed})
            case ["GET", "v1", "time"]:
                return as_json(200, {"now": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"})
            case ["GET", "v1", "surveys", survey] if survey in self.surveys:
                return as_json(200, self.envelope(self.surveys[survey]))
            case ["GET", "v1", "surveys", survey, "rounds", "latest"]:
                opened = [number for panel, number in self.rounds if panel == survey]
                if not opened:
                    return refusal(404, "round_not_open")
                return as_json(200, self.envelope(self.rounds[survey, max(opened)]))
            case ["GET", "v1", "key"]:
                return as_json(200, {"key": to_base64url(self.key.public), "fingerprint": fingerprint(self.key.public)})
            case ["GET", "v1", "log", "checkpoint"] if self.log is not None:
                return 200, {"Content-Type": "text/plain"}, self.checkpoint().encode()
            case ["GET", "v1", "log", asked] if self.log is not None and asked.startswith("entries?start="):
                start = int(asked.removeprefix("entries?start="))
                entries = [{"event": PUBLISHED, "survey": survey} for survey in self.log[start : start + 1000]]
                return as_json(200, {"start": start, "size": len(self.log), "entries": entries})
            case ["GET", "v1", "log", "proofs", asked]:
                survey, _, block = asked.partition("?block=")
                return self._log_proof(survey, int(block))
            case ["GET", "v1", "log", "statements", survey] if survey in (self.log or ()) and survey in self.surveys:
                return 200, {"Content-Type": "application/json"}, self.surveys[survey].canonical
            case ["GET", "v1", "attachments", digest]:
                for survey in self.surveys.values():
                    if digest in survey.attachments:
                        return 200, {"Content-Type": "application/octet-stream"}, survey.attachments[digest]
            case ["POST", "v1", "surveys", survey, "reports"] if survey in self.surveys:
                return as_json(200, {"accepted": 1, "refused": []})
        return refusal(404, "not_found")
