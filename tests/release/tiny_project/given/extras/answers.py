"""Stays with the instructor."""


def largest_entry_of_scaled_rows(rows: list[list[float]]) -> float:
    """Is of no use to students."""
    return max(max(abs(value) for value in row) for row in rows)
