"""The archives beside the students' one: what is in them, for whom, and that it stays so."""

import io
import json
import os
import re
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.places import REFERENCES
from foundation.term_secret import SECRET, term_secret
from release.__main__ import index_url
from release.archives.audience import Audience, audience_of
from release.archives.gradescope import PROGRAMS
from release.archives.packing import members_of
from release.archives.pinned_versions import pin
from release.archives.student import read_given
from release.build import Project, make_release
from release.problems import ReleaseError

EXAMPLE = Path(__file__).with_name("tiny_project")
ROOM = "autograder/assignment"
ENTRY = "autograder/reports/gradescope/__main__.py"


def test_gradescope_gets_grader_skeleton_references_and_secret(example_release) -> None:
    packed = example_release.outputs["dist/gradescope.zip"]
    names = {path.partition("!")[2] for path, _ in members_of("a.zip", packed)}
    assert {*PROGRAMS, "requirements.txt", str(REFERENCES), str(SECRET)} < names
    inner = {name.partition("!")[2] for name in names if name.startswith("grader.tar.xz!")}
    assert {ENTRY, "autograder/scale.py", f"{ROOM}/tests/test_table.py"} < inner
    assert {"student/table.py", f"{ROOM}/assignment.toml", f"{ROOM}/tests/pytest.ini"} < inner
    assert not any("reference" in name or name.startswith(("release", "tests/")) for name in inner)


def test_gradescopes_two_programs_may_be_run(example_release) -> None:
    with zipfile.ZipFile(io.BytesIO(example_release.outputs["dist/gradescope.zip"])) as archive:
        modes = {member.filename: member.external_attr >> 16 & 0o777 for member in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} == set(PROGRAMS)


def test_the_instructor_gets_solutions_references_and_secret(example_release) -> None:
    names = set(example_release.archives["instructor.zip"])
    assert {
        "instructor/reference/mean.py",
        "instructor/given/extras/answers.py",
        f"instructor/{REFERENCES}",
        f"instructor/{SECRET}",
    } < names
    assert "instructor/HANDOUT.md" in names


def test_students_get_what_is_given_without_what_is_for_instructors(example_release) -> None:
    names = {name for name in example_release.archives["student.zip"] if "/given/" in name}
    assert names == {"assignment/given/__init__.py", "assignment/given/README.md"}


@pytest.mark.parametrize("name", ["given/nothing.py", "given/none/", "reference/mean.py"])
def test_what_students_do_not_get_has_to_exist(example_release, name: str) -> None:
    with pytest.raises(ReleaseError, match=f"instructor_only names {name}: expected a file or folder in given/"):
        read_given(EXAMPLE, replace(example_release.assignment, instructor_only=(name,)))


def test_the_manifest_says_whom_an_archive_is_for(example_release) -> None:
    archives = json.loads(example_release.outputs["dist/MANIFEST.json"])["archives"]
    assert {name: entry["for"] for name, entry in archives.items()} == {
        "student.zip": "students",
        "gradescope.zip": "the grading server",
        "instructor.zip": "instructors",
    }


def test_an_archive_that_nobody_has_named_is_taken_for_the_students() -> None:
    assert audience_of("dist/other.zip!instructor.zip") is Audience.STUDENTS
    assert audience_of("student/instructor.zip") is Audience.STUDENTS


def test_an_index_of_packages_reaches_gradescopes_requirements(project: Project) -> None:
    url = "https://example.org/cpu"
    release = make_release(replace(project, index=url))
    first, *pins = release.archives["gradescope.zip"]["requirements.txt"].decode().splitlines()
    assert first == f"--extra-index-url {url}"
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in pins)
    assert index_url(url) == url
    with pytest.raises(Exception, match="expected https"):
        index_url("example.org\n--index-url evil")


def test_pins_cover_what_a_package_needs_and_nothing_of_graphics_cards() -> None:
    pins = dict(line.split("==") for line in pin(["torch", "pytest"]))
    assert pins["torch"] == "2.13.0"
    assert {"torch", "pytest", "sympy", "mpmath", "pluggy"} <= pins.keys()
    assert not any(name.startswith(("nvidia", "triton", "cuda")) for name in pins)
    with pytest.raises(ReleaseError, match="nothing-of-this-name is not installed"):
        pin(["nothing-of-this-name"])


def test_a_first_release_draws_a_secret_that_later_ones_keep(project: Project) -> None:
    (project.root / SECRET).unlink()
    first = make_release(project)
    assert make_release(project).outputs == first.outputs
    secret = term_secret(project.root)
    assert len(secret) == 65
    assert first.archives["gradescope.zip"][str(SECRET)] == secret
    assert first.archives["instructor.zip"][f"instructor/{SECRET}"] == secret


STUB = """#!/bin/sh
echo "$(basename "$0") $*" >> "$LOG"
case "$*" in
    *"-m venv"*) for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python" ;;
    *"-m pip"*) [ "$(grep -c -- '-m pip' "$LOG")" -gt 2 ] ;;
esac
"""


def run_setup(folder: Path, files: dict[str, bytes], stubs: dict[str, str]) -> tuple[subprocess.CompletedProcess, str]:
    """Runs setup.sh with other programs in the place of Python, apt-get and sleep; and what they were called with."""
    for name, content in files.items():
        path = folder / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name, text in stubs.items():
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    log = folder / "log"
    environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "LOG": str(log), "HOME": os.environ.get("HOME", "/")}
    bash = ["bash", str(folder / "source" / "setup.sh")]
    finished = subprocess.run(bash, env=environment, capture_output=True, text=True, check=False)
    return finished, log.read_text()


def test_setup_tries_again_when_an_installation_fails(example_release, tmp_path: Path) -> None:
    files = example_release.archives["gradescope.zip"]
    finished, log = run_setup(tmp_path, files, {"python3.11": STUB, "sleep": STUB})
    assert finished.returncode == 0, finished.stderr
    assert log.count("-m pip install") == 3 and finished.stderr.count("trying again") == 2
    assert "sleep 5" in log and "sleep 15" in log
    assert "--only-binary :all:" in log and "-m tarfile --extract" in log
    assert (tmp_path / "source").stat().st_mode & 0o077 == 0


def test_setup_names_what_is_missing_where_there_is_no_python(example_release, tmp_path: Path) -> None:
    files = example_release.archives["gradescope.zip"]
    none = '#!/bin/sh\necho "$(basename "$0") $*" >> "$LOG"\nexit 1\n'
    stubs = dict.fromkeys(["python3", "python3.11", "python3.12", "python3.13", "apt-get", "rm"], none)
    finished, log = run_setup(tmp_path, files, {**stubs, "sleep": STUB})
    assert finished.returncode == 1
    assert "setup: failed, trying again" in finished.stderr and "apt-get update" in log
