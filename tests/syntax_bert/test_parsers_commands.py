import pytest

from syntax_bert import cli, parser_path
from syntax_bert.tokenization.udpipe_models import file_digest

FILE = "german-gsd-ud-2.5-191206.udpipe"


@pytest.fixture
def run(capsys):
    """Runs the command, and gives the lines that it prints."""

    def run_command(*arguments):
        cli.main(["parsers", *arguments])
        return capsys.readouterr().out.splitlines()

    return run_command


def test_list(run, mirror):
    lines = run("list")
    assert len(lines) == 95
    english = [line.split() for line in lines if line.startswith("en ")]
    assert english[0] == ["en", "English", "en", "CC", "BY-SA", "4.0", "embedded"]
    assert english[1] == ["en", "English", "english-ewt", "CC", "BY-NC-SA", "4.0"]
    assert not mirror.requests


def test_list_of_a_language(run, mirror):
    run("download", "german-hdt")
    gsd, hdt = run("list", "--language", "de")
    assert gsd.split() == ["de", "German", "german-gsd", "CC", "BY-NC-SA", "4.0"]
    assert hdt.split() == ["de", "German", "german-hdt", "CC", "BY-NC-SA", "4.0", "downloaded"]


def test_download(run, mirror, tmp_path, english_parser):
    folder, digest = tmp_path / "parsers", file_digest(english_parser)
    lines = run("download", "de", "german-hdt", "en")
    assert lines == [
        f"{folder / FILE} {digest}",
        f"{folder / FILE.replace('gsd', 'hdt')} {digest}",
        f"{english_parser} {digest}",
    ]
    run("download", "de")
    assert len(mirror.requests) == 2
    run("download", "de", "--force")
    assert len(mirror.requests) == 3


def test_a_changed_file_is_taken_when_that_is_wanted(run, mirror, tmp_path):
    run("download", "de")
    mirror.files[FILE] += b"\0"
    with pytest.raises(SystemExit, match="was recorded at the first download"):
        run("download", "de", "--force")
    (line,) = run("download", "de", "--force", "--accept_changed")
    assert line == f"{tmp_path / 'parsers' / FILE} {file_digest(parser_path('de'))}"
    assert (tmp_path / "parsers" / FILE).read_bytes() == mirror.files[FILE]


def test_info_downloads_nothing(run, mirror, tmp_path):
    assert run("info", "de") == [
        "treebank: German-GSD",
        f"source: {mirror.url}/models/{FILE}",
        "licence: CC BY-NC-SA 4.0",
        f"path: {tmp_path / 'parsers' / FILE} (not downloaded)",
    ]
    assert not mirror.requests


def test_info_of_a_model_that_is_here(run, mirror, tmp_path, english_parser):
    path, digest = tmp_path / "parsers" / FILE, file_digest(english_parser)
    run("download", "de")
    by_name, by_path = run("info", "de"), run("info", str(path))
    assert by_name[3:] == by_path == [
        f"path: {path}",
        f"size: {len(mirror.files[FILE])}",
        f"sha256: {digest}",
        f"licence file: {path.with_name(FILE.replace('.udpipe', '.LICENSE.md'))}",
        "has: tokenizer, tagger, parser",
    ]  # fmt: skip
    path.write_bytes(path.read_bytes() + b"\0")
    assert f"recorded sha256: {digest} (the file has changed)" in run("info", "de")


def test_info_of_the_embedded_model(run, english_parser):
    assert run("info", "en")[0] == f"path: {english_parser}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "germn-gsd"], r"no published UDPipe model 'germn-gsd' \(near it: german-gsd"),
        (["info", "nowhere.udpipe"], "there is no file 'nowhere.udpipe'"),
        (["download", "xx"], "no published UDPipe model 'xx'"),
        (["download", "fr"], "the server answers 404 Not Found"),
        (["list", "--language", "xx"], "no published UDPipe model 'xx'"),
    ],
)
def test_errors(run, mirror, arguments, message):
    with pytest.raises(SystemExit, match=f"^syntax-bert parsers: .*{message}"):
        run(*arguments)
