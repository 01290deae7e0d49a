"""A syntax tokenizer returns every key and has every attribute of the tokenizer it was made from, in every saved form."""

import inspect
import json
import re
import shutil

import numpy as np
import pytest
import torch
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertTokenizer,
    GPT2Tokenizer,
    MBart50Tokenizer,
    NllbTokenizer,
    PreTrainedTokenizerFast,
    RobertaTokenizer,
    T5Tokenizer,
    XLMRobertaTokenizer,
)

from syntax_bert import SYNTAX_COLUMNS, Parse, SyntaxBertConfig, SyntaxTokenizerFast

CORPUS = [
    "The cats sleep in the river, and nobody knows why.",
    "Is that naïve? Unhappy dogs don't answer questions.",
    "Zoë paid 42 euros; the KING of Spain, 3.5!",
    'a b c d e f g h i j k l m n o p q r s t u v w x y z ( ) - : " A B C D E F G H I J L M N O P Q R S U V W X Y',
]
TEXTS = ["The cats sleep in the river.", "Zoë, unhappy:  is that naïve?", "KING", ""]
WORDS = [["The", "cats", "sleep"], ["naïve", "KING", "of", "Spain"]]
LONG = " ".join(CORPUS[:2])
ADDED = "the zorps <ent> sleep <e1> in <e2>zorp"
# Positional and keyword arguments of calls. Every one is compared key by key.
CALLS = {
    "one text": ([TEXTS[0]], {}),
    "no text": ([""], {}),
    "a batch": ([TEXTS], {}),
    "a pair": (TEXTS[:2], {}),
    "an empty second text": ([TEXTS[0], ""], {}),
    "a batch of pairs": ([TEXTS[:2], TEXTS[1:3]], {}),
    "a list of pairs": ([[(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[0])]], {}),
    "no special tokens": (TEXTS[:2], {"add_special_tokens": False}),
    "padding": ([TEXTS], {"padding": True}),
    "left padding": ([TEXTS], {"padding": True, "padding_side": "left"}),
    "padding to a length": ([TEXTS[0]], {"padding": "max_length", "max_length": 40}),
    "padding to a multiple": ([TEXTS], {"padding": True, "pad_to_multiple_of": 8}),
    "truncation": ([LONG], {"truncation": True, "max_length": 12}),
    "truncation of one text": ([TEXTS[0], LONG], {"truncation": "only_second", "max_length": 40}),
    "windows": (
        [[LONG, TEXTS[0]]],
        {
            "truncation": True,
            "max_length": 12,
            "stride": 4,
            "padding": "max_length",
            "return_overflowing_tokens": True,
            "return_offsets_mapping": True,
            "return_special_tokens_mask": True,
            "return_length": True,
        },
    ),
    "windows of one text": (
        [LONG],
        {"truncation": True, "max_length": 10, "stride": 2, "return_overflowing_tokens": True},
    ),
    "type ids and no mask": ([TEXTS[0]], {"return_token_type_ids": True, "return_attention_mask": False}),
    "words": ([WORDS[0]], {"is_split_into_words": True}),
    "a batch of words": ([WORDS], {"is_split_into_words": True, "padding": True}),
    "pairs of words": ([WORDS, WORDS[::-1]], {"is_split_into_words": True, "return_offsets_mapping": True}),
    "pt": ([TEXTS], {"padding": True, "return_tensors": "pt", "return_special_tokens_mask": True}),
    "np": ([TEXTS[0]], {"return_tensors": "np"}),
    "a target": ([TEXTS[0]], {"text_target": TEXTS[1]}),
    "added tokens": ([ADDED], {"return_offsets_mapping": True}),
    "special tokens in the text": (["a[SEP]b</s>c <s> [MASK] <mask> d"], {}),
    "special tokens as text": (["a[SEP]b</s>c <s> [MASK] <mask> d"], {"split_special_tokens": True}),
}
# What belongs to a class and its files, not to what a tokenizer does.
NOT_COMPARED = {
    "backend_tokenizer", "can_save_slow_tokenizer", "decoder", "deprecation_warnings", "files_loaded", "init_kwargs",
    "model", "name_or_path", "vocab_file", "vocab_files_names",
}  # fmt: skip


class WhitespaceParser:
    """Words are what lies between spaces; the first word heads the others."""

    def parse(self, texts, languages=None, dependencies=True):
        return [self.chain(text, [match.span() for match in re.finditer(r"\S+", text)]) for text in texts]

    def parse_words(self, words, languages=None, dependencies=True):
        return self.parse([" ".join(text) for text in words])

    def chain(self, text, spans):
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        parents = [-1, *[0] * (len(spans) - 1)][: len(spans)]
        return Parse(text, starts, ends, ["NOUN"] * len(spans), [0] * len(spans), parents, ["dep"] * len(spans))


def trained(model, trainer, pre_tokenizer):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(CORPUS, trainer)
    return json.loads(tokenizer.to_str())["model"]


def wordpiece(lowercase):
    corpus_model = trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(
            vocab_size=150, special_tokens="[PAD] [UNK] [CLS] [SEP] [MASK]".split(), show_progress=False
        ),
        pre_tokenizers.BertPreTokenizer(),
    )
    return BertTokenizer(vocab=corpus_model["vocab"], do_lower_case=lowercase, model_max_length=64)


def unigram(tokenizer_class, special_tokens, **kwargs):
    corpus_model = trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=120, special_tokens=special_tokens, unk_token="<unk>", show_progress=False),
        pre_tokenizers.Metaspace(),
    )
    # training is not deterministic, and the last digits of some scores do not survive a JSON file
    vocabulary = [(piece, round(score, 4)) for piece, score in corpus_model["vocab"]]
    return tokenizer_class(vocab=vocabulary, model_max_length=64, **kwargs)


def byte_level(tokenizer_class, special_tokens, **kwargs):
    corpus_model = trained(
        models.BPE(),
        trainers.BpeTrainer(
            vocab_size=320,
            special_tokens=special_tokens,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    merges = [tuple(merge) for merge in corpus_model["merges"]]
    return tokenizer_class(vocab=corpus_model["vocab"], merges=merges, model_max_length=64, **kwargs)


FAMILIES = {
    "bert-uncased": ("bert", lambda: wordpiece(True)),
    "bert-cased": ("bert", lambda: wordpiece(False)),
    "xlm-roberta": (
        "xlm-roberta",
        lambda: unigram(XLMRobertaTokenizer, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]),
    ),
    "t5": ("t5", lambda: unigram(T5Tokenizer, ["<pad>", "</s>", "<unk>"], extra_ids=3)),
    "gpt2": ("gpt2", lambda: byte_level(GPT2Tokenizer, ["<|endoftext|>"], chat_template=CHAT_TEMPLATE)),
    "roberta": (
        "roberta",
        lambda: byte_level(RobertaTokenizer, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]),
    ),
}
CHAT_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"


def save_modern(tokenizer, folder):
    tokenizer.save_pretrained(folder)


def save_old(tokenizer, folder):
    """As transformers 4.8 did, with truncation and padding of the last use left in tokenizer.json."""
    backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    backend.enable_truncation(20)
    backend.enable_padding(length=20, pad_id=tokenizer.pad_token_id or 0, pad_token=tokenizer.pad_token or "!")
    backend.save(str(folder / "tokenizer.json"))
    special_tokens = tokenizer.special_tokens_map
    config = {
        **special_tokens,
        "model_max_length": 512,
        "name_or_path": "somebody/something",
        "tokenizer_class": type(tokenizer).__name__,
    }
    if isinstance(tokenizer, BertTokenizer):
        config |= {
            "do_lower_case": tokenizer.do_lower_case,
            "do_basic_tokenize": True,
            "never_split": None,
            "strip_accents": None,
            "tokenize_chinese_chars": True,
        }
    if isinstance(tokenizer, T5Tokenizer):
        config |= {"extra_ids": 3, "additional_special_tokens": tokenizer.extra_special_tokens}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "special_tokens_map.json").write_text(json.dumps(special_tokens))


def save_vocabulary(tokenizer, folder):
    """Only vocab.txt, or vocab.json and merges.txt."""
    tokenizer.backend_tokenizer.model.save(str(folder))


def save_backend(tokenizer, folder):
    """Only tokenizer.json."""
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))


SAVED_FORMS = {"modern": save_modern, "old": save_old, "vocabulary": save_vocabulary, "backend": save_backend}
FORMS = [
    f"{family} {form}"
    for family in FAMILIES
    for form in SAVED_FORMS
    if not (form == "vocabulary" and family in ("xlm-roberta", "t5"))  # a SentencePiece file then
]
# GPT-2 has no padding token of its own.
LOADING = {form: {"pad_token": "<|endoftext|>"} if form.startswith("gpt2") else {} for form in FORMS}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One folder for each form."""
    made = {}
    for family, (model_type, build) in FAMILIES.items():
        tokenizer = build()
        for form, save in SAVED_FORMS.items():
            if f"{family} {form}" in FORMS:
                folder = tmp_path_factory.mktemp(f"{family}-{form}")
                (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
                save(tokenizer, folder)
                made[f"{family} {form}"] = folder
    return made


def load_both(folder, form, **kwargs):
    base = AutoTokenizer.from_pretrained(folder, **LOADING[form], **kwargs)
    ours = SyntaxTokenizerFast.from_pretrained(folder, parser=WhitespaceParser(), **LOADING[form], **kwargs)
    return base, ours


def extend(tokenizer):
    """Adds tokens of every kind."""
    tokenizer.add_tokens(["<ent>", AddedToken("zorp", single_word=True, lstrip=True)])
    tokenizer.add_special_tokens({"extra_special_tokens": ["<e1>", AddedToken("<e2>", rstrip=True)]})


def plain(value):
    """Turns tensors into lists, with their dtype."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return [str(value.dtype), value.tolist()]
    return value


def call(tokenizer, name):
    args, kwargs = CALLS[name]
    return {key: plain(value) for key, value in tokenizer(*args, **kwargs).items()}


def assert_same_keys(base, ours, columns=SYNTAX_COLUMNS):
    for name in CALLS:
        expected, got = call(base, name), call(ours, name)
        own = {key: got.pop(key) for key in columns}
        assert got == expected, name
        for column in own.values():
            assert shape(column) == shape(expected["input_ids"]), name


def shape(value):
    """Gives the length of every row of a column, list or tensor."""
    rows = value[1] if value and isinstance(value[0], str) else value
    return [len(row) if isinstance(row, list) else 1 for row in rows]


def comparable(value):
    """Shows added tokens with all their flags, and mappings in one order."""
    if isinstance(value, dict):
        return sorted((str(key), repr(item)) for key, item in value.items())
    return repr(value)


def assert_same_attributes(base, ours):
    names = {name for name in dir(base) if not name.startswith("_")} | set(base.init_kwargs)
    names |= set(base.SPECIAL_TOKENS_ATTRIBUTES) | {f"{name}_id" for name in base.SPECIAL_TOKENS_ATTRIBUTES}
    names |= {"extra_special_tokens", "extra_special_tokens_ids"}
    names = {
        name
        for name in names - NOT_COMPARED
        if getattr(base, name, None) is not None and not callable(getattr(base, name))
    }
    assert {"pad_token", "model_max_length", "padding_side", "vocab", "added_tokens_decoder", "is_fast"} <= names
    for name in sorted(names):
        assert comparable(getattr(ours, name, "(none)")) == comparable(getattr(base, name)), name
    assert len(ours) == len(base)
    states = [json.loads(tokenizer.backend_tokenizer.to_str()) for tokenizer in (base, ours)]
    for state in states:
        state.update(padding=None, truncation=None)  # those of the last call
    assert states[0] == states[1]


def assert_same_methods(base, ours):
    ids = base(ADDED)["input_ids"] + list(range(0, len(base), 7))
    for kwargs in ({}, {"skip_special_tokens": True}, {"clean_up_tokenization_spaces": True}):
        assert ours.decode(ids, **kwargs) == base.decode(ids, **kwargs)
    assert ours.batch_decode([ids, ids[:3]]) == base.batch_decode([ids, ids[:3]])
    assert ours.convert_ids_to_tokens(ids) == base.convert_ids_to_tokens(ids)
    assert ours.tokenize(TEXTS[1]) == base.tokenize(TEXTS[1])
    assert ours.encode(*TEXTS[:2]) == base.encode(*TEXTS[:2])
    assert ours.get_special_tokens_mask(ids, already_has_special_tokens=True) == base.get_special_tokens_mask(
        ids, already_has_special_tokens=True
    )
    assert ours.num_special_tokens_to_add(pair=True) == base.num_special_tokens_to_add(pair=True)
    if base.chat_template:
        chat = [{"role": "user", "content": TEXTS[0]}]
        assert ours.apply_chat_template(chat, tokenize=False) == base.apply_chat_template(chat, tokenize=False)
        assert ours.apply_chat_template(chat)["input_ids"] == base.apply_chat_template(chat)["input_ids"]


@pytest.mark.parametrize("form", FORMS)
def test_everything_of_the_base_is_kept_when_a_plain_checkpoint_is_loaded(folders, form):
    base, ours = load_both(folders[form], form)
    assert_same_attributes(base, ours)
    assert_same_keys(base, ours)
    assert_same_methods(base, ours)
    assert ours.name_or_path == base.name_or_path
    assert base.pad_token is not None
    assert base(TEXTS[0])["input_ids"] != base(TEXTS[1])["input_ids"]  # the vocabulary was read


@pytest.mark.parametrize("form", FORMS)
def test_everything_is_kept_when_saved_and_loaded_again_in_three_ways(folders, form, tmp_path):
    base, ours = load_both(folders[form], form)
    extend(base)
    extend(ours)
    assert_same_keys(base, ours)
    ours.save_pretrained(tmp_path)
    shutil.copy(folders[form] / "config.json", tmp_path)
    for loader in (SyntaxTokenizerFast, AutoTokenizer):
        again = loader.from_pretrained(tmp_path, parser=WhitespaceParser())
        assert type(again) is SyntaxTokenizerFast
        assert_same_attributes(base, again)
        assert_same_keys(base, again)
        assert_same_methods(base, again)
        for name in CALLS:
            assert call(again, name) == call(ours, name)
    without_code = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert_same_keys(base, without_code, columns=())
    assert_same_attributes(base, ours)  # saving changes nothing


@pytest.mark.parametrize("form", FORMS)
def test_arguments_of_loading_reach_the_base(folders, form, tmp_path):
    options = {"padding_side": "left", "truncation_side": "left", "model_max_length": 33}
    base, ours = load_both(folders[form], form, **options)
    assert_same_attributes(base, ours)
    assert_same_keys(base, ours)
    ours.save_pretrained(tmp_path)
    again = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=WhitespaceParser())
    assert (again.padding_side, again.truncation_side, again.model_max_length) == ("left", "left", 33)
    assert_same_keys(base, again)
    right = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=WhitespaceParser(), padding_side="right")
    assert right.padding_side == "right"
    assert right([TEXTS[0], TEXTS[2]], padding=True)["attention_mask"][1][0] == 1


SCRIPT = """
import json, sys
import calls
from transformers import AutoTokenizer

made = {}
for form, folder in json.load(open("folders.json")).items():
    plain = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    assert not hasattr(plain, "parser")
    ours = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    package, _, module = type(ours).__module__.rpartition(".")
    assert package.startswith("transformers_modules") and type(ours).__name__ == "SyntaxTokenizerFast", type(ours)
    if ours.parser is None:
        calls.Parse = sys.modules[package + ".universal_dependencies"].Parse
        ours._parser = calls.WhitespaceParser()
    else:
        ours.save_pretrained(folder + "-copy")
        ours = AutoTokenizer.from_pretrained(folder + "-copy", trust_remote_code=True)
        assert ours.parser.paths[None].startswith(folder + "-copy")
    made[form] = [{name: calls.call(tokenizer, name) for name in calls.CALLS} for tokenizer in (plain, ours)]
print(json.dumps(made))
"""


def test_a_process_without_the_package_keeps_all_keys_and_with_remote_code_the_columns(
    folders, english_parser, run_without_package, tmp_path
):
    saved, bases = {}, {}
    for form in FORMS:
        base, ours = load_both(folders[form], form)
        extend(base)
        extend(ours)
        if form == "bert-cased modern":  # this one carries a real parser, and is saved once more over there
            ours._set_syntax(english_parser, None, 1, None, {})
        folder = tmp_path / form.replace(" ", "-")
        ours.save_pretrained(folder)
        shutil.copy(folders[form] / "config.json", folder)
        shutil.copytree(folder, f"{folder}-copy", ignore=shutil.ignore_patterns("*token*", "*.py", "*.udpipe"))
        saved[form] = str(folder)
        bases[form] = (base, ours)
    (tmp_path / "folders.json").write_text(json.dumps(saved))
    sources = [inspect.getsource(item) for item in (plain, call, WhitespaceParser)]
    head = f"import re\nimport numpy as np\nimport torch\n\nCALLS = {CALLS!r}"
    (tmp_path / "calls.py").write_text("\n\n".join([head, *sources]))
    made = json.loads(run_without_package(SCRIPT)[-1])
    for form, tokenizers in bases.items():
        for tokenizer, results in zip(tokenizers, made[form], strict=True):
            for name in CALLS:
                assert results[name] == json.loads(json.dumps(call(tokenizer, name))), (form, name)


@pytest.mark.parametrize("form", [form for form in FORMS if form.startswith("bert")])
def test_a_syntax_model_beside_a_plain_tokenizer_costs_no_key(folders, form, tmp_path):
    """`SyntaxBertModel.from_pretrained(plain).save_pretrained(folder)`, then the plain tokenizer saved beside it."""
    shutil.copytree(folders[form], tmp_path, dirs_exist_ok=True)
    base = AutoTokenizer.from_pretrained(folders[form])
    SyntaxBertConfig(vocab_size=len(base)).save_pretrained(tmp_path)
    ours = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=WhitespaceParser())
    assert_same_attributes(base, ours)
    assert_same_keys(base, ours, columns=("upos_ids",))


BACKEND_OPTIONS = {
    "prefix space": ("roberta modern", {"add_prefix_space": True}),
    "prefix space of GPT-2": ("gpt2 modern", {"add_prefix_space": True}),
    "case": ("bert-uncased modern", {"do_lower_case": False}),
}
OPTIONS = {
    "clean up": ("bert-cased modern", {"clean_up_tokenization_spaces": True}),
    "extra tokens": ("roberta modern", {"extra_special_tokens": ["<x>", "<y>"]}),
    "named tokens": ("roberta backend", {"extra_special_tokens": {"image_token": "<image>"}}),
    "special tokens as text": ("bert-cased old", {"split_special_tokens": True}),
    "input names": ("bert-cased old", {"model_input_names": ["input_ids"]}),
    "chat templates": ("bert-cased modern", {"chat_template": {"default": CHAT_TEMPLATE, "tool_use": "x"}}),
    "what only the Auto class reads": ("bert-cased modern", {"config": BertConfig(), "use_fast": True}),
}


@pytest.mark.parametrize(
    ("form", "options"), [*BACKEND_OPTIONS.values(), *OPTIONS.values()], ids=[*BACKEND_OPTIONS, *OPTIONS]
)
def test_options_of_the_base_work_on_a_plain_checkpoint(folders, form, options, tmp_path):
    base, ours = load_both(folders[form], form, **options)
    assert_same_attributes(base, ours)
    assert_same_keys(base, ours)
    ours.save_pretrained(tmp_path)
    again = SyntaxTokenizerFast.from_pretrained(tmp_path, parser=WhitespaceParser())
    assert_same_attributes(base, again)
    assert_same_keys(base, again)


@pytest.mark.parametrize(("form", "options"), OPTIONS.values(), ids=OPTIONS)
def test_options_of_the_base_work_on_a_syntax_checkpoint(folders, form, options, tmp_path):
    _, ours = load_both(folders[form], form)
    ours.save_pretrained(tmp_path / "saved")
    base = AutoTokenizer.from_pretrained(folders[form], **LOADING[form], **options)
    again = SyntaxTokenizerFast.from_pretrained(tmp_path / "saved", parser=WhitespaceParser(), **options)
    assert_same_keys(base, again)
    again.save_pretrained(tmp_path / "again")
    assert_same_keys(base, SyntaxTokenizerFast.from_pretrained(tmp_path / "again", parser=WhitespaceParser()))


@pytest.mark.parametrize(("form", "options"), BACKEND_OPTIONS.values(), ids=BACKEND_OPTIONS)
def test_options_that_a_saved_backend_does_not_take_are_refused_on_a_syntax_checkpoint(
    folders, form, options, tmp_path
):
    """As token classification recipes ask for `add_prefix_space`; an attribute that is not acted on would be a lie."""
    _, ours = load_both(folders[form], form)
    ours.save_pretrained(tmp_path)
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=f"{name} is {not value} in .* and cannot become {value}"):
        SyntaxTokenizerFast.from_pretrained(tmp_path, parser=WhitespaceParser(), **options)


@pytest.mark.parametrize("tokenizer_class", [NllbTokenizer, MBart50Tokenizer])
def test_a_base_whose_class_changes_what_calls_return_is_refused(tokenizer_class, tmp_path):
    """Their source and target languages set the special tokens, by methods that other fast tokenizers do not have."""
    languages = {NllbTokenizer: ("eng_Latn", "deu_Latn"), MBart50Tokenizer: ("en_XX", "de_DE")}[tokenizer_class]
    tokenizer_class(src_lang=languages[0], tgt_lang=languages[1]).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=f"{tokenizer_class.__name__} has its own "):
        SyntaxTokenizerFast.from_pretrained(tmp_path, parser=WhitespaceParser())
