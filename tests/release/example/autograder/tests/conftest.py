"""Registers the markers of the example's tasks."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """One marker a task."""
    config.addinivalue_line("markers", "task_1_1: 1.1 Scaled table")
