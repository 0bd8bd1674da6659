"""Correct implementations as an assignment keeps them: cells of the files `proof/variants/MODULE_TOPIC.py`.

Each begins with a line `# %% NAME` and a comment that says what it is; imports stand at the top of the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cell:
    """A variant's part of one module, with what it imports."""

    name: str
    what: str
    module: str
    text: str
    path: Path


def read_cells(path: Path) -> Iterator[Cell]:
    """The variants in a file. An import from the module itself is left out: a cell becomes a part of it."""
    module = path.stem.partition("_")[0]
    head, *cells = re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    imports = re.sub(rf"^from \.{module} import .*\n", "", head, flags=re.MULTILINE)
    for cell in cells:
        name, comment, _ = cell.split("\n", 2)
        yield Cell(name, comment.removeprefix("# "), module, f"{imports}# {cell}", path)
