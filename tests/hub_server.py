"""A Hub on this machine, for what `huggingface_hub` asks of it: repositories with branches, tags, text and binary files.

Binary files go through the protocol of Git LFS, and come back by a redirect to another host.
"""

import base64
import hashlib
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


class Hub:
    """Repositories: `commits` of files by digest, and `refs` that name them; `objects` are the files' contents."""

    def __init__(self):
        self.repositories = {}
        self.objects = {}
        self.requests = []
        self.lock = threading.Lock()

    def create(self, name):
        is_new = name not in self.repositories
        if is_new:
            first = hashlib.sha1(name.encode()).hexdigest()
            self.repositories[name] = {"commits": {first: {}}, "refs": {"main": first}, "tags": {}}
        return is_new

    def find(self, name, revision):
        """Gives the commit that a revision names, and its files."""
        if (repository := self.repositories.get(name)) is None:
            raise LookupError("RepoNotFound")
        commit = {**repository["refs"], **repository["tags"]}.get(revision, revision)
        if commit not in repository["commits"]:
            raise LookupError("RevisionNotFound")
        return commit, repository["commits"][commit]

    def commit(self, name, revision, lines):
        parent, files = self.find(name, revision)
        files = dict(files)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                content = base64.b64decode(value["content"])
                digest = hashlib.sha256(content).hexdigest()
                self.objects[digest] = content
                files[value["path"]] = digest
            elif line["key"] == "lfsFile":
                assert value["oid"] in self.objects, f"{value['path']} was not uploaded"
                files[value["path"]] = value["oid"]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        commit = hashlib.sha1(json.dumps([parent, files], sort_keys=True).encode()).hexdigest()
        repository = self.repositories[name]
        repository["commits"][commit] = files
        repository["refs"][revision] = commit
        return commit


def is_binary(content):
    return b"\0" in content[:512]


class Handler(BaseHTTPRequestHandler):
    """Answers one request; the routes are methods named by what they match."""

    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self):
        self.answer()

    do_HEAD = do_POST = do_PUT = do_GET

    def log_message(self, *args):
        pass

    def answer(self):
        url = urlsplit(self.path)
        self.query = parse_qs(url.query)
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            self.body = b"".join(iter(self.read_chunk, b""))
        path = unquote(url.path)
        self.hub.requests.append((self.command, path))
        for pattern, route in ROUTES:
            if match := re.fullmatch(pattern, f"{self.command.replace('HEAD', 'GET')} {path}"):
                try:
                    with self.hub.lock:
                        return route(self, **match.groupdict())
                except LookupError as error:
                    return self.send({"error": str(error)}, 404, {"X-Error-Code": error.args[0]})
        return self.send({"error": f"no route for {self.command} {path}"}, 404)

    def read_chunk(self):
        chunk = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return chunk

    def send(self, content, status=200, headers=None):
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    @property
    def address(self):
        return f"http://{self.headers['Host']}"

    def who(self):
        self.send({"name": "user", "type": "user", "orgs": [], "auth": {"type": "access_token"}})

    def validate_card(self):
        self.send({"errors": [], "warnings": []})

    def create_repository(self):
        asked = json.loads(self.body)
        name = f"{asked.get('organization') or 'user'}/{asked['name']}"
        is_new = self.hub.create(name)
        self.send({"name": name, "url": f"{self.address}/{name}"}, 200 if is_new else 409)

    def create_branch(self, name, branch):
        asked = json.loads(self.body)
        self.hub.repositories[name]["refs"][branch] = self.hub.find(name, asked.get("startingPoint", "main"))[0]
        self.send({})

    def create_tag(self, name, revision):
        self.hub.repositories[name]["tags"][json.loads(self.body)["tag"]] = self.hub.find(name, revision)[0]
        self.send({})

    def refs(self, name):
        repository = self.hub.repositories[name]
        kinds = {"branches": ("heads", repository["refs"]), "tags": ("tags", repository["tags"])}
        self.send(
            {
                "converts": [],
                **{
                    kind: [{"name": key, "ref": f"refs/{prefix}/{key}", "targetCommit": commit}
                           for key, commit in refs.items()]
                    for kind, (prefix, refs) in kinds.items()
                },
            }
        )  # fmt: skip

    def info(self, name, revision="main"):
        commit, files = self.hub.find(name, revision)
        self.send({"id": name, "sha": commit, "private": False, "siblings": [{"rfilename": path} for path in files]})

    def tree(self, name, revision, folder=""):
        files = self.hub.find(name, revision)[1]
        inside = [path for path in files if not folder or path.startswith(f"{folder}/")]
        if folder and not inside:
            raise LookupError("EntryNotFound")
        self.send([{"type": "file", "path": path, "size": len(self.hub.objects[files[path]]), "oid": files[path][:40]}
                   for path in inside])  # fmt: skip

    def preupload(self, name, revision):
        self.hub.find(name, revision)
        modes = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if is_binary(base64.b64decode(file["sample"])) else "regular",
                "shouldIgnore": False,
            }
            for file in json.loads(self.body)["files"]
        ]
        self.send({"files": modes})

    def large_files(self, name):
        uploads = [
            {**each, "actions": {"upload": {"href": f"{self.address}/store/{each['oid']}"}}}
            for each in json.loads(self.body)["objects"]
            if each["oid"] not in self.hub.objects
        ]
        self.send({"transfer": "basic", "objects": uploads})

    def store(self, digest):
        assert hashlib.sha256(self.body).hexdigest() == digest
        self.hub.objects[digest] = self.body
        self.send({})

    def commit(self, name, revision):
        commit = self.hub.commit(name, revision, map(json.loads, self.body.splitlines()))
        self.send({"commitUrl": f"{self.address}/{name}/commit/{commit}", "commitOid": commit})

    def resolve(self, name, revision, path):
        commit, files = self.hub.find(name, revision)
        if path not in files:
            raise LookupError("EntryNotFound")
        digest = files[path]
        content = self.hub.objects[digest]
        headers = {"X-Repo-Commit": commit, "ETag": f'"{digest[:40]}"'}
        if not is_binary(content):
            return self.send(content, 200, headers)
        headers |= {"X-Linked-Size": str(len(content)), "X-Linked-Etag": f'"{digest}"'}
        port = self.server.server_port
        return self.send(b"", 302, {**headers, "Location": f"http://localhost:{port}/store/{digest}"})

    def download(self, digest):
        content = self.hub.objects[digest]
        if (asked := self.headers.get("Range")) and (match := re.fullmatch(r"bytes=(\d+)-", asked)):
            start = int(match[1])
            span = f"bytes {start}-{len(content) - 1}/{len(content)}"
            return self.send(content[start:], 206, {"Content-Range": span})
        return self.send(content)


NAME, REVISION = "(?P<name>[^/]+/[^/]+)", "(?P<revision>[^/]+)"
MODEL = f"/api/models/{NAME}"
ROUTES = [
    ("GET /api/whoami-v2", Handler.who),
    ("POST /api/validate-yaml", Handler.validate_card),
    ("POST /api/repos/create", Handler.create_repository),
    (f"POST {MODEL}/branch/(?P<branch>.+)", Handler.create_branch),
    (f"POST {MODEL}/tag/{REVISION}", Handler.create_tag),
    (f"GET {MODEL}/refs", Handler.refs),
    (f"GET {MODEL}", Handler.info),
    (f"GET {MODEL}/revision/{REVISION}", Handler.info),
    (f"GET {MODEL}/tree/{REVISION}(/(?P<folder>.+))?", Handler.tree),
    (f"POST {MODEL}/preupload/{REVISION}", Handler.preupload),
    (f"POST /{NAME}.git/info/lfs/objects/batch", Handler.large_files),
    ("PUT /store/(?P<digest>[0-9a-f]+)", Handler.store),
    ("GET /store/(?P<digest>[0-9a-f]+)", Handler.download),
    (f"POST {MODEL}/commit/{REVISION}", Handler.commit),
    (f"GET /{NAME}/resolve/{REVISION}/(?P<path>.+)", Handler.resolve),
]


@contextmanager
def serve_hub():
    """Runs a Hub; gives it and its address."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"hub": hub}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
