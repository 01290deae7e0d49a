import pytest

from syntax_bert import Parse, SyntaxTokenizerFast, cli
from syntax_bert.inspection import draw_trees

GOOD = "# text = Nobody sang\n1\tNobody\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsang\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
ODD = GOOD.replace("PRON", "NN").replace("nsubj", "subj")
CYCLE = GOOD.replace("\t0\troot", "\t1\troot")
SHORT = "1\tNobody\t_\n\n"


CATS = "".join(
    f"{i}\t{form}\t_\t{upos}\t_\t_\t{head}\t{deprel}\t_\t{'SpaceAfter=No' if i == 4 else '_'}\n"
    for i, (form, upos, head, deprel) in enumerate(
        [("The", "DET", 3, "det"), ("unhappy", "ADJ", 3, "amod"), ("cats", "NOUN", 4, "nsubj"),
         ("sleep", "VERB", 0, "root"), (".", "PUNCT", 4, "punct")], start=1)
)  # fmt: skip


def test_align(plain_checkpoint, write, capsys):
    trees = write("trees.conllu", f"{CATS}\n{GOOD}")
    texts = ["The unhappy cats sleep.", "Nobody sang"]
    cli.main(["align", *texts, "--model_name_or_path", plain_checkpoint, "--parser", trees])
    table, tree, second, _ = capsys.readouterr().out.split("\n\n", 3)
    assert table.splitlines() == [
        "   wordpiece  upos   casing       subword  deprel  head",
        "0  [CLS]",
        "1  the        DET    capitalised  whole    det     4 cat",
        "2  un         ADJ    not          first    amod    4 cat",
        "3  ##happy    ADJ    not          last     amod    2 un",
        "4  cat        NOUN   not          first    nsubj   6 sleep",
        "5  ##s        NOUN   not          last     nsubj   4 cat",
        "6  sleep      VERB   not          whole    root    0 [CLS]",
        "7  .          PUNCT  not          whole    punct   6 sleep",
        "8  [SEP]                                           0 [CLS]",
    ]
    assert tree.splitlines() == [
        "sleep  VERB  root",
        "├─ cats  NOUN  nsubj",
        "│  ├─ The  DET  det",
        "│  └─ unhappy  ADJ  amod",
        "└─ .  PUNCT  punct",
    ]
    assert second.splitlines()[1] == "0  [CLS]"


def test_align_with_marian(marian_checkpoint, capsys):
    cli.main(["align", "The cat sleeps.", "--model_name_or_path", marian_checkpoint, "--parser", "en"])
    table = capsys.readouterr().out
    assert "</s>" in table
    assert "NOUN" in table


def test_align_without_a_parser(plain_checkpoint, tmp_path):
    SyntaxTokenizerFast.from_pretrained(plain_checkpoint).save_pretrained(tmp_path)
    with pytest.raises(SystemExit, match="carries no parser: name one by --parser"):
        cli.main(["align", "The cat sleeps.", "--model_name_or_path", str(tmp_path)])


def test_trees_deeper_than_the_stack_of_python():
    length = 3000
    parse = Parse(
        "x " * length,
        starts=[2 * word for word in range(length)],
        ends=[2 * word + 1 for word in range(length)],
        upos=["X"] * length,
        sentence_ids=[0] * length,
        parents=[-1, *range(length - 1)],
        deprels=["root", *["dep"] * (length - 1)],
    )
    lines = draw_trees(parse).splitlines()
    assert len(lines) == length
    assert lines[2] == "   └─ x  X  dep"


def test_words_without_trees():
    assert draw_trees(Parse("a b", [0, 2], [1, 3], ["X", "SYM"], [0, 0])) == "a X\nb SYM"


def check(path, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["check", *path])
    return stopped.value.code, capsys.readouterr().out.splitlines()


def test_check_finds_all_faults(write, capsys):
    path = write("a.conllu", GOOD + CYCLE + ODD + SHORT + GOOD)
    status, lines = check([path], capsys)
    assert status == 1
    assert [line.removeprefix(path) for line in lines] == [
        ":6: sentence 2, word 1 'Nobody': the heads form a cycle without a root",
        ":13: sentence 4, word 1 'Nobody': 3 fields; it takes 10, with tabs, none empty",
        ": 3 sentences, 6 words, 2 faults",
        ": tags that UD does not have, which are read as none: UPOS NN (1), DEPREL subj (1)",
    ]


def test_check_of_sound_files(write, capsys):
    paths = [write("a.conllu", GOOD), write("b.conllu", GOOD + GOOD.replace("nsubj", "nsubj:pass"))]
    status, lines = check(paths, capsys)
    assert status == 0
    assert [line.rpartition(": ")[2] for line in lines] == [
        "1 sentences, 2 words, 0 faults",
        "2 sentences, 4 words, 0 faults",
    ]


def test_check_of_what_is_no_conllu(write, capsys):
    status, lines = check([write("a.conllu", ""), write("b.conllu", GOOD.encode() + b"\xff")], capsys)
    assert status == 1
    assert lines[0].endswith("the file has no sentence")
    assert "the file is not UTF-8 after sentence" in lines[2]
    with pytest.raises(SystemExit, match=r"c\.conllu\.gz is damaged after line 0"):
        cli.main(["check", write("c.conllu.gz", GOOD)])
