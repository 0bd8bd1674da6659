"""The archives: what is in them, for whom, and when: in the first phase, some tests are held back."""

import io
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.assignment_file import read_assignment
from foundation.places import REFERENCES, ROOT
from foundation.term_secret import SECRET, term_secret
from release.build import Project, make_package, make_release
from release.contents import ARCHIVE_FOLDER, PROGRAMS, collect_kit, read_given
from release.gates import run_python, unpack
from release.handout import NAMES
from release.packing import make_zip, members_of
from release.regions import ReleaseError

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
    [(path, wheel)] = [one for one in example_release.archives["student.zip"].items() if one[0].endswith(".whl")]
    file = tmp_path / path.rpartition("/")[2]
    file.write_bytes(wheel)
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--target", tmp_path / "site", file]
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)
    assert (tmp_path / "site" / "autograder" / "testing" / "case.py").is_file()


def test_gradescope_gets_grader_skeleton_references_and_secret(example_release) -> None:
    packed = example_release.outputs["dist/gradescope.zip"]
    names = {path.partition("!")[2] for path, _ in members_of("a.zip", packed)}
    assert {*PROGRAMS, "requirements.txt", str(REFERENCES), str(SECRET)} < names
    assert {"autograder/reports/gradescope.py", "autograder/testing/case.py", f"{ROOM}/tests/test_1_2_loss.py"} < names
    assert {"student/loss.py", f"{ROOM}/assignment.toml", f"{ROOM}/tests/pytest.ini"} < names
    assert not any("reference" in name or name.startswith(("release", "tests/")) for name in names)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        modes = {member.filename: member.external_attr >> 16 & 0o777 for member in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} == set(PROGRAMS)


@pytest.mark.parametrize("name", ["given/nothing.py", "reference/loss.py"])
def test_what_students_do_not_get_has_to_exist(project: Project, example_release, name: str) -> None:
    with pytest.raises(ReleaseError, match=f"instructor_only names {name}: expected a file or folder in given/"):
        read_given(project.root, replace(example_release.assignment, instructor_only=(name,)))


def test_an_index_of_packages_reaches_gradescopes_requirements(project: Project) -> None:
    url = "https://example.org/cpu"
    release = make_release(replace(project, index=url))
    first, second, *packages = release.archives["gradescope.zip"]["requirements.txt"].decode().splitlines()
    assert first == f"--extra-index-url {url}" and second == "--constraint requirements.lock"
    assert "torch" in packages and "requirements.lock" in release.archives["gradescope.zip"]


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
    """The students' archive in each phase."""
    return {
        phase: collect_kit(ROOT, replace(read_assignment(), phase=phase), {"masks.py": b"x = 1\n"})
        for phase in (1, 2, None)
    }


def names(kit) -> set[str]:
    """Of all files, those in the wheel too."""
    return {path.rpartition("/")[2] for path, _ in members_of("student.zip", make_zip(kit))}


@pytest.mark.slow
def test_the_first_phase_holds_them_back_and_the_second_has_all(phases):
    assert HELD.isdisjoint(names(phases[1]))
    assert names(phases[2]) >= HELD and phases[2] == phases[None]
    assert "test_e_4_own_tests.py" in names(phases[1])


@pytest.mark.slow
def test_who_runs_a_test_that_is_held_back_is_told(phases, tmp_path):
    folder = unpack(make_zip(phases[1]), tmp_path)
    done = run_python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "task_1_2"], folder)
    assert "1.2 Scaled dot-product attention: its tests are handed out later" in done.stdout


def test_the_handout_of_phase_1_says_which_tests_come_later(tmp_path):
    package = make_package(Project(ROOT, ROOT / "reference", tmp_path, phase=1))
    assert "The tests of 1.2 and 1.4 are handed out later." in package.handout["README.md"].decode()
