"""What a parser is; where parsers come from, and how they are trained.

| module | about |
|---|---|
| `catalogue` | parsers by name: what command lines and `parser_path` take |
| `published_models`, `downloads` | UDPipe's own models, fetched when they are asked for |
| `back_ends` | parsers of other programs by name; `conllu_parser`, `stanza_parser`, `spacy_parser` |
| `udpipe_trainer`, `udpipe_scores`, `train_parser` | UDPipe models made of treebanks |
| `unspaced_text` | parses of characters, where a language has no spaces |
"""

from collections.abc import Sequence
from typing import Protocol

from syntax_bert.tokenization.universal_dependencies import Parse

__all__ = ["Parser"]


class Parser(Protocol):
    """What a tokenizer asks for parses: `UDPipeParser`, `ConlluParser` or one of your own.

    In several processes it has to pickle.
    """

    def parse(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Splits raw texts into sentences and words, tags and parses them.

        Args:
            texts: Raw texts; each may hold several sentences.
            languages: Language code of each text, for a parser of several languages.
            dependencies: Whether trees are wanted; without, texts are only tagged.
        """
        ...

    def parse_words(
        self, words: Sequence[Sequence[str]], languages: Sequence[str | None] | None = None, dependencies: bool = True
    ) -> list[Parse]:
        """Tags and parses texts given as words, each one sentence, and keeps exactly these words.

        Args:
            words: The words of each text; positions in the parse are those in the words joined by one space.
            languages: As in `parse`.
            dependencies: As in `parse`.
        """
        ...
