"""Registers the markers of the example's tasks."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """One marker a task."""
    for marker in ("task_1_1: 1.1 Scaled table", "task_1_2: 1.2 Weighted mean", "task_e_1: E.1 Diagonal mask"):
        config.addinivalue_line("markers", marker)
