"""pytest's entry point where students have installed the kit.

pytest takes the folder in `--submission ../other` for one with tests, and looks for its settings there. So such a run
starts again, with the option and the folder in one word.
"""

import pytest

from foundation.places import HANDED_OUT, ROOT

OPTION = "--submission"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Starts again where the option stands apart from its folder, in a students' folder alone."""
    if OPTION in args[:-1] and (ROOT / HANDED_OUT).is_file():
        at = args.index(OPTION)
        joined = [*args[:at], f"{OPTION}={args[at + 1]}", *args[at + 2 :]]
        raise SystemExit(pytest.main(["-c", str(ROOT / "pytest.ini"), *joined]))
