"""`python -m release build`: the same bytes each time, whole files only, nothing lost; bad input is told."""

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from foundation.places import ROOT
from release import __main__ as cli
from release.build import Project, make_release, write_release
from release.packing import checksum

from .conftest import ROOM, contents


@pytest.fixture
def built(project: Project) -> Project:
    write_release(make_release(project), project.root)
    return project


SECOND_BUILD = """import json, os, sys, time
from pathlib import Path
from release.build import Project, make_release
from release.packing import checksum
now, root = time.time, Path(sys.argv[1])
time.time = lambda: now() + 10 * 365 * 86_400
os.umask(0o077)
made = make_release(Project(root)).outputs
print(json.dumps({path: checksum(content) for path, content in made.items()}))
"""


def test_another_build_elsewhere_and_at_another_time_gives_the_same_bytes(project: Project, example_release) -> None:
    """Other folder, hash seed, clock, time zone and umask."""
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SECOND_BUILD, str(project.root)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {path: checksum(text) for path, text in example_release.outputs.items()}


def test_a_failed_gate_leaves_everything_as_it_was(run, built: Project, edit, monkeypatch) -> None:
    edit(built.reference / "affine.py", "Affine maps", "Maps")
    before = contents(built.root)
    monkeypatch.setattr(cli, "GATES", {"closed": lambda *_: ["a.py:1: wrong"]})
    status, out, err = run("build")
    assert status == 1 and "✗   0.0 s  closed" in out and "a.py:1: wrong" in out and "a gate failed" in err
    assert contents(built.root) == before


def test_work_of_the_user_stops_the_build_before_the_gates(run, project: Project, monkeypatch) -> None:
    monkeypatch.setattr(cli, "GATES", {"quick": lambda *_: []})
    assert run("build")[0] == 0
    student = project.root / "student"
    (student / "notes.py").write_text("my notes\n")
    (student / "affine.py").write_text("my work\n")
    status, out, err = run("build")
    assert (status, out) == (2, "") and "student/affine.py" in err and "--force" in err
    assert (student / "affine.py").read_text() == "my work\n"
    assert run("build", "--force")[0] == 0
    assert "class Affine" in (student / "affine.py").read_text() and (student / "notes.py").is_file()


def test_a_change_of_the_reference_is_mended(built: Project, edit) -> None:
    assert write_release(make_release(built), built.root) == []
    edit(built.reference / "affine.py", "Affine maps", "Maps")
    (built.reference / "more.py").write_text("x = 1\n")
    changed = write_release(make_release(built), built.root)
    archives = {f"dist/{name}.zip" for name in ("student", "gradescope", "instructor")}
    assert {"student/affine.py", "student/more.py", *archives, "dist/MANIFEST.json"} == set(changed)
    (built.reference / "more.py").unlink()
    assert "student/more.py" in write_release(make_release(built), built.root)
    assert not (built.root / "student" / "more.py").exists()


@pytest.fixture
def problem(project: Project, run) -> Callable[..., str]:
    """The line that stops a build, which writes nothing."""

    def build(*arguments: str) -> str:
        status, out, err = run("build", *arguments)
        assert (status, out) == (2, "") and not (project.root / "dist").exists()
        [line] = err.removesuffix("release: stopped; nothing was written\n").splitlines()
        return line

    return build


DEV, SOURCES = "data/corpus/fren.dev.bpe", "data/corpus/fren.test.src.bpe"
REFERENCES, HANDOUT = "data/private/fren.test.bpe", f"{ROOM}/handout.md"


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        (DEV, b"a|||b\nun chien\ta dog\n", f"{DEV}:2: is no pair; expected `source|||target`"),
        (SOURCES, b"one\n\xe9", f"{SOURCES}:2: is not UTF-8"),
        (REFERENCES, b"the cat .\nthe dog .\n", f"{REFERENCES}: has 2 lines, but {SOURCES} has 1; each line needs"),
        (HANDOUT, b"# One\n{{ due\n", "handout.md:2: unexpected end of template"),
        (HANDOUT, b"{{ titel }}\n", "handout.md: 'titel' is undefined; in double braces, write one of ass"),
    ],
)
def test_a_damaged_file_is_one_line(path: str, content: bytes, says: str, project, problem) -> None:
    (project.root / path).write_bytes(content)
    assert problem().startswith(says)


def test_a_wrong_folder_or_assignment_is_one_line(project, problem, edit) -> None:
    project.reference.rename(project.root / "solutions")
    assert problem().endswith("reference: no files there; the marked solution belongs there")
    edit(project.root / ROOM / "assignment.toml", 'number = "1.1"', "number = 1")
    assert "assignment.toml: task 1" in problem()
