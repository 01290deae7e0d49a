"""What every syntax model does when it is saved: its checkpoint carries the code of its family and its pipeline."""

from transformers import PreTrainedModel

__all__ = ["SyntaxCheckpointMixin"]


class SyntaxCheckpointMixin(PreTrainedModel):
    """Saves weights, config and code, for any Auto class to load.

    A family sets `auto_module` and `auto_classes`, the module of its models and the class of each Auto class; a model
    may set `custom_pipeline`, task and class of a pipeline that transformers does not have.
    """

    auto_module: str
    auto_classes: dict[str, str]
    custom_pipeline: tuple[str, type] | None = None
    _keys_to_ignore_on_load_unexpected = (r"structure_probe\.",)  # of a checkpoint trained with the structure loss
    accepts_loss_kwargs = False  # losses are means over a batch, and Trainer has to divide them when it accumulates

    def save_pretrained(self, *args, **kwargs):
        """Saves weights, config and code; the config names every class of the family, so that any of them loads."""
        self.config.auto_map = {auto: f"{self.auto_module}.{name}" for auto, name in self.auto_classes.items()}
        self.config.custom_pipelines = {}  # without those of another head
        if self.custom_pipeline is not None:
            task, pipeline = self.custom_pipeline
            impl = f"{pipeline.__module__.split('.')[-1]}.{pipeline.__name__}"
            self.config.custom_pipelines[task] = {"impl": impl, "pt": [self._auto_class], "type": "text"}
        return super().save_pretrained(*args, **kwargs)
