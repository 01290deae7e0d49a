"""Weights come from safetensors and from nowhere else."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoModelForSequenceClassification

from syntax_bert import SyntaxBertForSequenceClassification, SyntaxBertModel, SyntaxMarianMT


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("model_class", [SyntaxBertModel, SyntaxBertForSequenceClassification, SyntaxMarianMT])
def test_pickled_weights_are_refused_unread(model_class, plain_checkpoint, marian_checkpoint, tmp_path):
    source = marian_checkpoint if model_class is SyntaxMarianMT else plain_checkpoint
    folder = tmp_path / "pickled"
    shutil.copytree(source, folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(OSError, match="pickled weights are not loaded: if it has those and you trust them"):
        model_class.from_pretrained(folder)
    with pytest.raises(ValueError, match="use_safetensors must be True, got False"):
        model_class.from_pretrained(folder, use_safetensors=False)
    assert not (tmp_path / "sprung").exists()


def test_remote_code_refuses_them_too(plain_checkpoint, tmp_path):
    SyntaxBertForSequenceClassification.from_pretrained(plain_checkpoint).save_pretrained(tmp_path)
    torch.save({}, tmp_path / "pytorch_model.bin")
    Path(tmp_path, "model.safetensors").unlink()
    with pytest.raises(OSError, match="pickled weights are not loaded"):
        AutoModelForSequenceClassification.from_pretrained(tmp_path, trust_remote_code=True)


def test_an_index_that_names_a_pickle_is_refused(plain_checkpoint, tmp_path):
    model = SyntaxBertModel.from_pretrained(plain_checkpoint)
    model.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "shard.bin")
    index = {"metadata": {}, "weight_map": dict.fromkeys(model.state_dict(), "shard.bin")}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    for loader in (SyntaxBertModel, AutoModel):
        with pytest.raises(ValueError, match=r"weights are read from safetensors only, not from .*shard\.bin"):
            loader.from_pretrained(tmp_path)


def test_sharded_weights_are_loaded(plain_checkpoint, tmp_path):
    model = SyntaxBertModel.from_pretrained(plain_checkpoint)
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    again = AutoModel.from_pretrained(tmp_path)
    assert all(torch.equal(weights, again.state_dict()[name]) for name, weights in model.state_dict().items())


def test_another_error_stays_as_it_is():
    with pytest.raises(OSError, match="nowhere") as error:
        SyntaxBertModel.from_pretrained("./nowhere")
    assert "pickled" not in str(error.value)
