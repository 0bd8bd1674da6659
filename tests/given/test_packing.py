"""`pack`: what the archive holds, and what is said of it."""

import sys
import zipfile

import pytest

from foundation.places import REFERENCE, SKELETON
from given import package, packing
from given.command_line import main

N_LINES = 3


@pytest.fixture
def pack(tmp_path, monkeypatch, capsys):
    """Packs a copy of the reference, after it was changed; returns status, output, errors and names in the archive."""
    folder = tmp_path / "packed"
    folder.mkdir()
    for path in REFERENCE.glob("*.py"):
        (folder / path.name).write_bytes(path.read_bytes())
    (tmp_path / packing.SOURCES).parent.mkdir(parents=True)
    (tmp_path / packing.SOURCES).write_text("je suis ici .\n" * N_LINES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def run(files, *more):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        __import__("packed")
        status = main("packed", ["pack", *more])
        said = capsys.readouterr()
        with zipfile.ZipFile("submission.zip") as archive:
            return status, said.out, said.err, set(archive.namelist())

    yield run
    package.use("reference")
    for name in [name for name in sys.modules if name.partition(".")[0] == "packed"]:
        del sys.modules[name]


def test_helpers_and_translations_are_packed_and_checkpoints_of_jupyter_are_not(pack):
    files = {"more/mine.py": "x = 1\n", "translations.txt": "i am here .\n" * N_LINES + "\n"}
    files["answers.md"] = "## What I measured\n\nBLEU fell.\n"
    status, out, err, names = pack(files | {".ipynb_checkpoints/layers.py": "", "notes.md": ""})
    assert (status, err) == (0, "") and "note" not in out
    wanted = {path.name for path in REFERENCE.glob("*.py")} | files.keys()
    assert names == {f"packed/{name}" for name in wanted}


def test_what_is_not_written_and_missing_translations_are_notes(pack):
    unfinished = 'def f():\n    raise NotImplementedError("TODO 2.3")\n'
    status, out, _, _ = pack({"more.py": unfinished, "answers.md": (SKELETON / "answers.md").read_text()})
    assert status == 0 and "note: nothing is written in packed/answers.md" in out
    assert "note: not finished: 2.3 (more.py)\n" in out and "no packed/translations.txt" in out


PROBLEMS = {
    "packed/layers.py cannot be imported: SyntaxError": {"layers.py": "x = 1\ndef f(:\n"},
    "packed/layers.py cannot be imported: ModuleNotFoundError": {"layers.py": "from .nowhere import x\n"},
    "translations.txt: 2 lines; expected 3": {"translations.txt": "a\nb\n"},
    "100,001 bytes; at most 100,000 are read": {"large.py": "#" * 100_001},
}


@pytest.mark.parametrize("said", PROBLEMS)
def test_what_cannot_be_graded_is_a_problem(pack, said):
    status, _, err, _ = pack(PROBLEMS[said])
    assert status == 1 and err.startswith("packed: ") and said in err and err.count("\n") <= 2
