import pytest
import torch

from syntax_bert import SyntaxMarianConfig, SyntaxMarianMT
from syntax_bert.translation_training import TokenBatchSampler, initialize_by_glorot


def test_batches_have_at_most_so_many_tokens_and_every_example_once():
    lengths = torch.randint(1, 40, (500,), generator=torch.Generator().manual_seed(0)).tolist()
    sampler = TokenBatchSampler([*lengths, 300], 120, seed=1)
    first = list(sampler)
    assert sorted(index for batch in first for index in batch) == list(range(501))
    assert [500] in first
    widest = [len(batch) * max([*lengths, 300][index] for index in batch) for batch in first if batch != [500]]
    assert max(widest) <= 120 < 2 * sum(widest) / len(widest)
    sampler.set_epoch(1)
    second = list(sampler)
    assert first != second
    assert sorted(first) == sorted(second)
    assert len(sampler) == len(first)
    sampler.set_epoch(0)
    assert list(sampler) == first == list(TokenBatchSampler([*lengths, 300], 120, seed=1))
    with pytest.raises(ValueError, match="--tokens_per_batch must be at least 1, got 0"):
        TokenBatchSampler(lengths, 0, seed=1)


def test_glorot():
    config = SyntaxMarianConfig(vocab_size=50, d_model=32, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=64,
                                decoder_ffn_dim=64, encoder_attention_heads=2, decoder_attention_heads=2,
                                pad_token_id=49, decoder_start_token_id=49)  # fmt: skip
    torch.manual_seed(0)
    model = SyntaxMarianMT(config)
    positions = model.model.encoder.embed_positions.weight.clone()
    initialize_by_glorot(model)
    layer = model.model.encoder.layers[0]
    bound = (6 / (32 + 64)) ** 0.5
    assert 0.9 * bound < layer.fc1.weight.abs().max() <= bound
    assert not layer.fc1.bias.any()
    embeddings = model.lm_head.weight
    assert abs(embeddings[:49].std() - 32**-0.5) < 0.02
    assert not embeddings[49].any()
    assert torch.equal(model.model.encoder.embed_positions.weight, positions)
    assert not any(table.any() for table in model.model.encoder.feature_combination.tables[0].parameters())
