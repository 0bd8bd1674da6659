"""pytest's entry point where students have installed the kit.

Outside the folder with the tests, pytest would find none and say nothing: one line says where they are.

pytest takes the folder in `--submission ../other` for one with tests, and looks for its settings there. So such a run
starts again, with the option and the folder in one word.
"""

import os
from pathlib import Path

import pytest

from foundation.places import HANDED_OUT, ROOT

OPTION = "--submission"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Starts again where the option stands apart from its folder, in a students' folder alone.

    Raises: pytest.UsageError beside or below that folder, unless tests are named.
    """
    here = Path.cwd()
    below = next((path.parent for path in sorted(here.glob(f"*/{HANDED_OUT}"))), None)
    folder = ROOT if (ROOT / HANDED_OUT).is_file() else below
    names_tests = any((here / word.partition("::")[0]).exists() for word in args if not word.startswith("-"))
    if folder and folder != here and not names_tests:
        where = Path(os.path.relpath(folder, here))
        raise pytest.UsageError(f"the tests are run in the folder {folder.name}/: type `cd {where}` first")
    if folder == here:
        try:
            import torch  # noqa: F401  takes a moment, in which a person may change their mind
        except KeyboardInterrupt:
            raise SystemExit(130) from None
    if OPTION in args[:-1] and (ROOT / HANDED_OUT).is_file():
        at = args.index(OPTION)
        joined = [*args[:at], f"{OPTION}={args[at + 1]}", *args[at + 2 :]]
        raise SystemExit(pytest.main(["-c", str(ROOT / "pytest.ini"), *joined]))
