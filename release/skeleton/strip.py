"""Fourth pass: every region becomes `raise NotImplementedError("TODO 1.3")`; all else stays as it is.

`foundation/todo_wording.py` has the words of the error, and of what students see when it is raised.
"""

from collections.abc import Sequence

from foundation.todo_wording import label_of

from .regions import Region
from .source import Source


def strip_regions(source: Source, regions: Sequence[Region]) -> str:
    """The text of the skeleton: hints stay, markers and solutions go."""
    parts: list[str] = []
    position = 0
    for region in sorted(regions, key=lambda region: region.begin):
        parts += source.lines[position : region.begin - 1]
        newline = "\r\n" if source.lines[region.begin - 1].endswith("\r\n") else "\n"
        has_newline = source.lines[region.end - 1].endswith("\n")
        parts.append(region.indent + raise_statement(region.hint.number) + (newline if has_newline else ""))
        position = region.end
    parts += source.lines[position:]
    return "".join(parts)


def raise_statement(number: str) -> str:
    """What stands in the place of a solution; the hint above it says what to do."""
    return f'raise NotImplementedError("{label_of(number)}")'
