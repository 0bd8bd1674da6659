"""Tables for the pages in docs/proof."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; columns with neither a heading nor content are left out."""
    texts = [[str(cell) for cell in row] for row in rows]
    used = [index for index in range(len(head)) if head[index] or any(row[index] for row in texts)]
    lines = [[head[index] for index in used], ["---"] * len(used), *([row[index] for index in used] for row in texts)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def in_cell(text: str) -> str:
    """Text that may stand in a table's cell."""
    return text.replace("|", "\\|")
