"""Export of models to ONNX."""

import os

import torch

from .modeling.modeling_syntax_bert import SyntaxBertPreTrainedModel

__all__ = ["export_onnx"]

EXPORTABLE = ("ForSequenceClassification", "ForTokenClassification")


def export_onnx(model: SyntaxBertPreTrainedModel, path: str | os.PathLike[str]) -> torch.export.ExportedProgram:
    """Writes a classification or tagging model as ONNX, for batches of any size and length.

    Its inputs are `input_ids`, `attention_mask`, `token_type_ids` and `model.config.syntax_columns`, each int64
    `(B, T)`, its output `logits`.

    Args:
        model: SyntaxBert or SyntaxMBertWithGAT.
        path: The file to write.

    Returns:
        The program as exported by `torch.export`, of which ONNX is made.

    Raises:
        ValueError: If the model is another one (generation and the CRF have no fixed graph) or in bfloat16.
        ImportError: Without onnx and onnxscript.
    """
    name = type(model).__name__
    if not (isinstance(model, SyntaxBertPreTrainedModel) and name.endswith(EXPORTABLE)):
        raise ValueError(f"a {name} cannot be exported: only syntax models for sequence and token classification can")
    if model.dtype == torch.bfloat16:
        raise ValueError("ONNX Runtime runs no bfloat16: load the model with dtype=torch.float32")
    names = ("input_ids", "attention_mask", "token_type_ids", *model.config.syntax_columns)
    inputs = {name: torch.ones(2, 8, dtype=torch.long, device=model.device) for name in names}
    axes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=model.config.max_position_embeddings)}
    modes = {module: module.training for module in model.modules()}
    try:
        with torch.no_grad():
            program = torch.export.export(model.eval(), (), inputs, dynamic_shapes=dict.fromkeys(names, axes))
            torch.onnx.export(program, f=path, input_names=names, output_names=["logits"], dynamo=True, verbose=False)
    finally:
        for module, mode in modes.items():
            module.training = mode
    return program
