"""A server of files on this machine that breaks off, changes its mind and answers wrongly when it is told to."""

import hashlib
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from syntax_bert.parsers import downloads, published_models
from syntax_bert.tokenization import udpipe_models

CHANGED = "Wed, 21 Oct 2015 07:28:00 GMT"


@dataclass
class Answer:
    """How one request is answered, where not as it should be."""

    status: int | None = None
    cut: int | None = None  # the connection breaks after so many bytes of the body
    length: int | None = None  # what Content-Length says
    hold: threading.Event | None = None  # what is waited for before the connection breaks


@dataclass
class Server:
    """Files by name; `answers` are those to the next requests, and `requests` the headers of those that came."""

    files: dict = field(default_factory=dict)
    answers: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    etag: str | None = '"{}"'  # with the digest of a file in it
    last_modified: str | None = None
    knows_ranges: bool = True
    knows_if_range: bool = True
    url: str = ""

    def headers(self, content):
        etag = self.etag and self.etag.format(hashlib.md5(content).hexdigest())
        return {name: value for name, value in (("ETag", etag), ("Last-Modified", self.last_modified)) if value}

    @property
    def ranges(self):
        return [headers["Range"] for headers in self.requests]


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    server_state: Server

    def log_message(self, *args):
        pass

    def do_GET(self):
        state = self.server_state
        state.requests.append(self.headers)
        answer = state.answers.pop(0) if state.answers else Answer()
        content = state.files.get(self.path.rpartition("/")[2])
        if answer.status or content is None:
            return self.send(answer.status or 404, b"<html>sorry</html>", {}, Answer())
        headers = state.headers(content)
        match = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
        is_same = not state.knows_if_range or self.headers["If-Range"] in headers.values()
        if match is None or not state.knows_ranges or not is_same:
            return self.send(200, content, headers, answer)
        start, size = int(match[1]), len(content)
        if start >= size:
            return self.send(416, b"", {"Content-Range": f"bytes */{size}"}, answer)
        return self.send(
            206, content[start:], {"Content-Range": f"bytes {start}-{size - 1}/{size}", **headers}, answer
        )

    def send(self, status, body, headers, answer):
        self.send_response(status)
        for name, value in {"Content-Length": answer.length or len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body[: answer.cut])
        self.wfile.flush()
        if answer.hold:
            answer.hold.wait(30)
        self.close_connection = self.close_connection or answer != Answer()


@contextmanager
def serve(monkeypatch):
    """Runs a server that may be asked: the network is on, and attempts follow each other at once."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(downloads, "FIRST_WAIT", 0)
    state = Server()
    handler = type("StateHandler", (Handler,), {"server_state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http_server:
        state.url = f"http://127.0.0.1:{http_server.server_port}"
        threading.Thread(target=http_server.serve_forever, args=(0.02,), daemon=True).start()
        yield state
        http_server.shutdown()


@contextmanager
def serve_models(monkeypatch, tmp_path, model):
    """Runs a server of two models, both with the content of a file, for a folder of parsers of the test's own."""
    with serve(monkeypatch) as state:
        monkeypatch.setenv("SYNTAX_BERT_PARSERS_URL", f"{state.url}/models/")
        monkeypatch.setattr(published_models, "FOLDER", tmp_path / "parsers")
        monkeypatch.setattr(udpipe_models, "TRIED", tmp_path.parent / "tried")  # the model once for all tests
        content = Path(model).read_bytes()
        state.files = {f"german-{treebank}-ud-2.5-191206.udpipe": content for treebank in ("gsd", "hdt")}
        yield state
