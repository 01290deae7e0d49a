"""Damaged and hostile parser files: an error, and this process lives."""

import lzma
import random
import struct
from pathlib import Path

import pytest

from syntax_bert import UDPipeParser
from syntax_bert.tokenization import udpipe_models


@pytest.fixture(autouse=True)
def tried_here(tmp_path, monkeypatch):
    """Notes in the test's own folder which models were tried."""
    monkeypatch.setattr(udpipe_models, "TRIED", tmp_path / "tried")
    monkeypatch.setattr(udpipe_models, "MODELS", {})


@pytest.fixture(scope="module")
def content(english_parser):
    return Path(english_parser).read_bytes()


def block_header(size, packed):
    """The sizes of a compressed block of a UDPipe model, and their check."""
    return struct.pack("<III", size, packed, (size * 19991 + packed * 199999991 + 1234567890) & 0xFFFFFFFF)


def find_blocks(content):
    """Gives start, size and packed size of each compressed block."""
    start = 0
    while start < len(content) - 17:
        size, packed, _ = struct.unpack_from("<III", content, start)
        if 0 < packed < len(content) and content[start : start + 12] == block_header(size, packed):
            yield start, size, packed
            start += 17 + packed
        start += 1


def rewrite(content, block, change):
    """Changes what a compressed block says, so that nothing about the file is malformed."""
    start, size, packed = block
    body = start + 17
    stream = content[start + 12 : body] + struct.pack("<q", size) + content[body : body + packed]
    inside = change(lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(stream))
    again = lzma.compress(inside, lzma.FORMAT_ALONE, preset=1)
    properties, again = again[:5], again[13:-6]  # without the mark of an end, which UDPipe does not know
    return content[:start] + block_header(size, len(again)) + properties + again + content[body + packed :]


def test_a_model_is_tried_once_and_then_loaded(english_parser, monkeypatch):
    tried = []
    try_model = udpipe_models.try_model
    monkeypatch.setattr(udpipe_models, "try_model", lambda path: tried.append(path) or try_model(path))
    for _ in range(2):
        assert UDPipeParser(english_parser).parse(["The cat sleeps."])[0].upos[:2] == ["DET", "NOUN"]
        udpipe_models.MODELS.clear()
    assert tried == [english_parser]


def test_a_home_that_cannot_be_written_to_does_not_matter(english_parser, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(udpipe_models, "TRIED", tmp_path / "file" / "tried")
    assert UDPipeParser(english_parser).parse(["Cats."])[0].upos


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_a_truncated_model_is_refused(content, tmp_path, share):
    path = tmp_path / "cut.udpipe"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"cut\.udpipe' is not a UDPipe model, or it is damaged"):
        UDPipeParser(path).parse(["The cat."])


@pytest.mark.parametrize("seed", range(5))
def test_flipped_bits_are_refused(content, tmp_path, seed):
    generator = random.Random(seed)
    flipped = bytearray(content)
    for _ in range(16):
        flipped[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    path = tmp_path / "flipped.udpipe"
    path.write_bytes(flipped)
    with pytest.raises(ValueError, match=r"flipped\.udpipe' is (not a UDPipe model, or it is )?damaged"):
        UDPipeParser(path).parse(["The cat."])


def test_a_rewritten_block_that_says_the_same_is_no_obstacle(content, tmp_path):
    path = tmp_path / "same.udpipe"
    path.write_bytes(rewrite(content, list(find_blocks(content))[2], bytes))
    assert UDPipeParser(path).parse(["The cat sleeps."])[0].upos[:2] == ["DET", "NOUN"]


@pytest.mark.parametrize(("kept", "filling"), [(5000, b"\x7f"), (200, b"\x01")])  # a crash, and an endless loop
def test_a_well_formed_file_that_stops_udpipe_does_not_stop_us(content, tmp_path, monkeypatch, kept, filling):
    monkeypatch.setattr(udpipe_models, "TRIAL_SECONDS", 5)
    block = list(find_blocks(content))[2]
    path = tmp_path / "hostile.udpipe"
    path.write_bytes(rewrite(content, block, lambda inside: inside[:kept] + filling * (len(inside) - kept)))
    with pytest.raises(ValueError, match=r"hostile\.udpipe' is damaged or hostile"):
        UDPipeParser(path).parse(["The cat."])
