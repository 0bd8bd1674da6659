"""The options of the component tests, as a pytest plugin: `pytest.ini` loads it before the command line is read."""

from pathlib import Path

import pytest

from foundation.assignment_file import released_folder


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--submission` and `--seed`."""
    group = parser.getgroup("assignment")
    group.addoption("--submission", type=Path, help="folder to judge (default: student/)")
    group.addoption("--seed", type=int, default=None, help="seed for the random inputs (default: a new one each time)")


def folder_of(config: pytest.Config) -> Path:
    """The folder to judge."""
    folder: Path | None = config.getoption("submission")
    return folder or released_folder()
