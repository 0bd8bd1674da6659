"""Tables of what was proved: in Markdown for the pages in docs/proof, and in columns for the terminal."""

from collections.abc import Iterable, Sequence

Rows = Iterable[Sequence[object]]


def table(head: Sequence[str], rows: Rows) -> str:
    """A Markdown table; columns with neither a heading nor content are left out."""
    first, *others = used_cells(head, rows)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (first, ["---"] * len(first), *others))


def columns(head: Sequence[str], rows: Rows) -> str:
    """The same with each column as wide as its widest cell."""
    lines = used_cells(head, rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(cells, widths, strict=True)] for cells in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def used_cells(head: Sequence[str], rows: Rows) -> list[list[str]]:
    """The head and the rows as texts, without the columns that are empty."""
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    used = [index for index in range(len(head)) if any(line[index] for line in lines)]
    return [[line[index] for index in used] for line in lines]


def in_cell(text: str) -> str:
    """Text that may stand in a Markdown table's cell."""
    return text.replace("|", "\\|")
