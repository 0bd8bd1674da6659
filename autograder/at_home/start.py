"""pytest's entry point where students have installed the kit.

Outside the folder with the tests, pytest would find none and say nothing: one line says where they are. It takes the
folder in `--submission ../other` for one with tests, and looks for its settings there: a line says how to write it.
"""

import os
from pathlib import Path

import pytest

from foundation.places import HANDED_OUT, ROOT

OPTION = "--submission"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Raises: pytest.UsageError beside or below a students' folder, unless tests are named; in it for that option."""
    here = Path.cwd()
    below = next((path.parent for path in sorted(here.glob(f"*/{HANDED_OUT}"))), None)
    folder = ROOT if (ROOT / HANDED_OUT).is_file() else below
    names_tests = any((here / word.partition("::")[0]).exists() for word in args if not word.startswith("-"))
    if folder and folder != here and not names_tests:
        where = Path(os.path.relpath(folder, here))
        raise pytest.UsageError(f"the tests are run in the folder {folder.name}/: type `cd {where}` first")
    if folder == here:
        if OPTION in args:
            raise pytest.UsageError(f"write the option and the folder in one word: {OPTION}=FOLDER")
        try:
            import torch  # noqa: F401  takes a moment, in which a person may change their mind
        except KeyboardInterrupt:
            raise SystemExit(130) from None
