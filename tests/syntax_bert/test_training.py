import pytest
import torch
from datasets import Dataset
from transformers import Trainer, TrainingArguments

from syntax_bert import SyntaxMBertConfig, SyntaxMBertWithGATForSequenceClassification
from syntax_bert.training import load_model, predict, set_syntax_learning_rate, train_and_evaluate

TEXTS = ["The cat sleeps.", "I see.", "Who is the cat that sees the river, and a dog?", "We see a dog."]


@pytest.mark.parametrize("strategy", ["random", "group_by_length"])
def test_predictions_are_in_the_order_of_the_rows(strategy, plain_checkpoint, syntax_tokenizer, tmp_path):
    model = SyntaxMBertWithGATForSequenceClassification.from_pretrained(plain_checkpoint).eval()
    args = TrainingArguments(
        tmp_path, train_sampling_strategy=strategy, per_device_eval_batch_size=3, use_cpu=True, report_to=[],
        dataloader_drop_last=True, prediction_loss_only=True,
    )  # fmt: skip
    trainer = Trainer(model, args, processing_class=syntax_tokenizer)
    outputs = predict(trainer, Dataset.from_dict(dict(syntax_tokenizer(TEXTS))))
    with torch.no_grad():
        expected = model(**syntax_tokenizer(TEXTS, padding=True, return_tensors="pt")).logits
    torch.testing.assert_close(torch.tensor(outputs), expected, rtol=1e-4, atol=1e-5)
    assert (args.train_sampling_strategy, args.dataloader_drop_last) == (strategy, True)


def test_evaluation_is_on_all_rows(plain_checkpoint, syntax_tokenizer, tmp_path):
    model = SyntaxMBertWithGATForSequenceClassification.from_pretrained(plain_checkpoint)
    args = TrainingArguments(
        tmp_path, dataloader_drop_last=True, per_device_eval_batch_size=3, use_cpu=True, report_to=[]
    )
    rows = Dataset.from_dict({**syntax_tokenizer(TEXTS), "labels": [0, 1, 1, 0]})
    count = lambda outputs: {"rows": len(outputs.predictions)}
    metrics = train_and_evaluate(model, args, None, {"eval": rows}, syntax_tokenizer, compute_metrics=count)[1]
    assert metrics["eval_rows"] == 4


def test_trained_syntax_weights_of_another_size_are_not_lost(plain_checkpoint, tmp_path):
    SyntaxMBertWithGATForSequenceClassification.from_pretrained(plain_checkpoint).save_pretrained(tmp_path)
    config = SyntaxMBertConfig.from_pretrained(tmp_path, graph_attention_heads=2, num_labels=5)
    with pytest.raises(
        ValueError, match=r"was trained with other sizes of its syntax weights: \['bert.attention_biases"
    ):
        load_model(SyntaxMBertWithGATForSequenceClassification, tmp_path, config, is_trained=False)
    config.graph_attention_heads = 4  # only the labels are others
    load_model(SyntaxMBertWithGATForSequenceClassification, tmp_path, config, is_trained=False)


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


def test_accumulated_gradients_are_those_of_the_whole_batch(plain_checkpoint, syntax_tokenizer, tmp_path):
    rows = Dataset.from_dict({**syntax_tokenizer(TEXTS), "labels": [0, 1, 1, 0]})
    trained = []
    for batch_size, steps in ((4, 1), (2, 2)):
        torch.manual_seed(0)
        model = SyntaxMBertWithGATForSequenceClassification.from_pretrained(
            plain_checkpoint, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
        )
        model.classifier.weight.data.copy_(torch.linspace(-1, 1, 64).view(2, 32))
        before = model.bert.encoder.layer[0].output.dense.weight.detach().clone()
        args = TrainingArguments(
            tmp_path,
            per_device_train_batch_size=batch_size,
            gradient_accumulation_steps=steps,
            max_steps=1,
            optim="sgd",
            learning_rate=0.1,
            lr_scheduler_type="constant",
            max_grad_norm=0,
            save_strategy="no",
            use_cpu=True,
            report_to=[],
        )
        Trainer(model, args, train_dataset=rows, processing_class=syntax_tokenizer).train()
        trained.append(model.bert.encoder.layer[0].output.dense.weight - before)
    assert trained[0].abs().max() > 1e-4
    torch.testing.assert_close(*trained, rtol=1e-3, atol=1e-6)


def test_smoothed_labels_would_leave_out_other_losses(plain_checkpoint, tmp_path):
    model = SyntaxMBertWithGATForSequenceClassification.from_pretrained(plain_checkpoint, structure_loss_weight=0.5)
    args = TrainingArguments(str(tmp_path), report_to="none", use_cpu=True, label_smoothing_factor=0.1)
    with pytest.raises(ValueError, match="--label_smoothing_factor would leave out the structure loss"):
        train_and_evaluate(model, args, None, {}, None)
