import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datatrove.data import Document
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import ParquetWriter

from syntax_bert import UDPipeParser
from syntax_bert.corpora.corpus_folder import finish_corpus
from syntax_bert.corpora.datatrove_block import DOCUMENT_SCHEMA, SyntaxParser
from syntax_bert.corpora.parse_columns import PARSE_TYPE
from syntax_bert.corpora.stored_parses import load_stored_parses

TEXTS = ["", *(f"The cat sleeps {number} hours." for number in range(250)), "Nobody sang. The dog did."]


def test_a_pipeline_makes_a_corpus(tmp_path, write, english_parser, own_cache, monkeypatch):
    """Two tasks of two workers parse the files of a folder; the outcome is read as that of `syntax-bert parse`."""
    (tmp_path / "input").mkdir()
    for part in range(2):
        write(f"input/{part}.jsonl", [{"text": text, "id": f"{part}-{n}"} for n, text in enumerate(TEXTS[part::2])])
    corpus = str(tmp_path / "corpus")
    LocalPipelineExecutor(
        pipeline=[
            JsonlReader(str(tmp_path / "input")),
            SyntaxParser("en"),
            ParquetWriter(corpus, expand_metadata=True, schema=DOCUMENT_SCHEMA),
        ],
        logging_dir=str(tmp_path / "logs"),
        tasks=2,
        workers=2,
    ).run()
    parser = UDPipeParser(english_parser)
    finish_corpus(corpus, parser)
    expected = parser.parse(TEXTS)
    monkeypatch.setattr(UDPipeParser, "parse", lambda *arguments: pytest.fail("a text is parsed"))
    stored = load_stored_parses({None: corpus})
    assert stored.parse(TEXTS[1:]) == expected[1:]


def test_batches_keep_order_and_language(english_parser):
    block = SyntaxParser(UDPipeParser({"xx": english_parser}), language="xx", dependencies=False)
    given = [Document(text, str(number)) for number, text in enumerate(TEXTS)]
    done = list(block.run(iter(given)))
    assert [document.id for document in done] == [*map(str, range(len(TEXTS)))]
    assert done[1].metadata["text_parse"]["upos"][:3] == ["DET", "NOUN", "VERB"]
    assert done[1].metadata["text_parse"]["parents"] is None
    assert block.stats["words"].total == 250 * 6 + 7


def test_an_error_names_the_document(english_parser):
    given = [Document("The cat sleeps.", "a"), Document("bad \ud800", "b"), Document("Nobody sang.", "c")]
    with pytest.raises(ValueError, match="document 'b': text 0 has a lone surrogate"):
        list(SyntaxParser("en").run(iter(given)))


def test_what_has_no_parses_is_not_finished(tmp_path, english_parser):
    writer = ParquetWriter(str(tmp_path), expand_metadata=True)
    with writer:
        writer.write(Document("Nobody sang.", "a"))
    with pytest.raises(ValueError, match=r"lacks 'text' or its parses, 'text_parse', in \['text', 'id'\]"):
        finish_corpus(tmp_path, UDPipeParser(english_parser))


def test_what_looks_like_parses_is_not_finished(tmp_path, english_parser, own_cache):
    parser = UDPipeParser(english_parser)
    for parses in (["no"], [["no"]]):
        pq.write_table(pa.table({"text": ["Nobody sang."], "text_parse": parses}), tmp_path / "0.parquet")
        with pytest.raises(ValueError, match="lacks 'text' or its parses"):
            finish_corpus(tmp_path, parser)
    pq.write_table(pa.table({"text": [7], "text_parse": pa.array([None], PARSE_TYPE)}), tmp_path / "0.parquet")
    with pytest.raises(ValueError, match="lacks 'text' or its parses"):
        finish_corpus(tmp_path, parser)
    with pytest.raises(ValueError, match="text_columns takes a list of names, got 'text'"):
        finish_corpus(tmp_path, parser, "text")


def test_rows_without_a_parse_are_parsed_when_asked_for(tmp_path, english_parser, own_cache):
    column = pa.array([None], PARSE_TYPE)
    pq.write_table(pa.table({"text": ["Nobody sang."], "text_parse": column}), tmp_path / "0.parquet")
    parser = UDPipeParser(english_parser)
    finish_corpus(tmp_path, parser)
    assert load_stored_parses({None: str(tmp_path)}).parse(["Nobody sang."]) == parser.parse(["Nobody sang."])
