"""The archives: what is in them, for whom, and that it stays so."""

import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.places import REFERENCES
from foundation.term_secret import SECRET, term_secret
from release.build import Project, make_release
from release.contents import ARCHIVE_FOLDER, PROGRAMS, read_given
from release.handout import NAMES
from release.packing import checksum, members_of
from release.regions import ReleaseError

EXAMPLE = Path(__file__).with_name("tiny_project")
ROOM = "autograder/assignment"


def test_students_get_what_they_need_and_no_more(example_release) -> None:
    archive = example_release.archives["student.zip"]
    files = {path.removeprefix(f"{ARCHIVE_FOLDER}/") for path in archive if not path.endswith(".whl")}
    [wheel] = (path for path in archive if path.endswith(".whl"))
    inside = {path.partition("!")[2] for path, _ in members_of(wheel, archive[wheel])}
    assert files == {
        *(".handed_out.zip", "README.md", "requirements.txt", "pytest.ini", "grade.py", *NAMES),
        *("student/__init__.py", "student/mean.py", "student/table.py", "given/__init__.py"),
        *(f"data/corpus/fren.{name}.bpe" for name in ("train", "dev", "test.src")),
        *(f"component_tests/{name}" for name in ("conftest.py", "test_table.py")),
    }
    assert {path for path in inside if ".dist-info/" not in path} == {
        *(f"{ROOM}/assignment.toml", "autograder/scale.py", "foundation/__init__.py", "foundation/texts.py"),
    }
    assert sorted(example_release.folder) == ["README.md", "__init__.py", "mean.py", "table.py"]


def test_pip_installs_the_wheel(example_release, tmp_path: Path) -> None:
    [(path, wheel)] = [one for one in example_release.archives["student.zip"].items() if one[0].endswith(".whl")]
    file = tmp_path / path.rpartition("/")[2]
    file.write_bytes(wheel)
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--target", tmp_path / "site", file]
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)
    assert (tmp_path / "site" / "autograder" / "scale.py").is_file()


def test_gradescope_gets_grader_skeleton_references_and_secret(example_release) -> None:
    packed = example_release.outputs["dist/gradescope.zip"]
    names = {path.partition("!")[2] for path, _ in members_of("a.zip", packed)}
    assert {*PROGRAMS, "requirements.txt", str(REFERENCES), str(SECRET)} < names
    assert {"autograder/reports/gradescope.py", "autograder/scale.py", f"{ROOM}/tests/test_table.py"} < names
    assert {"student/table.py", f"{ROOM}/assignment.toml", f"{ROOM}/tests/pytest.ini"} < names
    assert not any("reference" in name or name.startswith(("release", "tests/")) for name in names)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        modes = {member.filename: member.external_attr >> 16 & 0o777 for member in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} == set(PROGRAMS)


@pytest.mark.parametrize("name", ["given/nothing.py", "reference/mean.py"])
def test_what_students_do_not_get_has_to_exist(example_release, name: str) -> None:
    with pytest.raises(ReleaseError, match=f"instructor_only names {name}: expected a file or folder in given/"):
        read_given(EXAMPLE, replace(example_release.assignment, instructor_only=(name,)))


def test_the_manifest_has_checksums(example_release) -> None:
    sums = json.loads(example_release.outputs["dist/MANIFEST.json"])
    assert sums["dist/student.zip"] == checksum(example_release.outputs["dist/student.zip"])
    assert sums.keys() | {"dist/MANIFEST.json"} == example_release.outputs.keys()


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
