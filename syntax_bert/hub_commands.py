"""`syntax-bert card` and `syntax-bert push`."""

from argparse import ArgumentParser

from .hub import publish, write_model_card

__all__ = ["card", "push"]


def card(arguments: list[str]) -> None:
    """Writes the model card of a checkpoint again."""
    parser = ArgumentParser("syntax-bert card", description="Writes README.md of a checkpoint.")
    parser.add_argument("directory", help="The checkpoint.")
    parser.add_argument("--repo_id", help="Its name on the Hub, for the usage.")
    parsed = parser.parse_args(arguments)
    print(write_model_card(parsed.directory, parsed.repo_id))


def push(arguments: list[str]) -> None:
    """Publishes a checkpoint with its model card."""
    parser = ArgumentParser("syntax-bert push", description="Writes README.md of a checkpoint and uploads it.")
    parser.add_argument("directory", help="The checkpoint.")
    parser.add_argument("repo_id", help="Its name on the Hub: user/name.")
    parser.add_argument("--private", action="store_true", default=None, help="Make a new repository private.")
    parsed = parser.parse_args(arguments)
    print(publish(parsed.directory, parsed.repo_id, private=parsed.private))
