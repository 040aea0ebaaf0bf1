"""Somebody else's web site: pages of another origin than the collector's, with policies of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class OtherSite:
    """Its address, and what it serves: text, media type and Content-Security-Policy by path."""

    url: str = ""
    files: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    def serve(self, body: str, policy: str = "", path: str = "/", head: str = "") -> str:
        """Serve a page with this body; returns its path."""
        about = '<meta charset="utf-8"><title>Another site</title><link rel="icon" href="data:,">'
        html = f"<head>{about}{head}</head><body><main><h1>A shop</h1>{body}</main></body>"
        self.files[path] = (f'<!doctype html><html lang="en">{html}</html>', "text/html", policy)
        return path

    def serve_file(self, path: str, text: str, media_type: str) -> None:
        """Serve a script or a style sheet beside the pages."""
        self.files[path] = (text, media_type, "")


@contextmanager
def other_site() -> Iterator[OtherSite]:
    """A site on a port of its own, and so of an origin of its own."""
    site = OtherSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text, media_type, policy = site.files.get(self.path, ("", "text/plain", ""))
            body = text.encode()
            self.send_response(200 if text else 404)
            self.send_header("Content-Type", f"{media_type}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: the tests' output is not a log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
