import pytest

from syntax_bert.parsers.catalogue import named_parsers, named_values, parser_path


def test_parsers_of_several_languages(write):
    own = str(write("german.udpipe", b""))
    parser = named_parsers(["en", f"de={own}"], beam_size=2)
    assert parser.paths == {"en": parser_path("en"), "de": own}
    assert parser.beam_size == 2


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["en", "de="], "--parsers takes LANGUAGE=FILE, got 'de='"),
        (["=a.udpipe"], "--parsers takes LANGUAGE=FILE, got '=a.udpipe'"),
        (["en", "en"], "two parsers for 'en': 'en' and 'en'"),
        (["en", "en=a.udpipe"], "two parsers for 'en': 'en' and 'en=a.udpipe'"),
        (["xx"], r"no embedded parser for 'xx', only for \['en'\], and there is no published UDPipe model 'xx'"),
    ],
)
def test_names_of_no_parser(names, message):
    with pytest.raises(ValueError, match=message):
        named_parsers(names)


def test_named_values():
    assert named_values(["de=a.tsv", "fr=b=c.tsv"], "--test_files") == {"de": "a.tsv", "fr": "b=c.tsv"}
    assert named_values(None, "--test_files") == {}
    with pytest.raises(ValueError, match=r"--test_files takes LANGUAGE=FILE, got 'panx\.tsv'"):
        named_values(["panx.tsv"], "--test_files")
