"""Files fetched from a server that breaks off, forgets ranges, changes its file or gives another one."""

import random
import threading

import pytest
from file_server import CHANGED, Answer, serve

from syntax_bert.parsers import downloads
from syntax_bert.parsers.downloads import fetch

OLD, NEW = (random.Random(seed).randbytes(300_000) for seed in (1, 2))


@pytest.fixture
def server(monkeypatch):
    with serve(monkeypatch) as state:
        yield state


@pytest.fixture
def address(server):
    server.files["model.bin"] = OLD
    return f"{server.url}/model.bin"


@pytest.fixture
def target(tmp_path):
    return tmp_path / "model.partial"


def test_a_file_is_fetched_as_it_is(server, address, target):
    fetch(address, target)
    assert target.read_bytes() == OLD
    assert [path.name for path in target.parent.iterdir()] == ["model.partial"]
    assert [(headers["Range"], headers["Accept-Encoding"]) for headers in server.requests] == [(None, "identity")]


def test_a_break_is_continued_where_it_was(server, address, target):
    server.answers = [Answer(cut=100_000), Answer(cut=50_000)]
    fetch(address, target)
    assert target.read_bytes() == OLD
    assert server.ranges == [None, "bytes=100000-", "bytes=150000-"]
    assert server.requests[1]["If-Range"] == server.headers(OLD)["ETag"]


def test_a_later_call_continues(server, address, target, monkeypatch):
    monkeypatch.setattr(downloads, "NUM_ATTEMPTS", 1)
    server.answers = [Answer(cut=100_000)]
    with pytest.raises(OSError, match=r"model\.bin cannot be downloaded: RemoteProtocolError"):
        fetch(address, target)
    fetch(address, target)
    assert target.read_bytes() == OLD
    assert server.ranges == [None, "bytes=100000-"]


@pytest.mark.parametrize(
    ("properties", "ranges"),
    [
        ({"knows_ranges": False}, [None, "bytes=100000-"]),
        ({"etag": None}, [None, None]),  # nothing tells whether the file is the same
        ({"etag": 'W/"{}"'}, [None, None]),
        ({"etag": None, "last_modified": CHANGED}, [None, "bytes=100000-"]),
        ({"etag": 'W/"{}"', "last_modified": CHANGED}, [None, "bytes=100000-"]),
    ],
)
def test_servers_differ(server, address, target, properties, ranges):
    vars(server).update(properties)
    server.answers = [Answer(cut=100_000)]
    fetch(address, target)
    assert target.read_bytes() == OLD
    assert server.ranges == ranges


@pytest.mark.parametrize("knows_if_range", [True, False])
@pytest.mark.parametrize("content", [NEW, NEW[:100_000], NEW[:50_000]], ids=["same size", "as much", "less"])
def test_a_changed_file_is_not_glued_to_the_old_one(server, address, target, monkeypatch, knows_if_range, content):
    monkeypatch.setattr(downloads, "NUM_ATTEMPTS", 1)
    server.answers, server.knows_if_range = [Answer(cut=100_000)], knows_if_range
    with pytest.raises(OSError, match="RemoteProtocolError"):
        fetch(address, target)
    monkeypatch.setattr(downloads, "NUM_ATTEMPTS", 2)
    server.files["model.bin"] = content
    fetch(address, target)
    assert target.read_bytes() == content
    assert server.ranges == [None, "bytes=100000-"] + ([] if knows_if_range else [None])


def test_a_complete_rest_is_no_start(server, address, target):
    target.write_bytes(NEW)  # of a process that was killed before it put the file in its place
    fetch(address, target)
    assert target.read_bytes() == OLD
    assert server.ranges == [None]


@pytest.mark.parametrize("status", [401, 403, 404, 410, 501])
def test_an_answer_that_stays_the_same_is_not_asked_for_again(server, address, target, status):
    server.answers = [Answer(status=status)]
    with pytest.raises(OSError, match=rf"{address} cannot be downloaded: the server answers {status} "):
        fetch(address, target)
    assert len(server.requests) == 1
    assert not target.exists()


def test_a_server_in_trouble_is_asked_again(server, address, target):
    server.answers = [Answer(status=500), Answer(status=503), Answer(status=429)]
    fetch(address, target)
    assert target.read_bytes() == OLD
    assert len(server.requests) == 4


def test_trouble_in_the_middle_keeps_what_is_there(server, address, target):
    server.answers = [Answer(cut=100_000), Answer(status=502)]
    fetch(address, target)
    assert target.read_bytes() == OLD
    assert server.ranges == [None, "bytes=100000-", "bytes=100000-"]


def test_waits_double_and_end(server, address, target, monkeypatch):
    waits = []
    monkeypatch.setattr(downloads, "FIRST_WAIT", 1)
    monkeypatch.setattr(downloads.time, "sleep", waits.append)
    server.answers = [Answer(status=500)] * 5
    with pytest.raises(OSError, match="the server answers 500 Internal Server Error"):
        fetch(address, target)
    assert waits == [1, 2, 4, 8]
    assert len(server.requests) == 5


def test_a_length_that_is_never_reached_is_an_error(server, address, target):
    server.answers = [Answer(length=len(OLD) + 1)] * 5
    server.knows_ranges = False
    with pytest.raises(OSError, match="cannot be downloaded: RemoteProtocolError"):
        fetch(address, target)


def test_a_server_that_says_nothing_is_given_up(server, address, target, monkeypatch):
    monkeypatch.setattr(downloads, "HF_HUB_DOWNLOAD_TIMEOUT", 0.2)
    monkeypatch.setattr(downloads, "NUM_ATTEMPTS", 2)
    held = threading.Event()
    server.answers = [Answer(cut=1000, hold=held), Answer(cut=1000, hold=held)]
    with pytest.raises(OSError, match="ReadTimeout"):
        fetch(address, target)
    held.set()
    assert server.ranges == [None, "bytes=1000-"]


def test_nobody_there(server, target, monkeypatch):
    monkeypatch.setattr(downloads, "NUM_ATTEMPTS", 2)
    with pytest.raises(OSError, match="http://127.0.0.1:9/x cannot be downloaded: ConnectError"):
        fetch("http://127.0.0.1:9/x", target)
    with pytest.raises(OSError, match="http://a:b/x cannot be downloaded: InvalidURL"):
        fetch("http://a:b/x", target)
