"""For the notebooks beside it: tests of a task, and the answers of all notebooks as one package.

    from course import check, refresh
    check("1.2")                              # tests your answers as they are now
    from student.layers import EncoderLayer   # your answers of this notebook and of the others, as saved
    predict("1.2", "b")                       # is that right? before you check
    understand("1.2")                         # asks about your own code, once its tests pass
    hunt("anna"), box("1.2", "anna")          # your bug hunts; your 1.2 with one line changed (right: as it is)
    refresh()                                 # the next such import sees what you changed meanwhile
    is_graded                                 # True while nbgrader runs the notebook: do not train then

The folder `support/` has what this needs, and the wheel that `requirements.txt` names. Where that is not installed, as
where nbgrader grades, it is unpacked in `support/`.
"""

import os
import re
import sys
from contextlib import suppress
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any
from zipfile import ZipFile

from IPython import InteractiveShell, get_ipython

FOLDER = Path(__file__).resolve().parent
SUPPORT = FOLDER / "support"
sys.path.insert(0, str(SUPPORT))

wanted = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
pins = re.findall(r"^((?!jupyter)\w+)(\S*)", wanted, re.MULTILINE)
if missing := [name + version for name, version in pins if find_spec(name) is None]:
    install = f"install -q {' '.join(missing)}"
    if "google.colab" not in sys.modules:
        raise ImportError(f"run this in a new cell, and then this cell again:  %pip {install}")
    get_ipython().run_line_magic("pip", install)

wheel = FOLDER / wanted.split()[-1]
name, version, *_ = wheel.name.split("-")
if version not in {package.version for package in metadata.distributions(name=name)}:
    unpacked = SUPPORT / f"{name}-{version}"
    if not unpacked.is_dir():
        with ZipFile(wheel) as archive, TemporaryDirectory(dir=SUPPORT) as folder:
            archive.extractall(f"{folder}/whole")
            with suppress(OSError):  # another notebook may be quicker
                Path(folder, "whole").rename(unpacked)
    sys.path.insert(0, str(unpacked))

from autograder.at_home.notebook import Course  # noqa: E402 (found through the line above)
from autograder.own_work.boxes import tell_hunts  # noqa: E402
from given.package import Package  # noqa: E402


def history() -> list[str]:
    """Return what was run in this kernel, oldest first."""
    shell = get_ipython()
    return list(shell.history_manager.input_hist_raw) if shell else []


_course = Course(FOLDER, SUPPORT, history)
package = Package(_course.assignment.package)  # whose model `given` trains
is_graded = "NBGRADER_EXECUTION" in os.environ
predict, refresh, understand = _course.predict, _course.refresh, _course.understand
box, right = _course.box, partial(_course.box, kind="right")


def show(shell: InteractiveShell, kind: type, error: Any, trace: TracebackType, tb_offset: int | None = None) -> None:
    """Show the error of a cell: one line where a part is not written, or a corpus cannot be read."""
    lines = [str(error)] if kind.__name__ == "DataError" else []  # of the package, which each refresh loads anew
    if isinstance(error, NotImplementedError) and str(error).startswith("TODO"):
        lines = [f"not written yet: {error}"]
    if lines:
        error._render_traceback_ = lambda: lines
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


if shell := get_ipython():
    shell.set_custom_exc((NotImplementedError, ValueError), show)


def check(number: str, seed: int | None = None) -> float | None:
    """Test a task and print the result; the points are for nbgrader alone, which reads what a cell returns."""
    points = _course.check(number, seed)
    return points if is_graded else None


def hunt(student: str, answer: str = "") -> None:
    """Show a student's bug hunts, or the reply to an answer."""
    if not is_graded:
        print(tell_hunts(student, _course.answers().sources, _course.assignment, answer))
