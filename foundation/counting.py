"""Numbers as people say them."""

from collections.abc import Sequence


def counted(value: float, unit: str) -> str:
    """A number and its unit, with an s unless it is one of them: `1 mark`, `2.5 points`, `1,203 sentences`."""
    number = f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{number} {unit}" if value == 1 else f"{number} {unit}s"


def first_of(names: Sequence[str], most: int) -> str:
    """So many names, and how many more there are: `anna, bob and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def as_threshold(value: float) -> str:
    """A BLEU that is asked for, never rounded: `0.30`, `0.255`."""
    short = f"{value:.2f}"
    return short if float(short) == value else repr(value)
