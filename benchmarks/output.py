"""The one way in which measurements print tables: Markdown, as the documentation has it, each row when it is there."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a table."""
    for cells in (head, ["---"] * len(head)):
        yield f"| {' | '.join(cells)} |"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table; rows that are measured one by one show at once."""
    for line in table(head, rows):
        print(line, flush=True)


def median_ratio(values: Sequence[float], others: Sequence[float]) -> float:
    """The median of the ratios of measurements that were made in turn, so that both met the same neighbours."""
    return median(one / other for one, other in zip(values, others, strict=True))
