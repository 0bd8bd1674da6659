"""All commands of a students' folder in which one file is missing, is not Python, is empty, fails, or is not UTF-8.

Python itself imports a package's `__init__.py` and `__main__.py` before any of our code runs.
"""

import shutil
import sys
from itertools import product

import pytest

from autograder.at_home import hints
from autograder.own_work import traced_questions
from foundation.places import REFERENCE
from given import command_line

from .conftest import DEV, write_pairs

TINY = "--preset tiny --epochs 2 --d-model 16 --max-length 9 --batch-size 4"
COMMANDS = (
    *("sanity --train train", f"train --train train --dev dev {TINY}", "translate --input dev"),
    *("attention --sentence dors", "compare runs/latest", "hunt anna", "pack", "hint 1.2", "understand 1.2"),
)
BROKEN = {
    "missing": None,
    "not Python": b"def broken(:\n",
    "empty": b"",
    "Latin-1": b"x = 'caf\xe9'\n",
    "fails": b"1 / 0\n",
}
"""The content of a file in place of its own; None = there is no file."""
FILES = sorted(path.name for path in REFERENCE.glob("*.py") if not path.name.startswith("__"))
NEEDED_BY_NONE = ("hunts.py", "own_tests.py", "understanding.py")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a package, a small corpus, and a run of it."""
    folder = tmp_path_factory.mktemp("desk")
    write_pairs(folder / "train")
    write_pairs(folder / "dev", DEV)
    flags = f"train --train {folder}/train --dev {folder}/dev --output {folder}/runs/latest --keep-epochs {TINY}"
    assert command_line.main("reference", flags.split()) == 0
    shutil.copytree(REFERENCE, folder / "desk", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def run(trained, tmp_path, monkeypatch, capsys):
    """Runs a command in a copy of the folder; returns its status and what it has written to stderr."""
    folder = shutil.copytree(trained, tmp_path / "copy")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    for module in (hints, traced_questions):
        monkeypatch.setattr(module, "released_folder", lambda: folder / "desk")

    def command(words):
        for name in [name for name in sys.modules if name.partition(".")[0] == "desk"]:
            del sys.modules[name]
        capsys.readouterr()
        status = command_line.main("desk", words.split())
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return command


@pytest.mark.slow
def test_a_broken_file_is_named_in_one_line_by_whatever_needs_it(run, tmp_path, sampled):
    for file, kind in sampled(product(FILES, BROKEN), 4):
        path, content = tmp_path / "copy" / "desk" / file, BROKEN[kind]
        intact = path.read_bytes()
        path.unlink() if content is None else path.write_bytes(content)
        for words in COMMANDS:
            if file in NEEDED_BY_NONE and words.startswith(("sanity", "train")):
                continue
            status, out, err = run(words)
            problems = [line for line in err.splitlines() if line.startswith("desk: ")]
            assert "Traceback" not in err and status in (0, 1, 2), (file, kind, words)
            is_answered = not status or len(problems) == 1 or (not problems and out)
            assert is_answered, (file, kind, words, status, out, err)
        path.write_bytes(intact)


def test_what_is_wrong_with_a_file_that_all_others_need(run, tmp_path):
    path = tmp_path / "copy" / "desk" / "masks.py"
    intact = path.read_text()
    path.write_text("import torch\n\ndef broken(:\n")
    problem = "desk: desk/masks.py, line 3: this is not Python: invalid syntax\n"
    for words in COMMANDS[:4]:
        assert run(words)[::2] == (2, problem)
    status, out, err = run("pack")
    assert (status, err) == (1, problem) and "submission.zip: " in out
    path.write_text(f"{intact}\n\ndef causal_mask(length):\n    return lenght\n")
    line = len(path.read_text().splitlines())
    assert run("sanity --train train")[::2] == (
        2,
        f"desk: desk/masks.py, line {line}: NameError: name 'lenght' is not defined\n",
    )
    path.write_text("")
    assert run("translate --input dev")[2].startswith("desk: desk/masks.py has no causal_mask; the archive that was")
