"""The passes and the search for leaks on the kit's own reference."""

import ast
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from autograder.course.catalogue import apply, faults_of
from autograder.intake.sources import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, ROOT
from release.contents import collect_kit, read_given
from release.gates import INSTALLED, run_python, unpack, write_all
from release.leaks import LeakFinder
from release.packing import make_zip, members_of
from release.skeleton import Skeleton, make_skeleton, read_folder


@pytest.fixture(scope="module")
def real() -> Skeleton:
    return make_skeleton(
        read_folder(ROOT / "reference"), read_assignment(), "reference", read_given(ROOT, read_assignment())
    )


@pytest.fixture(scope="module")
def kit(real: Skeleton) -> dict[str, bytes]:
    """The students' archive."""
    return collect_kit(ROOT, read_assignment(), real.files)


def test_every_solution_is_found_again(real: Skeleton) -> None:
    finder = LeakFinder(real)
    for path, source in real.sources.items():
        for region in real.regions[path]:
            code = textwrap.dedent("".join(source.lines[region.begin : region.end - 1]))
            assert finder.leaks_in("a.md", textwrap.indent(code, "    ").encode()), region


@pytest.fixture(scope="module")
def unpacked(kit: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' folder, which these tests may not change."""
    return unpack(make_zip(kit), tmp_path_factory.mktemp("unpacked") / "my course")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "status", "shown"),
    [
        (["--submission", "../other work"], 0, " passed"),
        (["--submission=../other work"], 0, " passed"),
        (["--submission", "../no work"], 2, "--submission ../no work: no such folder"),
    ],
)
def test_another_folder_is_tested(unpacked: Path, flags: list[str], status: int, shown: str) -> None:
    shutil.copytree(ROOT / "reference", unpacked.parent / "other work", dirs_exist_ok=True)
    done = run_python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "task_1_1", *flags], unpacked)
    assert (done.returncode, "warning" in done.stdout) == (status, False), done.stdout
    assert shown in done.stdout + done.stderr


HINTS = """import json, sys
from pathlib import Path
from student.__main__ import main
for text in json.load(sys.stdin):
    Path("student/attention.py").write_text(text)
    print("status", main(["hint", "1.2"]))
print("status", main(["hint", "9"]), main(["hint", "1.4"]))
"""


@pytest.mark.slow
def test_a_hint_comes_after_three_failed_versions_and_is_the_catalogues(kit, tmp_path: Path) -> None:
    """In one process, since each start of PyTorch takes seconds."""
    assignment, folder = read_assignment(), unpack(make_zip(kit), tmp_path)
    [fault] = (fault for fault in faults_of(assignment) if fault.id == "attention-not-scaled")
    text = apply(fault, read_sources(REFERENCE, REFERENCE))["attention"][1]
    versions = [text, text, f"# 2\n{text}", f"# 3\n{text}", text.replace("# (b, h, q, k)", "* 3")]
    done = run_python(["-c", HINTS], folder, json.dumps(versions))
    *seen, others = done.stdout.split("\nstatus 1\n")
    assert ["failed attempts: 1" in output for output in seen] == [True, True, False, False, False]
    assert seen[3].endswith(f"\nHint: {fault.hint}") and fault.when not in seen[3]
    assert seen[4].endswith("\nno known mistake fits what the tests see")
    assert "still to be written" in others and others.endswith("status 2 1\n")
    assert "expected one of 1.1, 1.2" in done.stderr
    own_run = run_python(["-m", "pytest", "-q", "-m", "task_1_2"], folder)
    assert "perhaps there is a hint: python -m student hint 1.2\n" in own_run.stdout


STAFF_ONLY = ("pydantic", "sqlalchemy", "nbgrader")
POSIX_ONLY = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios")


@pytest.mark.slow
def test_students_need_no_module_that_they_may_lack(kit):
    """The tests and the notebooks' checks import the grader in part, and that part gets by without these."""
    members = members_of("student.zip", make_zip(kit))
    modules = {path: content for path, content in members if path.endswith(".py")}
    assert any(path.endswith("autograder/running/under_test.py") for path in modules)
    for path, content in modules.items():
        for node in ast.walk(ast.parse(content)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & {*STAFF_ONLY, *POSIX_ONLY}, path


def run_without_posix(folder: Path, *command: str) -> str:
    paths = Path(__file__).with_name("without_posix"), folder.parent / INSTALLED
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_students_test_train_and_translate_without_what_windows_lacks(kit, real: Skeleton, tmp_path: Path) -> None:
    folder = unpack(make_zip(kit), tmp_path)
    solved = read_folder(ROOT / "reference")
    write_all({path: solved[path] for path in real.files}, folder / "student")
    assert " passed" in run_without_posix(folder, "-m", "pytest", "-q", "-m", "task_1_1 or given")
    short = ("--preset", "tiny", "--max-steps", "2", "--samples", "0", "--max-length", "3", "--output", "runs/short")
    run_without_posix(folder, "-m", "student", "train", *short)
    translate = ("translate", "--checkpoint", "runs/short/best.pt", "--output", "translations.txt")
    run_without_posix(folder, "-m", "student", *translate)
    assert len((folder / "translations.txt").read_text("utf-8").splitlines()) == 971
    run_without_posix(folder, "grade.py", "--help")
