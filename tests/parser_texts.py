"""Texts that every parser back end has to read, and what must hold of their parses."""

BLANK = ["", " ", "\n\n", "\x00", "\u2028", "\x85", "\t \u3000"]
ODD = [
    "Le chat\x00dort.",
    "\n Le chat\u2028dort.\r\n\r\nIl voit.\x85",
    "القط ينام. שלום",
    "💩 👨‍👩‍👧‍👦 chat 1️⃣ 🇩🇪.",
    "知识就是力量",
    "\ufeffLe chat\u00a0dort.",
    "E\u0301te\u0301.",
]


def check_characters(parse, text):
    """All characters of the original text but white space are in words, which have none at their ends."""
    assert parse.text == text
    covered = {position for start, end in zip(parse.starts, parse.ends, strict=True) for position in range(start, end)}
    rest = "".join(character for position, character in enumerate(text) if position not in covered)
    assert not rest.replace("\x00", "").strip()
    assert all(parse.form(word).strip() == parse.form(word) != "" for word in range(len(parse)))
