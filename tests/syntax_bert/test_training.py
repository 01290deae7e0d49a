import pytest
import torch
from datasets import Dataset
from transformers import Trainer, TrainingArguments

from syntax_bert import SyntaxMBertWithGATForSequenceClassification
from syntax_bert.training import predict, set_syntax_learning_rate

TEXTS = ["The cat sleeps.", "I see.", "Who is the cat that sees the river, and a dog?", "We see a dog."]


@pytest.mark.parametrize("strategy", ["random", "group_by_length"])
def test_predictions_are_in_the_order_of_the_rows(strategy, plain_checkpoint, syntax_tokenizer, tmp_path):
    model = SyntaxMBertWithGATForSequenceClassification.from_pretrained(plain_checkpoint).eval()
    args = TrainingArguments(
        tmp_path, train_sampling_strategy=strategy, per_device_eval_batch_size=2, use_cpu=True, report_to=[]
    )
    trainer = Trainer(model, args, processing_class=syntax_tokenizer)
    outputs = predict(trainer, Dataset.from_dict(dict(syntax_tokenizer(TEXTS))))
    with torch.no_grad():
        expected = model(**syntax_tokenizer(TEXTS, padding=True, return_tensors="pt")).logits
    torch.testing.assert_close(torch.tensor(outputs), expected, rtol=1e-4, atol=1e-5)
    assert args.train_sampling_strategy == strategy


def test_syntax_weights_have_a_learning_rate_of_their_own(plain_checkpoint, tmp_path):
    model = SyntaxMBertWithGATForSequenceClassification.from_pretrained(plain_checkpoint, structure_loss_weight=1.0)
    args = TrainingArguments(tmp_path, learning_rate=1e-5, weight_decay=0.1, use_cpu=True, report_to=[])
    trainer = Trainer(model, args)
    set_syntax_learning_rate(trainer.create_optimizer(), model, 1e-3)
    settings = {
        id(weights): (group["lr"], group["weight_decay"])
        for group in trainer.optimizer.param_groups
        for weights in group["params"]
    }
    assert len(settings) == len(list(model.parameters()))
    assert settings[id(model.bert.graph_attention.upos)] == (1e-3, 0.1)
    assert settings[id(model.structure_probe.depth)] == (1e-3, 0.1)
    assert settings[id(model.classifier.weight)] == (1e-5, 0.1)
    assert settings[id(model.classifier.bias)] == (1e-5, 0.0)
    trainer.create_scheduler(num_training_steps=10)
    trainer.optimizer.step()
    trainer.lr_scheduler.step()
    rates = {round(group["lr"], 9) for group in trainer.optimizer.param_groups}
    assert rates == {9e-6, 9e-4}
    assert isinstance(trainer.optimizer, torch.optim.AdamW)
