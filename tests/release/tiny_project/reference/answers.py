"""Stays with the instructor."""

from .table import Table


def largest_entry_of_scaled_rows(table: Table, tokens: list[int]) -> float:
    """Uses what students have not written yet."""
    return max(max(abs(value) for value in row) for row in table.forward(sorted(set(tokens))))
