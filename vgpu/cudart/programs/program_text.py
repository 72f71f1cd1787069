"""What the text of a program says in its comments, for the tests that run it."""

import re


def heads(text, word):
    """What stands behind each `// WORD: ` at the beginning of a line."""
    return re.findall(rf"^// {word}: (.*)$", text, re.MULTILINE)


def marks(text):
    """The words behind `//~`, each with its lines; a mark without a word is ''."""
    lines = {}
    for number, line in enumerate(text.splitlines(), 1):
        if "//~" in line:
            for word in line.split("//~", 1)[1].split() or [""]:
                lines.setdefault(word, set()).add(number)
    return lines


def marked_lines(text):
    return {line for lines in marks(text).values() for line in lines}
