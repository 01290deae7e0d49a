"""The pipelines of transformers on raw text: new models give what plain ones give, trained ones read the tree."""

import pytest
import torch
import transformers
from transformers import AutoTokenizer, pipeline

import syntax_bert
from syntax_bert import SyntaxTokenizerFast

TEXTS = ["The cat sees the river.", "The unhappy dogs that I see are sleeping, you see."]
PAIRS = [{"text": TEXTS[0], "text_pair": "Who sees it?"}, {"text": "You see.", "text_pair": TEXTS[1]}]
MASKED = ["The [MASK] sees the river.", "You [MASK] the unhappy dogs that are sleeping."]
TASKS = {
    "single": ("text-classification", "ForSequenceClassification", TEXTS, {}),
    "pair": ("text-classification", "ForSequenceClassification", PAIRS, {}),
    "tokens": ("token-classification", "ForTokenClassification", TEXTS, {}),
    "aggregated": ("token-classification", "ForTokenClassification", TEXTS, {"aggregation_strategy": "simple"}),
    "mask": ("fill-mask", "ForMaskedLM", MASKED, {}),
    "features": ("feature-extraction", "Model", TEXTS, {}),
}


def flat(value):
    """Lists the numbers and the names of nested results."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in flat(value[key])]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in flat(item)]
    return [value if isinstance(value, str) or value is None else float(value)]


def assert_same(made, expected):
    made, expected = flat(made), flat(expected)
    assert [leaf for leaf in made if isinstance(leaf, str)] == [leaf for leaf in expected if isinstance(leaf, str)]
    numbers = ([leaf for leaf in leaves if isinstance(leaf, float)] for leaves in (made, expected))
    torch.testing.assert_close(*map(torch.tensor, numbers), atol=1e-5, rtol=1e-4)


def syntax_class(family, head):
    return getattr(syntax_bert, family if head == "Model" and "GAT" in family else f"{family}{head}")


@pytest.fixture(params=["SyntaxBert", "SyntaxMBertWithGAT"])
def family(request):
    return request.param


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("task", TASKS)
def test_a_new_model_gives_what_its_plain_parent_gives(family, task, side, plain_checkpoint, english_parser, tmp_path):
    name, head, texts, options = TASKS[task]
    torch.manual_seed(0)
    getattr(transformers, f"Bert{head}").from_pretrained(plain_checkpoint).save_pretrained(tmp_path / "plain")
    AutoTokenizer.from_pretrained(plain_checkpoint).save_pretrained(tmp_path / "plain")
    syntax_class(family, head).from_pretrained(tmp_path / "plain").save_pretrained(tmp_path / "syntax")
    SyntaxTokenizerFast.from_pretrained(plain_checkpoint, parser=english_parser).save_pretrained(tmp_path / "syntax")
    pipes = [pipeline(name, model=str(tmp_path / kind), **options) for kind in ("plain", "syntax")]
    assert type(pipes[1].model) is syntax_class(family, head)
    for pipe in pipes:
        pipe.tokenizer.padding_side = side
    plain, syntax = pipes
    for batch_size in (1, 2):
        assert_same(syntax(texts, batch_size=batch_size), plain(texts, batch_size=batch_size))


@pytest.mark.parametrize("task", TASKS)
def test_a_trained_model_gives_the_same_in_batches_and_reads_the_tree(family, task, plain_checkpoint, english_parser):
    name, head, texts, options = TASKS[task]
    torch.manual_seed(0)
    model = syntax_class(family, head).from_pretrained(plain_checkpoint)
    for key, weights in model.named_parameters():
        if any(
            part in key for part in ("syntax_embeddings", "attention_biases", "graph_attention.upos", "classifier")
        ):
            torch.nn.init.normal_(weights)
    tokenizer = SyntaxTokenizerFast.from_pretrained(
        plain_checkpoint, parser=english_parser, columns=model.config.syntax_columns
    )
    pipe = pipeline(name, model=model, tokenizer=tokenizer, **options)
    alone = pipe(texts, batch_size=1)
    together = pipe(texts, batch_size=2)
    if task == "features":  # those of padding come with them
        together = [[made[0][: len(one[0])]] for made, one in zip(together, alone, strict=True)]
    assert_same(together, alone)
    unparsed = pipeline(
        name, model=model, tokenizer=SyntaxTokenizerFast.from_pretrained(plain_checkpoint, columns=()), **options
    )
    assert flat(unparsed(texts)) != flat(alone)
