"""The command line: `syntax-bert COMMAND ...`."""

import sys
from importlib import import_module

__all__ = ["main"]

COMMANDS = {  # module, its function, and summary
    "pretrain-gat": ("pretrain_gat", "pretrain_gat", "Trains graph attention to keep the trees of treebanks."),
    "align": ("inspection", "align", "Shows the syntax of a text in the terminal."),
    "check": ("inspection", "check", "Looks for faults in CoNLL-U files."),
    "parse": ("corpora.parse_command", "parse", "Parses texts of any amount, once."),
    "train-parser": ("parsers.train_parser", "train_parser", "Trains a UDPipe parser on treebanks."),
    "evaluate-parser": ("parsers.train_parser", "evaluate_parser", "Scores a UDPipe parser on treebanks."),
    "parsers": ("parsers.commands", "parsers", "Lists, downloads and describes parsers."),
    "card": ("hub_commands", "card", "Writes the model card of a checkpoint again."),
    "push": ("hub_commands", "push", "Publishes a checkpoint with its model card."),
}


def main(arguments: list[str] | None = None) -> None:
    """Runs the command that is named first."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] not in COMMANDS:
        summaries = (f"  {name:<17}{summary}" for name, (_, _, summary) in COMMANDS.items())
        is_wanted = arguments in (["--help"], ["-h"])
        unknown = [] if is_wanted or not arguments else [f"\nunknown command {arguments[0]!r}"]
        usage = ["usage: syntax-bert COMMAND ...; syntax-bert COMMAND --help\n", *summaries, *unknown]
        print(*usage, sep="\n", file=sys.stdout if is_wanted else sys.stderr)
        sys.exit(0 if is_wanted else 2)
    name, function, _ = COMMANDS[arguments[0]]
    try:
        module = import_module(f".{name}", __package__)
    except ModuleNotFoundError as error:
        sys.exit(f'{error}: the command needs pip install "syntax_bert[training]"')
    try:
        getattr(module, function)(arguments[1:])
    except (ValueError, OSError, ImportError) as error:
        sys.exit(f"syntax-bert {arguments[0]}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
