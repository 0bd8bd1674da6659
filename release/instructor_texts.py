"""The texts that an instructor writes for students: read, and filled in where they name what the assignment knows."""

import string
from collections.abc import Mapping
from pathlib import Path

from foundation.printable_text import line_of

from .problems import Problem, ReleaseError


def read_text(path: Path, name: str) -> str:
    """A text in UTF-8, with its line ends as they are.

    Args:
        path: of the file.
        name: of the file, for messages.

    Raises:
        ReleaseError: where it cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReleaseError([Problem(name, 0, f"cannot be read ({error.strerror})", f"write {path}")]) from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReleaseError(
            [Problem(name, line_of(error), f"is not UTF-8 ({error.reason})", "save it as UTF-8")]
        ) from None


def fill_in(text: str, name: str, words: Mapping[str, str]) -> str:
    """A text with words in place of `$name` and `${name}`, and `$` in place of `$$`.

    Args:
        text: as `string.Template` takes it.
        name: of its file, for messages.
        words: by their names.

    Raises:
        ReleaseError: naming each `$` that stands for nothing, by its line.
    """
    template = string.Template(text)
    problems = []
    for match in template.pattern.finditer(text):
        word = match["named"] or match["braced"]
        if match["escaped"] is None and word not in words:
            line = text.count("\n", 0, match.start()) + 1
            what = f"${word} stands for nothing" if word else "a $ stands alone"
            right = f"write $$ for a dollar sign, or one of {', '.join(f'${known}' for known in sorted(words))}"
            problems.append(Problem(name, line, what, right))
    if problems:
        raise ReleaseError(problems)
    return template.substitute(words)
