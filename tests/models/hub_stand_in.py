"""As much of a model hub as a snapshot download asks for, on the loopback interface."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OLDER_COMMIT = "89abcdef0123456789abcdef0123456789abcdef"


@dataclass
class HubStandIn:
    """One repository. ``status`` other than 200 is the answer to everything; ``paths`` is what was asked."""

    name: str
    files: dict[str, bytes]
    status: int = 200
    error: str = ""
    url: str = ""
    paths: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for one path."""
        self.paths.append(path)
        if self.status != 200:
            return self.status, {"X-Error-Code": self.error}, b"{}"
        if self.name not in path:
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        if "/resolve/" in path:
            content = self.files[path.rsplit("/", 1)[-1]]
            etag = f'"{hashlib.sha256(content).hexdigest()}"'
            return 200, {"ETag": etag, "X-Repo-Commit": COMMIT, "Content-Type": "application/octet-stream"}, content
        if "/revision/" in path and path.rsplit("/", 1)[-1] not in {"main", COMMIT}:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        body: Any = {"id": self.name, "sha": COMMIT, "siblings": []}
        if "/tree/" in path:
            body = [
                {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for name, content in self.files.items()
            ]
        return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


@contextmanager
def serving(hub: HubStandIn) -> Iterator[HubStandIn]:
    """Serve ``hub`` until the end of the block; ``hub.url`` is where."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def log_message(self, *_: Any) -> None:
            """Quietly."""

        def _answer(self, *, with_body: bool) -> None:
            status, headers, body = hub.answer(self.path.partition("?")[0])
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
