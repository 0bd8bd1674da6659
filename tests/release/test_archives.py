"""The archives: what is in them, for whom, and when; and what students can do with theirs, unpacked.

In the first phase, some tests are held back.
"""

import ast
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course.catalogue import apply, faults_of
from autograder.intake.sources import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, REFERENCES, ROOT
from foundation.term_secret import SECRET, term_secret
from release.build import Project, make_package, make_release
from release.contents import ARCHIVE_FOLDER, PROGRAMS, collect_kit, read_given
from release.gates import INSTALLED, run_python, unpack
from release.handout import NAMES, words_of
from release.packing import make_zip, members_of
from release.skeleton import ReleaseError

from .conftest import ROOM


def test_students_get_what_they_need_and_no_more(example_release) -> None:
    archive = example_release.archives["student.zip"]
    files = {path.removeprefix(f"{ARCHIVE_FOLDER}/") for path in archive if not path.endswith(".whl")}
    [wheel] = (path for path in archive if path.endswith(".whl"))
    inside = {path.partition("!")[2] for path, _ in members_of(wheel, archive[wheel])}
    assert files == {
        *(".gitignore", ".handed_out.zip", "README.md", "requirements.txt", "pytest.ini", "conftest.py", *NAMES),
        *(f"student/{name}.py" for name in ("__init__", "affine", "loss", "regressor")),
        "given/__init__.py",
        *(f"data/corpus/fren.{name}.bpe" for name in ("train", "dev", "test.src")),
        *(f"component_tests/test_{name}.py" for name in ("1_1_affine", "1_2_loss", "2_1_regressor")),
    }
    assert {f"{ROOM}/assignment.toml", f"{ROOM}/stand_ins/__init__.py", "autograder/testing/case.py"} < inside
    staff = ("release", "data", *(f"autograder/{name}" for name in ("classroom", "grading", "reports", "commands")))
    assert not any(path.startswith((*staff, f"{ROOM}/misconceptions", f"{ROOM}/proof")) for path in inside)
    assert sorted(example_release.folder) == ["README.md", "__init__.py", "affine.py", "loss.py", "regressor.py"]


def test_pip_installs_the_wheel(example_release, tmp_path: Path) -> None:
    [(path, wheel)] = (item for item in example_release.archives["student.zip"].items() if item[0].endswith(".whl"))
    file = tmp_path / path.rpartition("/")[2]
    file.write_bytes(wheel)
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--target", tmp_path / "site", file]
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)
    assert (tmp_path / "site" / "autograder" / "testing" / "case.py").is_file()


def test_gradescope_gets_grader_skeleton_references_and_secret(project: Project) -> None:
    url = "https://example.org/cpu"
    packed = make_release(replace(project, index=url)).outputs["dist/gradescope.zip"]
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        first, second, *packages = archive.read("requirements.txt").decode().splitlines()
        modes = {member.filename: member.external_attr >> 16 & 0o777 for member in archive.infolist()}
    assert {*PROGRAMS, "requirements.lock", str(REFERENCES), str(SECRET)} < modes.keys()
    assert {"autograder/reports/gradescope.py", "autograder/testing/case.py"} < modes.keys()
    assert {"student/loss.py", *(f"{ROOM}/{path}" for path in ("assignment.toml", "tests/pytest.ini"))} < modes.keys()
    assert not any("reference" in name or name.startswith(("release", "tests/")) for name in modes)
    assert {name for name, mode in modes.items() if mode & 0o111} == set(PROGRAMS)
    assert first == f"--extra-index-url {url}" and second == "--constraint requirements.lock" and "torch" in packages


@pytest.mark.parametrize("name", ["given/nothing.py", "reference/loss.py"])
def test_what_students_do_not_get_has_to_exist(project: Project, example_release, name: str) -> None:
    with pytest.raises(ReleaseError, match=f"instructor_only names {name}: expected a file or folder in given/"):
        read_given(project.root, replace(example_release.assignment, instructor_only=(name,)))


def test_a_first_release_draws_a_secret_that_later_ones_keep(project: Project) -> None:
    (project.root / SECRET).unlink()
    first = make_release(project)
    assert make_release(project).outputs == first.outputs
    secret = term_secret(project.root)
    assert len(secret) == 65
    assert first.archives["gradescope.zip"][str(SECRET)] == secret
    assert first.archives["instructor.zip"][f"instructor/{SECRET}"] == secret


HELD = {"test_1_2_attention.py", "test_1_4_layer_norm.py"}


@pytest.fixture(scope="module")
def phases():
    """The files of the course's archive for students, in each phase."""
    assignment, skeleton = make_package(Project(ROOT))[:2]
    return {phase: collect_kit(ROOT, replace(assignment, phase=phase), skeleton.files) for phase in (1, 2, None)}


@pytest.fixture(scope="module")
def kit(phases) -> dict[str, bytes]:
    return phases[None]


@pytest.mark.slow
def test_the_first_phase_holds_tests_back_and_says_so_and_the_second_has_all(phases, tmp_path):
    first, second = (
        {path.rpartition("/")[2] for path, _ in members_of("student.zip", make_zip(phases[phase]))} for phase in (1, 2)
    )
    assert HELD.isdisjoint(first) and "test_e_4_own_tests.py" in first
    assert second >= HELD and phases[2] == phases[None]
    folder = unpack(make_zip(phases[1]), tmp_path)
    done = run_python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "task_1_2"], folder)
    assert "1.2 Scaled dot-product attention: its tests are handed out later" in done.stdout
    first_phase = words_of(replace(read_assignment(), phase=1), [])["held_back"]
    assert "The tests of 1.2 and 1.4 are handed out later." in first_phase


HINTS = """import json, sys
from pathlib import Path
from student.__main__ import main
for text in json.load(sys.stdin):
    Path("student/attention.py").write_text(text)
    print("status", main(["hint", "1.2"]))
"""


@pytest.mark.slow
def test_a_hint_comes_after_three_failed_versions_and_is_the_catalogues(kit, tmp_path: Path) -> None:
    [fault] = (fault for fault in faults_of(read_assignment()) if fault.id == "attention-not-scaled")
    text = apply(fault, read_sources(REFERENCE, REFERENCE))["attention"][1]
    versions = [text, text, f"# 2\n{text}", f"# 3\n{text}", text.replace("# (b, h, q, k)", "* 3")]
    done = run_python(["-c", HINTS], unpack(make_zip(kit), tmp_path), json.dumps(versions))
    *seen, _ = done.stdout.split("\nstatus 1\n")
    assert ["failed attempts: 1" in output for output in seen] == [True, True, False, False, False]
    assert seen[3].endswith(f"\nHint: {fault.hint}") and fault.when not in seen[3]
    assert seen[4].endswith("\nno known mistake fits what the tests see")


STAFF_ONLY = ("pydantic", "sqlalchemy", "nbgrader")
POSIX_ONLY = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios")


@pytest.mark.slow
def test_students_need_no_module_that_they_may_lack(kit):
    """The tests and the notebooks' checks import the grader in part, and that part gets by without these."""
    members = members_of("student.zip", make_zip(kit))
    for path, content in ((path, content) for path, content in members if path.endswith(".py")):
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
def test_students_test_train_and_translate_without_what_windows_lacks(kit, tmp_path: Path) -> None:
    folder = unpack(make_zip(kit), tmp_path)
    shutil.copytree(REFERENCE, folder / "student", dirs_exist_ok=True)
    assert " passed" in run_without_posix(folder, "-m", "pytest", "-q", "-m", "task_1_1 or given")
    short = "--preset tiny --max-steps 2 --samples 0 --max-length 3 --output runs/short"
    train, translate = f"train {short}", "translate --checkpoint runs/short/best.pt --output translations.txt"
    both = "import sys; from student.__main__ import main; sys.exit(any(main(words.split()) for words in sys.argv[1:]))"
    run_without_posix(folder, "-c", both, train, translate)
    assert len((folder / "translations.txt").read_text("utf-8").splitlines()) == 971
    run_without_posix(folder, "grade.py", "--help")
