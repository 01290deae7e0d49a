"""Every head goes to a Hub and back: pushed by one process, loaded by others that have neither cache nor package."""

import json
import os
import re
import subprocess
import sys

import pytest
import torch
from hub_server import serve_hub

import syntax_bert
from syntax_bert.modeling import modeling_syntax_bert, modeling_syntax_marian, modeling_syntax_mbert

TEXTS = ["The cat sees the river.", "Who is sleeping?"]
HEADS = [
    *modeling_syntax_bert.AUTO_CLASSES.values(),
    "SyntaxBertForIntentAndSlots",
    *modeling_syntax_mbert.AUTO_CLASSES.values(),
    "SyntaxMBertWithGATForIntentAndSlots",
    *modeling_syntax_marian.AUTO_CLASSES.values(),
]
HELPERS = """
import json, sys
import torch, transformers

def outputs(model, tokenizer, texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    if "MultipleChoice" in type(model).__name__:
        batch = {name: tensor.unsqueeze(0) for name, tensor in batch.items()}
    if "Marian" in type(model).__name__:
        batch["decoder_input_ids"] = batch["input_ids"][:, :3]
    with torch.no_grad():
        return model.eval()(**batch)[0].flatten()[:50].tolist()
"""
TASKS = {  # and what a pipeline of each is called with
    "ForSequenceClassification": ["text-classification", TEXTS],
    "ForTokenClassification": ["token-classification", TEXTS],
    "ForMaskedLM": ["fill-mask", ["The [MASK] sleeps."]],
    "ForQuestionAnswering": ["question-answering", [{"question": "Who?", "context": text} for text in TEXTS]],
    "ForIntentAndSlots": ["intent-and-slots", TEXTS],
    "MT": ["translation", TEXTS],
}
PUSH = """
import syntax_bert

bert, marian, texts, names = map(json.loads, sys.argv[1:])
for name in names:
    torch.manual_seed(0)
    model_class = getattr(syntax_bert, name)
    is_marian = "Marian" in name
    options = {} if is_marian else {"intents": ["find", "see"]}
    if "Tree" in name:
        options["structure_loss_weight"] = 1.0
    model = model_class.from_pretrained(marian if is_marian else bert, **options)
    for weights in model.parameters():
        if weights.abs().sum() == 0:  # neutral so far
            torch.nn.init.normal_(weights)
    tokenizer_class = syntax_bert.SyntaxMarianTokenizer if is_marian else syntax_bert.SyntaxTokenizerFast
    parser = syntax_bert.parser_path("en")
    columns = model.config.syntax_columns
    tokenizer = tokenizer_class.from_pretrained(marian if is_marian else bert, parser=parser, columns=columns)
    model.push_to_hub(f"user/{name}")
    tokenizer.push_to_hub(f"user/{name}")
    print(json.dumps([name, model._auto_class, outputs(model, tokenizer, texts)]))
"""
PULL = """
texts, heads, tasks = map(json.loads, sys.argv[1:])
for name, auto_class, _ in heads:
    repository = f"user/{name}"
    tokenizer = transformers.AutoTokenizer.from_pretrained(repository, trust_remote_code=True)
    model = getattr(transformers, auto_class).from_pretrained(repository, trust_remote_code=True)
    for task, inputs in (task for head, task in tasks.items() if name.endswith(head)):
        pipe = transformers.pipeline(task, model=repository, trust_remote_code=True)
        in_memory = type(pipe)(model=model, tokenizer=tokenizer)
        assert pipe(inputs, batch_size=2) == in_memory(inputs, batch_size=2) != []
    print(json.dumps([type(model).__name__, auto_class, outputs(model, tokenizer, texts)]))
"""
TRAIN = """
from datasets import Dataset
from huggingface_hub import HfApi
from transformers import Trainer, TrainingArguments
from syntax_bert import SyntaxBertForSequenceClassification, SyntaxTokenizerFast, parser_path

bert, texts = map(json.loads, sys.argv[1:])
tokenizer = SyntaxTokenizerFast.from_pretrained(bert, parser=parser_path("en"), columns=("upos_ids",))
model = SyntaxBertForSequenceClassification.from_pretrained(bert)
data = Dataset.from_dict({**tokenizer(texts, padding=True), "labels": [0, 1]})
args = TrainingArguments("out", push_to_hub=True, hub_model_id="user/trained", max_steps=2, learning_rate=0.1,
                         use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True)
trainer = Trainer(model, args, train_dataset=data, processing_class=tokenizer)
trainer.push_to_hub()
before = outputs(model, tokenizer, texts)
HfApi().create_tag("user/trained", tag="untrained")
trainer.train()
trainer.push_to_hub()
print(json.dumps([before, outputs(model, tokenizer, texts)]))
"""
PULL_REVISIONS = """
(texts,) = map(json.loads, sys.argv[1:])
made = []
for revision in ("untrained", "main"):
    options = {"revision": revision, "trust_remote_code": True}
    tokenizer = transformers.AutoTokenizer.from_pretrained("user/trained", **options)
    model = transformers.AutoModelForSequenceClassification.from_pretrained("user/trained", **options)
    made.append(outputs(model, tokenizer, texts))
print(json.dumps(made))
"""


@pytest.fixture(scope="module")
def hub():
    """A Hub, and its address."""
    with serve_hub() as served:
        yield served


@pytest.fixture
def run_at_hub(hub, tmp_path):
    """Runs code in a process that knows no other Hub, with a cache of its own; gives the JSON lines that it printed."""

    def run(code, *arguments, cache="cache", has_package=False, is_offline=False):
        hidden = "" if has_package else "import sys\nsys.modules['syntax_bert'] = None\n"
        here = {"HF_HOME": str(tmp_path / cache), "HF_ENDPOINT": hub[1], "HF_HUB_OFFLINE": str(int(is_offline))}
        done = subprocess.run(
            [sys.executable, "-c", f"{hidden}{HELPERS}{code}", *map(json.dumps, arguments)],
            cwd=tmp_path,
            env={**os.environ, **here, "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": "hf_of_this_test"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]

    return run


def test_every_head_comes_back_online_and_from_the_cache(run_at_hub, hub, plain_checkpoint, marian_checkpoint):
    pushed = run_at_hub(PUSH, plain_checkpoint, marian_checkpoint, TEXTS, HEADS, cache="other", has_package=True)
    assert [name for name, *_ in pushed] == HEADS
    files = hub[0].find("user/SyntaxBertModel", "main")[1]
    assert "model.safetensors" in files
    assert not any(path.endswith((".bin", ".pt", ".pkl")) for path in files)
    pulled = run_at_hub(PULL, TEXTS, pushed, TASKS)
    num_requests = len(hub[0].requests)
    offline = run_at_hub(PULL, TEXTS, pushed, TASKS, is_offline=True)
    assert len(hub[0].requests) == num_requests
    for (name, auto_class, expected), online, cached in zip(pushed, pulled, offline, strict=True):
        assert online[:2] == cached[:2] == [name, auto_class]
        for made in (online[2], cached[2]):
            torch.testing.assert_close(torch.tensor(made), torch.tensor(expected))
    assert {getattr(syntax_bert, name)._auto_class for name in HEADS} == {auto_class for _, auto_class, _ in pushed}


def test_trainer_pushes_and_revisions_stay(run_at_hub, hub, plain_checkpoint):
    (expected,) = run_at_hub(TRAIN, plain_checkpoint, TEXTS, cache="other", has_package=True)
    assert expected[0] != expected[1]
    (made,) = run_at_hub(PULL_REVISIONS, TEXTS)
    for revision, weights in zip(expected, made, strict=True):
        torch.testing.assert_close(torch.tensor(weights), torch.tensor(revision))


PUBLISH = """
from pathlib import Path
from syntax_bert import SyntaxBertForTokenClassification, SyntaxTokenizerFast, cli, parser_path

(bert,) = map(json.loads, sys.argv[1:])
SyntaxBertForTokenClassification.from_pretrained(bert).save_pretrained("folder")
SyntaxTokenizerFast.from_pretrained(bert, parser=parser_path("en"), columns=("upos_ids",)).save_pretrained("folder")
for name in ("training_args.bin", "checkpoint-1/optimizer.pt", "results/panx.json", ".env", "test.tsv", "old.udpipe"):
    Path("folder", name).parent.mkdir(exist_ok=True)
    Path("folder", name).touch()
Path("folder/run.json").write_text(json.dumps({"task": "panx", "metrics": {"eval_f1": 0.5}}))
cli.main(["push", "folder", "published"])
"""


def test_a_checkpoint_is_published_with_its_card(run_at_hub, hub, plain_checkpoint):
    """Without the state of training; the usage on the card runs as printed."""
    run_at_hub(PUBLISH, plain_checkpoint, cache="other", has_package=True)
    files = hub[0].find("user/published", "main")[1]
    assert {"README.md", "model.safetensors", "english-ewt.udpipe", "english-ewt.LICENSE.md"} <= set(files)
    assert all(path.endswith((".py", ".json", ".md", ".safetensors", "english-ewt.udpipe")) for path in files)
    assert not {"run.json", "results/panx.json"} & set(files)
    card = hub[0].objects[files["README.md"]].decode()
    assert "| panx (validation) | f1 | 0.5 |" in card
    (usage,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert 'model="user/published"' in usage
    (made,) = run_at_hub(usage.rstrip()[:-1].replace("print(", "print(json.dumps(") + ", default=float))")
    assert {"entity_group", "score", "word"} <= set(made[0])
