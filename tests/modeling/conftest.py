"""A batch with syntax, and models of the plain checkpoint as they are before and after training."""

import pytest
import torch
from transformers import BertForMultipleChoice

from syntax_bert import SYNTAX_COLUMNS


@pytest.fixture
def batch(request, syntax_tokenizer):
    """The `TEXTS` of the test's module."""
    return syntax_tokenizer(request.module.TEXTS, padding=True, return_tensors="pt")


@pytest.fixture
def inputs(parent, batch):
    """The batch in the form that a subclass of `parent` takes: for multiple choice, one example with two choices."""
    if parent is BertForMultipleChoice:
        return {name: tensor.unsqueeze(0) for name, tensor in batch.items()}
    return batch


@pytest.fixture(scope="session")
def plain_inputs():
    """Leaves the syntax columns out of a batch."""
    return lambda batch: {name: tensor for name, tensor in batch.items() if name not in SYNTAX_COLUMNS}


@pytest.fixture
def load(plain_checkpoint):
    """Loads a model in eval mode; new weights are the same for every class."""

    def load_model(model_class, **options):
        torch.manual_seed(0)
        return model_class.from_pretrained(plain_checkpoint, **options).eval()

    return load_model


@pytest.fixture
def load_trained(load):
    """Loads a model and gives the syntax weights that are zero or small at first values of some size."""
    moved = ("syntax_embeddings", "attention_biases", "answer_sentences", "graph_attention.upos")

    def load_model(model_class, **options):
        model = load(model_class, **options)
        generator = torch.Generator().manual_seed(1)
        for name, weights in model.named_parameters():
            if any(part in name for part in moved):
                weights.data.copy_(torch.randn(weights.shape, generator=generator))
        return model

    return load_model


@pytest.fixture(scope="session")
def checkpoint_activations():
    """Turns gradient checkpointing on, by the name that this transformers has for it."""

    def turn_on(model):
        getattr(model, "activation_checkpointing_enable", model.gradient_checkpointing_enable)()

    return turn_on
