"""A student's package: `sanity` of an untrained model, what `pack` hands in, and files that are broken."""

import shutil
import subprocess
import sys
import zipfile
from itertools import product
from unittest.mock import Mock

import pytest
import torch

from autograder.at_home import hints
from autograder.intake import sources
from foundation.places import REFERENCE, SKELETON
from given import command_line
from given.checks import SOURCES
from given.command_line import main
from given.package import Package
from reference import attention, layers, model, train

from ..conftest import examples_in
from .conftest import corpus_flags


@pytest.fixture
def ask(capsys):
    """Asks the reference, on the bundled corpus; returns the first word of each answer and the exit status."""

    def run(*more):
        status = main("reference", ["sanity", *more])
        return [line.split()[0] for line in capsys.readouterr().out.splitlines()], status

    return run


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["--norm-first"]], ids=["post-norm", "pre-norm"])
def test_the_reference_passes(ask, flags):
    assert ask(*flags) == (["ok"] * 5, 0)


def confident(self, output):
    return (20 * self.output_projection(output)).log_softmax(-1)


def detached(self, x):
    return self.contract(torch.relu(self.expand(x)).detach())


def without_mask(query, key, value, mask=None):
    weights = (query @ key.mT / query.size(-1) ** 0.5).softmax(-1)
    return weights @ value, weights


FAULTS = {  # what takes the place of what, and the numbers of the questions that notice
    "too confident": (model.Transformer, "get_predictions", confident, {0}),
    "detached": (layers.FeedForward, "forward", detached, {1}),
    "no mask": (attention, "scaled_dot_product_attention", without_mask, {2, 3}),
    "weights that stay": (torch.optim.Adam, "step", lambda self: None, {4}),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed_by_its_question(ask, monkeypatch, fault):
    place, name, replacement, noticed = FAULTS[fault]
    monkeypatch.setattr(place, name, replacement)
    lines, status = ask()
    assert status == 1 and noticed == {number for number, line in enumerate(lines) if line == "LOOK"}


def test_without_train_epoch_the_other_questions_are_answered(ask, monkeypatch):
    monkeypatch.setattr(train, "train_epoch", Mock(side_effect=NotImplementedError("TODO 3.1")))
    assert ask() == (["ok"] * 4, 1)


TINY = "--preset tiny --epochs 2 --d-model 16 --max-length 9 --batch-size 4"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a copy of the reference, `desk`, a small corpus, and a run."""
    folder = tmp_path_factory.mktemp("desk")
    files = corpus_flags(folder)[:-1]
    assert main("reference", ["train", *files, str(folder / "runs/latest"), *TINY.split()]) == 0
    shutil.copytree(REFERENCE, folder / "desk", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / SOURCES).parent.mkdir(parents=True)
    (folder / SOURCES).write_text("je suis ici .\n" * 3)
    return folder


@pytest.fixture
def run(trained, tmp_path, monkeypatch, capsys):
    """Runs a command in a copy of that folder; returns its status, what it has printed, and its errors."""
    folder = shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    for module in (hints, sources):
        monkeypatch.setattr(module, "released_folder", lambda: folder / "desk")

    def command(words):
        for name in [name for name in sys.modules if name.partition(".")[0] == "desk"]:
            del sys.modules[name]
        capsys.readouterr()
        return main("desk", words.split()), *capsys.readouterr()

    return command


def test_helpers_and_translations_are_packed_and_what_is_unfinished_is_a_note(run, tmp_path, monkeypatch):
    monkeypatch.setattr("given.checks.PYTHON", (3, 11))
    desk = tmp_path / "desk"
    for name in ("more", ".ipynb_checkpoints"):
        (desk / name).mkdir()
        (desk / name / "mine.py").touch()
    (desk / "notes.md").touch()
    (desk / "translations.txt").write_text("i am here .\n" * 2 + "\n\n")
    (desk / "answers.md").write_text("## What I measured\n\nBLEU fell.\n")
    status, out, err = run("pack")
    assert (status, err) == (0, "") and "note" not in out
    with zipfile.ZipFile("submission.zip") as archive:
        packed = {name.removeprefix("desk/") for name in archive.namelist()}
    ours = {path.name for path in REFERENCE.glob("*.py")}
    assert packed == ours | {"more/mine.py", "translations.txt", "answers.md"}
    (desk / "translations.txt").unlink()
    again = 'def f():\n    breakpoint()\n\n\ndef f():\n    raise NotImplementedError("TODO 2.3")\n'
    (desk / "more.py").write_text(again)
    (desk / "train.py").write_text("")
    shutil.copy(SKELETON / "answers.md", desk)
    monkeypatch.setattr("given.checks.PYTHON", (3, 99))
    status, out, _ = run("pack")
    assert "note: your code is graded by Python 3.11; what is new in 3.99 fails there\n" in out
    assert status == 0 and "note: nothing is written in desk/answers.md" in out
    assert "note: desk/train.py has no train_epoch\n" in out
    assert "note: desk/more.py, line 2: a breakpoint, which ends the task when graded\n" in out
    assert "note: more.py, line 5: f is defined again; this one counts, not that in more.py, line 1\n" in out
    assert "note: not finished: 2.3 (more.py)\n" in out and "no desk/translations.txt" in out


@pytest.mark.parametrize(
    "text, places",
    [
        ("", [""]),
        ("## What I measured\n\n## What explains it\n", [""]),
        ("BLEU fell by 0.1, since nothing is scaled.\n", []),
        ("## What I measured\n\nBLEU fell.\n\n## What explains it\n", [' below "What explains it"']),
    ],
)
def test_where_nothing_is_written_is_a_note(run, tmp_path, text, places):
    (tmp_path / "desk" / "answers.md").write_text(text)
    status, out, _ = run("pack")
    notes = [line for line in out.splitlines() if "nothing is written" in line]
    assert status == 0 and notes == [f"note: nothing is written in desk/answers.md{place}" for place in places]


def test_answers_in_another_encoding_are_a_note(run, tmp_path):
    (tmp_path / "desk" / "answers.md").write_text("Le modèle apprend.\n", encoding="latin-1")
    assert "note: desk/answers.md is not UTF-8" in run("pack")[1]


SANITY = "sanity --train train"


@pytest.mark.parametrize("command, file, text, message", examples_in("given/checks.toml")["mistakes"])
def test_what_is_wrong_with_a_file_is_one_line(run, tmp_path, command, file, text, message):
    (tmp_path / "desk" / file).write_text(text.replace("{long}", "#" * 120_000), encoding="latin-1")
    status, out, err = run(command)
    assert status == 2 and err.startswith("desk: ") and f"desk/{message}" in err and err.count("\n") == 1
    assert command != "pack" or "submission.zip: " in out


COMMANDS = (
    *(SANITY, f"train --train train --dev dev {TINY}", "translate --input dev"),
    *("attention --sentence dors", "compare runs/latest", "hunt anna", "pack", "hint 1.2", "understand 1.2"),
    *("attention --sentence dors --matrices", "translate --input dev --beam-size 2"),
)
BROKEN = {
    "missing": None,
    "not Python": b"def broken(:\n",
    "empty": b"",
    "Latin-1": b"x = 'caf\xe9'\n",
    "fails": b"1 / 0\n",
    "ends": b"raise SystemExit\n",
}
"""The content of a file in place of its own; None = there is no file."""
FILES = sorted(path.name for path in REFERENCE.glob("*.py") if path.name != "__main__.py")
NEEDED_BY_NONE = ("hunts.py", "own_tests.py", "understanding.py")


def test_the_list_has_every_command():
    assert {words.split()[0] for words in COMMANDS} == {*command_line.COMMANDS}


@pytest.mark.slow
def test_a_broken_file_is_named_in_one_line_by_whatever_needs_it(run, tmp_path, sampled):
    for file, kind in sampled(product(FILES, BROKEN), 80):
        path, content = tmp_path / "desk" / file, BROKEN[kind]
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


def test_a_package_without_its_init_file_is_packed_alone(run, tmp_path):
    (tmp_path / "desk" / "__init__.py").unlink()
    (tmp_path / "other.py").touch()
    assert run("pack")[0] == 0
    with zipfile.ZipFile("submission.zip") as archive:
        names = archive.namelist()
    assert "desk/masks.py" in names and {name.partition("/")[0] for name in names} == {"desk"}


def test_a_broken_file_of_what_is_given_is_one_line(tmp_path):
    shutil.copytree(REFERENCE, tmp_path / "desk", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "command_line.py").write_text("def broken(:\n")
    done = subprocess.run([sys.executable, "-m", "desk", "pack"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("given/ cannot be loaded: SyntaxError: invalid syntax (command_line.py, line 1); if")


def test_a_file_that_is_no_python_is_named_with_its_own_folder():
    error = SyntaxError("invalid syntax", ("/home/anna/given/pictures.py", 3, 1, "def x(:"))
    assert Package("student").place_of(error) == "given/pictures.py, line 3"
