"""What every syntax model does when it is loaded and saved: no pickle is read, and the checkpoint carries its code."""

from transformers import PreTrainedModel
from transformers.utils import SAFE_WEIGHTS_NAME

__all__ = ["SyntaxCheckpointMixin"]


class SyntaxCheckpointMixin(PreTrainedModel):
    """Loads weights from safetensors only, and saves weights, config and code, for any Auto class to load.

    A family sets `auto_module` and `auto_classes`, the module of its models and the class of each Auto class; a model
    may set `custom_pipeline`, task and class of a pipeline that transformers does not have.
    """

    auto_module: str
    auto_classes: dict[str, str]
    custom_pipeline: tuple[str, type] | None = None
    _keys_to_ignore_on_load_unexpected = (r"structure_probe\.",)  # of a checkpoint trained with the structure loss
    accepts_loss_kwargs = False  # losses are means over a batch, and Trainer has to divide them when it accumulates

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, *model_args, use_safetensors: bool = True, **kwargs):
        """Loads a model as in transformers, but never from a pickle.

        Raises:
            ValueError: If `use_safetensors` is not true.
            OSError: If the checkpoint is not there, or has no safetensors.
        """
        if use_safetensors is not True:
            raise ValueError(f"use_safetensors must be True, got {use_safetensors!r}: pickles can run any code")
        try:
            return super().from_pretrained(
                pretrained_model_name_or_path, *model_args, use_safetensors=use_safetensors, **kwargs
            )
        except OSError as error:
            if f"named {SAFE_WEIGHTS_NAME}" not in str(error):
                raise
            raise OSError(
                f"{pretrained_model_name_or_path} has no {SAFE_WEIGHTS_NAME}, and pickled weights are not loaded: if "
                "it has those and you trust them, load it by its plain class, save that in a folder, and load this"
            ) from error

    @staticmethod
    def _load_pretrained_model(model, state_dict, checkpoint_files, *args, **kwargs):
        # an index of shards may name files of any kind
        if pickled := [file for file in checkpoint_files or () if not str(file).endswith(".safetensors")]:
            raise ValueError(f"weights are read from safetensors only, not from {pickled[0]}")
        return PreTrainedModel._load_pretrained_model(model, state_dict, checkpoint_files, *args, **kwargs)

    def save_pretrained(self, *args, **kwargs):
        """Saves weights, config and code; the config names every class of the family, so that any of them loads."""
        self.config.auto_map = {auto: f"{self.auto_module}.{name}" for auto, name in self.auto_classes.items()}
        self.config.custom_pipelines = {}  # without those of another head
        if self.custom_pipeline is not None:
            task, pipeline = self.custom_pipeline
            impl = f"{pipeline.__module__.split('.')[-1]}.{pipeline.__name__}"
            self.config.custom_pipelines[task] = {"impl": impl, "pt": [self._auto_class], "type": "text"}
        return super().save_pretrained(*args, **kwargs)
