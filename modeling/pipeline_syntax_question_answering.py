"""A pipeline that answers questions on raw text of any length.

transformers 5 has none of its own; a checkpoint carries this one.
"""

import torch
from transformers.pipelines.base import ChunkPipeline

from .answer_spans import AnswerWindow, best_spans
from .pipeline_syntax import SyntaxPipeline

__all__ = ["SyntaxQuestionAnsweringPipeline"]


class SyntaxQuestionAnsweringPipeline(SyntaxPipeline, ChunkPipeline):
    """Finds the answer to a question in a context, window by window.

    `pipe(question="Who sleeps?", context="The cat sleeps.")` gives `{"score", "start", "end", "answer"}`, 0-based
    characters of the context; a list of `{"question", "context"}` gives a list of them, `top_k` above 1 lists of
    answers.

    Args:
        max_seq_len: Longest window in wordpieces, the question included.
        doc_stride: Wordpieces of the context that neighbouring windows share.
        max_answer_len: Longest answer in wordpieces.
        top_k: Number of answers.
        languages: Code of the language of question and context, where the tokenizer has parsers of several.
        languages_pair: That of the context, where it is another one.
    """

    def __call__(self, inputs=None, *, question=None, context=None, **kwargs):
        """Answers one question or a list of them."""
        if inputs is None:
            inputs = {"question": question, "context": context}
            if isinstance(question, list | tuple):
                contexts = [context] * len(question) if isinstance(context, str) else context
                if not isinstance(contexts, list | tuple) or len(contexts) != len(question):
                    raise ValueError(f"{len(question)} questions need one context or as many, got {context!r:.80}")
                inputs = [{"question": q, "context": c} for q, c in zip(question, contexts, strict=True)]
        return super().__call__(inputs, **kwargs)

    def _sanitize_parameters(
        self,
        max_seq_len=None,
        doc_stride=None,
        max_answer_len=None,
        top_k=None,
        languages=None,
        languages_pair=None,
        **unknown,
    ):
        if unknown:
            raise ValueError(f"the question-answering pipeline has no options {sorted(unknown)}")
        if doc_stride is not None and doc_stride < 0:
            raise ValueError(f"doc_stride must be at least 0, got {doc_stride}")
        for name, value in (("max_answer_len", max_answer_len), ("top_k", top_k)):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        before = {"max_seq_len": max_seq_len, "doc_stride": doc_stride}
        before |= self.language_options(languages, languages_pair)
        after = {"max_answer_len": max_answer_len, "top_k": top_k}
        return tuple({k: v for k, v in options.items() if v is not None} for options in (before, {}, after))

    def preprocess(self, inputs, max_seq_len=384, doc_stride=128, **languages):  # noqa: D102
        question, context = (
            (inputs.get("question"), inputs.get("context")) if isinstance(inputs, dict) else (None, None)
        )
        if not isinstance(question, str) or not isinstance(context, str):
            raise ValueError(f"question and context must be texts, got {inputs!r}")
        longest = min(max_seq_len, self.max_length)
        room = longest - len(self.tokenizer.tokenize(question)) - self.tokenizer.num_special_tokens_to_add(pair=True)
        if room < 1:
            raise ValueError(f"the question {question[:80]!r} leaves no room for a context in {longest} wordpieces")
        encoded = self.tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=longest,
            stride=min(doc_stride, room // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            **languages,
        )
        num_windows = len(encoded["input_ids"])
        for window in range(num_windows):
            inputs = self.model_inputs(encoded, window)
            inputs["offset_mapping"] = torch.tensor([encoded["offset_mapping"][window]])
            is_context = [sequence == 1 for sequence in encoded.sequence_ids(window)]
            inputs["context_mask"] = torch.tensor([is_context]).long()
            yield {"is_last": window == num_windows - 1, "context": context, **inputs}

    def _forward(self, model_inputs):
        own = {name: model_inputs.pop(name) for name in ("is_last", "context", "offset_mapping", "context_mask")}
        output = self.model(**model_inputs)
        return {**own, "start_logits": output.start_logits, "end_logits": output.end_logits}

    def postprocess(self, model_outputs, max_answer_len=30, top_k=1):  # noqa: D102
        context = model_outputs[0]["context"]
        context = context if isinstance(context, str) else context[0]
        names = ("start_logits", "end_logits", "offset_mapping", "context_mask")
        windows = [AnswerWindow(*(window[name][0].float().numpy() for name in names)) for window in model_outputs]
        answers = [
            {"score": score, "start": start, "end": end, "answer": context[start:end]}
            for score, start, end in best_spans(context, windows, max_answer_len, top_k)
        ]
        if top_k > 1:
            return answers
        return answers[0] if answers else {"score": 0.0, "start": 0, "end": 0, "answer": ""}
