import ast
import json
import sys
from pathlib import Path

import pytest
import torch
import transformers
from transformers import AutoTokenizer
from transformers.dynamic_module_utils import get_imports, get_relative_imports

import syntax_bert
from syntax_bert.modeling import modeling_syntax_bert, modeling_syntax_marian, modeling_syntax_mbert

ROOT = Path(__file__).parent.parent
HUB_FILES = sorted(
    path for folder in ("modeling", "tokenization") for path in (ROOT / folder).glob("*.py") if path.name != "__init__.py"
)  # fmt: skip
TEXTS = ["The cat sees the river.", "Who is sleeping?"]

CLEAN_PROCESS = """
import json, sys
import torch, transformers
from transformers import AutoTokenizer, pipeline
tasks = {
    "AutoModel": "feature-extraction",
    "AutoModelForSequenceClassification": "text-classification",
    "AutoModelForTokenClassification": "token-classification",
    "AutoModelForMaskedLM": "fill-mask",
}
texts, *heads = map(json.loads, sys.argv[1:])
for folder, auto_class in heads:
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    model = getattr(transformers, auto_class).from_pretrained(folder, trust_remote_code=True).eval()
    if auto_class == "AutoModelForMultipleChoice":
        batch = {name: tensor.unsqueeze(0) for name, tensor in batch.items()}
    with torch.no_grad():
        output = model(**batch)[0].tolist()
    made = None
    if auto_class in tasks:
        inputs = "The cat is [MASK]." if auto_class == "AutoModelForMaskedLM" else texts
        made = pipeline(tasks[auto_class], model=folder, trust_remote_code=True)(inputs, batch_size=2)
    print(json.dumps([type(model).__name__, sorted(batch), output, made], default=float))
"""


@pytest.mark.parametrize("path", HUB_FILES, ids=lambda path: path.name)
def test_imports_survive_flattening(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    relative = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level}
    assert relative == set(get_relative_imports(path)) <= {other.stem for other in path.parent.glob("*.py")}
    assert set(get_imports(path)) <= {"torch", "transformers", "huggingface_hub", "numpy"} | sys.stdlib_module_names


def test_base_names_are_unique():
    names = [path.name for path in HUB_FILES]
    assert len(names) == len(set(names))


FAMILIES = {
    "SyntaxBert": (modeling_syntax_bert, {"syntax_features": ["upos", "deprel"]}, {"upos_ids", "deprel_ids"}),
    "SyntaxMBertWithGAT": (modeling_syntax_mbert, {"structure_loss_weight": 0.5}, {"upos_ids", "head_positions"}),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_clean_process_loads_and_runs_every_head_on_raw_text(
    family, plain_checkpoint, syntax_tokenizer, run_without_package, tmp_path
):
    module, options, columns = FAMILIES[family]
    names = [*module.AUTO_CLASSES.values(), f"{family}ForIntentAndSlots"]
    models = {}
    for name in names:
        torch.manual_seed(0)
        model_class = getattr(syntax_bert, name)
        model = model_class.from_pretrained(plain_checkpoint, intents=["find", "see"], **options).eval()
        for weights in model.parameters():
            if weights.abs().sum() == 0:  # neutral so far
                torch.nn.init.normal_(weights)
        model.save_pretrained(tmp_path / name)
        syntax_tokenizer.save_pretrained(tmp_path / name)
        models[name] = model
    heads = [json.dumps([str(tmp_path / name), model._auto_class]) for name, model in models.items()]
    results = map(json.loads, run_without_package(CLEAN_PROCESS, json.dumps(TEXTS), *heads)[-len(names) :])
    for (expected_name, model), (name, made_columns, output, made) in zip(models.items(), results, strict=True):
        assert name == expected_name
        assert columns == set(made_columns) - {"input_ids", "token_type_ids", "attention_mask"}
        batch = syntax_tokenizer(TEXTS, padding=True, return_tensors="pt")
        if model._auto_class == "AutoModelForMultipleChoice":
            batch = {column: tensor.unsqueeze(0) for column, tensor in batch.items()}
        with torch.no_grad():
            expected = model(**batch)[0]
        torch.testing.assert_close(torch.tensor(output), expected)
        if model._auto_class == "AutoModelForSequenceClassification":
            scores = expected.softmax(-1).max(-1).values
            torch.testing.assert_close(torch.tensor([each["score"] for each in made]), scores)


def test_auto_classes_load_every_class_with_the_package_and_no_trust(
    plain_checkpoint, marian_checkpoint, english_parser, tmp_path
):
    families = {modeling_syntax_bert: "SyntaxBert", modeling_syntax_mbert: "SyntaxMBertWithGAT"}
    names = [name for module in (*families, modeling_syntax_marian) for name in module.AUTO_CLASSES.values()]
    for name in [*names, *(f"{family}ForIntentAndSlots" for family in families.values())]:
        model_class = getattr(syntax_bert, name)
        is_marian = "Marian" in name
        source = marian_checkpoint if is_marian else plain_checkpoint
        options = {} if is_marian else {"intents": ["a"], "structure_loss_weight": 0.5 * ("GAT" in name)}
        model = model_class.from_pretrained(source, **options)
        model.save_pretrained(tmp_path / name)
        tokenizer_class = syntax_bert.SyntaxMarianTokenizer if is_marian else syntax_bert.SyntaxTokenizerFast
        tokenizer_class.from_pretrained(source, parser=english_parser).save_pretrained(tmp_path / name)
        loaded = getattr(transformers, model_class._auto_class).from_pretrained(tmp_path / name)
        assert type(loaded) is model_class
        tokenizer = AutoTokenizer.from_pretrained(tmp_path / name)
        assert type(tokenizer) is tokenizer_class
        assert tokenizer.syntax_columns == model.config.syntax_columns


def test_a_model_loaded_by_remote_code_can_be_saved_again(
    plain_checkpoint, syntax_tokenizer, run_without_package, tmp_path
):
    first, second = tmp_path / "first", tmp_path / "second"
    syntax_bert.SyntaxBertModel.from_pretrained(plain_checkpoint).save_pretrained(first)
    syntax_tokenizer.save_pretrained(first)
    run_without_package(
        "from transformers import AutoModel, AutoTokenizer\n"
        f"for auto in (AutoModel, AutoTokenizer): auto.from_pretrained({str(first)!r}, trust_remote_code=True)"
        f".save_pretrained({str(second)!r})"
    )
    assert {path.name for path in second.iterdir()} == {path.name for path in first.iterdir()}
    assert json.loads((second / "config.json").read_text()) == json.loads((first / "config.json").read_text())


NO_NETWORK = """
import os, socket
os.environ.pop("HF_HUB_OFFLINE")

def refuse(*args):
    raise AssertionError(f"the network is used: {args}")

socket.socket.connect = socket.getaddrinfo = refuse
from transformers import pipeline
print(pipeline("token-classification", model=sys.argv[1], trust_remote_code=True)("The cat sleeps.") != [])
"""


def test_a_folder_needs_no_network(plain_checkpoint, syntax_tokenizer, run_without_package, tmp_path):
    """Nor the wish to be offline."""
    syntax_bert.SyntaxMBertWithGATForTokenClassification.from_pretrained(plain_checkpoint).save_pretrained(tmp_path)
    syntax_tokenizer.save_pretrained(tmp_path)
    assert run_without_package(NO_NETWORK, str(tmp_path))[-1] == "True"
