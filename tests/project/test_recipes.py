"""Commands that pages tell people to run do run, as they stand there, in a clone of what is committed here.

Only `make` is a stand-in: it would install packages, and what it runs otherwise is tested elsewhere.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from data import __main__ as data
from foundation.assignment_file import Assignment
from foundation.places import ROOT
from release.gates import run_python, unpack
from validity.__main__ import main as validity

pytestmark = pytest.mark.slow
MAKE = f'#!/bin/sh\n[ "$1" != install ] || ln -s {sys.prefix} .venv\n'


def block(page: str, begin: str) -> str:
    """The block of a page whose first line begins like this: up to a line that is indented less."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if line.strip().startswith(begin))
    indent = lines[first][: -len(lines[first].lstrip())]
    inside = itertools.takewhile(lambda line: not line.strip() or line.startswith(indent), lines[first:])
    return textwrap.dedent("\n".join(inside)).strip("\n")


@pytest.fixture
def run(tmp_path):
    """Runs the commands of a block in a folder, and returns what was printed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "make").write_text(MAKE)
    (tmp_path / "bin" / "make").chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    path = f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"

    def call(commands: str, folder: Path = tmp_path) -> str:
        script = re.sub(r"\bURL\b", str(ROOT), commands)
        command = ["bash", "-e", "-c", script]
        env = {**kept, "PATH": path, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    return call


@pytest.fixture
def kit(tmp_path, run) -> Path:
    """A clone, made as CONTRIBUTING.md says."""
    run(block("CONTRIBUTING.md", "git clone URL kit"))
    return tmp_path / "kit"


@pytest.mark.nightly
def test_another_assignment_begins_with_the_example(run, tmp_path):
    page, kit = "docs/how-to/another-assignment.md", tmp_path / "kit"
    built = run(block(page, "git clone URL kit"))
    assert "✗" not in built and "for students" in built
    assert (kit / "notebooks" / "release" / "regression" / "1_regression.ipynb").is_file()
    tried = run(block(page, "python -m pytest -c"), kit)
    assert "10.00 / 10" in tried and "wrongly rejected: 0" in tried
    unpacked = unpack((kit / "dist" / "student.zip").read_bytes(), tmp_path)
    assert not (unpacked / "data").exists() and not (unpacked / "grade.py").exists()
    first = run_python(["-m", "pytest", "-q", "-m", "task_1_1"], unpacked)
    assert "TODO 1.1: make the weight and the bias." in first.stdout
    go_and_test = "import os, pytest, sys; os.chdir(sys.argv[1]); sys.exit(pytest.main(['-q']))"
    for place, way in (("student", ".."), ("..", unpacked.name)):
        elsewhere = run_python(["-c", go_and_test, place], unpacked)  # where the wheel counts as installed
        line = f"the tests are run in the folder {unpacked.name}/: type `cd {way}` first"
        assert elsewhere.returncode == 4 and line in elsewhere.stderr + elsewhere.stdout
    solved = run_python(["-m", "pytest", "-q", f"--submission={kit / 'reference'}"], unpacked)
    assert solved.returncode == 0 and "5 passed" in solved.stdout


def test_a_misconception_is_added_in_ten_minutes(tmp_path, monkeypatch, capsys):
    """Here the commands run in this process."""
    shutil.copytree(ROOT / "assignment", tmp_path / "assignment", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(Assignment, "folder", tmp_path / "assignment")
    fault = block("CONTRIBUTING.md", "[[fault]]")
    with (tmp_path / "assignment" / "misconceptions" / "layer_norm.toml").open("a") as file:
        file.write(f"\n{fault}\n")
    name = re.search(r'id = "(.*)"', fault)[1]
    steps = re.findall(
        rf"`python -m validity ((?:prove|hints) --fault {name})`", (ROOT / "CONTRIBUTING.md").read_text()
    )
    assert len(steps) == 2 and [validity(step.split()) for step in steps] == [0, 0]
    assert "1 faults, 1 found" in capsys.readouterr().out


@pytest.mark.nightly
def test_a_task_is_added_in_an_afternoon(run, kit):
    page, assignment = "CONTRIBUTING.md", kit / "assignment"
    for path, begin in (
        (kit / "reference" / "masks.py", "def recent_mask"),
        (assignment / "proof" / "variants" / "others.py", "# %% masks: band"),
        (assignment / "tests" / "test_e_10_recent_mask.py", '"""Extension E.10'),
    ):
        before = path.read_text() if path.exists() else ""
        path.write_text(f"{before}\n\n{block(page, begin)}\n".lstrip("\n"))
    toml = (assignment / "assignment.toml").read_text().replace('"diagonal_mask"]', '"diagonal_mask", "recent_mask"]')
    table = block(page, "[[tasks]]")
    (assignment / "assignment.toml").write_text(toml.replace("# The contract:", f"{table}\n\n# The contract:"))
    (assignment / "misconceptions" / "recent_mask.toml").write_text(
        'component = "masks.recent_mask"\ntask = "E.10"\n\n[[fault]]\nid = "recent-mask-one-too-many"\n'
        'severity = "blatant"\nwhen = "lets a position see one more"\nhint = "How many does width = 1 allow?"\n'
        "find = 'distance < width'\nreplace = 'distance <= width'\n"
    )
    lines = block(page, "python -m validity prove --component masks.rec").split("\n")
    steps = [line for line in lines if "make" not in line]
    assert len(steps) == 2
    said = run(f"{steps[0]}\n{steps[1]} || test $? = 1", kit)
    assert "1 faults, 1 found" in said and "wrongly rejected: 0" in said
    assert "survivors: 3" in said and "names three" in (ROOT / page).read_text()


@pytest.mark.nightly
def test_a_course_s_own_model_is_tried_like_any_other(run, kit):
    commands = block("docs/how-to/own-model.md", "python -m pytest -c")
    path = "tests/autograder/grading/adapters/whole"
    assert " path" in commands and path in (ROOT / "docs/how-to/own-model.md").read_text()
    words = re.sub(r"\bpath\b", path, commands.replace("pytest -c", "pytest -m task_2_1 -c"))
    said = run(f"{words.rstrip()} || test $? = 1", kit)  # a person has to read its pre-norm layers
    assert "passed" in said and "2.1  Encoder layer" in said


def test_a_new_term_gets_a_test_set_of_its_own(run, tmp_path, monkeypatch):
    """What is drawn with a test seed is tested beside the generator."""
    monkeypatch.setattr(data, "DATA_FOLDER", tmp_path)
    monkeypatch.setattr(data, "build", lambda *arguments: dict.fromkeys(("train", "dev", "test"), [("a", "b")]))
    before = json.loads(Path(shutil.copy(ROOT / "data" / "manifest.json", tmp_path)).read_text())
    words = run(f"echo {block('docs/how-to/new-term.md', 'python -m data generate --update-manifest')}").split()
    assert data.main([*words[3:], "--output", str(tmp_path)]) == 0
    after = json.loads((tmp_path / "manifest.json").read_text())
    assert after["seed"] == before["seed"] and after["test_seed"] > data.GUESSED
    assert (tmp_path / "private" / "fren.test.bpe").is_file()
