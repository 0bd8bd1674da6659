"""Assembling and writing: the same bytes each time, whole files only, nothing of the user's lost."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.assignment_file import read_assignment
from release import placing
from release.archives.needed_modules import needed_modules
from release.archives.packing import checksum
from release.archives.student import ARCHIVE_FOLDER, collect_kit, read_requirements, versions_of
from release.build import Project, Release, make_release
from release.notebooks.nbgrader_course import release_folder
from release.placing import compare_package, write_files, write_release
from release.problems import ReleaseError


def test_students_get_what_they_need_and_no_more(example_release) -> None:
    files = {path.removeprefix(f"{ARCHIVE_FOLDER}/") for path in example_release.archives["student.zip"]}
    assert files == {
        ".handed_out.zip",
        "README.md",
        "requirements.txt",
        "grade.py",
        "student/__init__.py",
        "student/mean.py",
        "student/table.py",
        "data/corpus/fren.train.bpe",
        "data/corpus/fren.dev.bpe",
        "data/corpus/fren.test.src.bpe",
        "autograder/scale.py",
        "given/__init__.py",
        "given/README.md",
        "foundation/__init__.py",
        "foundation/todo_wording.py",
        "autograder/assignment/assignment.toml",
        "autograder/assignment/tests/conftest.py",
        "pytest.ini",
        "autograder/assignment/tests/test_table.py",
    }
    assert sorted(example_release.folder) == ["README.md", "__init__.py", "mean.py", "table.py"]


def test_modules_are_needed_where_something_imports_them() -> None:
    files = {
        "a/__init__.py": b"",
        "a/tests/__init__.py": b"",
        "a/tests/test.py": b"import a.b\nfrom ..c import d\ndef f():\n    from ..e import g\nimport json\n",
        "a/b.py": b"from . import h",
        "a/c/__init__.py": b"from .i import x",
        "a/c/d.py": b"",
        "a/c/i.py": b"",
        "a/e.py": b"from a.j import y",
        "a/h.py": b"",
        "a/j.py": b"",
        "a/server.py": b"from .b import z",
        "b/__init__.py": b"",
    }
    assert needed_modules(files, ["a"], ["a/tests/test.py"]) == set(files) - {"a/server.py", "b/__init__.py"}


def test_the_handout_names_every_task(example_release) -> None:
    handout = example_release.folder["README.md"].decode()
    assert "| 1.1 | Scaled table | 4 | `student/table.py` |" in handout
    assert "| 1.2 | Weighted mean | 6 | `student/mean.py` |" in handout
    assert "0.30" in handout and "E.1 diagonal mask" in handout and "minutes |" not in handout
    assert "$" not in handout


def test_the_handout_rounds_no_threshold_and_keeps_the_table(project) -> None:
    path = project.root / "autograder" / "assignment" / "assignment.toml"
    text = path.read_text().replace("= 0.30", "= 0.255").replace('"Scaled table"', '"Scaled | table"')
    path.write_text(text)
    handout = make_release(project).folder["README.md"].decode()
    assert "for at least 0.255 (" in handout and "| 1.1 | Scaled \\| table | 4 |" in handout


def test_what_students_are_told_to_use_is_handed_out_without_points_for_bleu(project) -> None:
    """The example's handout names no corpus and no scorer; where it does, they come along."""
    path = project.root / "autograder" / "assignment" / "assignment.toml"
    tables = path.read_text().split("[[tasks]]")
    path.write_text("[[tasks]]".join(table for table in tables if "threshold = " not in table))
    handout = path.with_name("handout.md")
    handout.write_text(handout.read_text().replace("grade.py", "").replace("data/corpus", ""))

    def given() -> set[str]:
        names = make_release(project).archives["student.zip"]
        return {name.removeprefix("assignment/") for name in names} & {"grade.py", "data/corpus/fren.dev.bpe"}

    assert given() == set()
    handout.write_text(handout.read_text() + "Train on data/corpus/fren.train.bpe, and score with grade.py.\n")
    assert given() == {"grade.py", "data/corpus/fren.dev.bpe"}


def test_the_manifest_has_every_checksum_and_the_versions(example_release) -> None:
    manifest = json.loads(example_release.outputs["dist/MANIFEST.json"])
    assert manifest["versions"] == {"kit": "0.1.0", "python": ">=3.11", "numpy": ">=2", "tqdm": "any"}
    packed = example_release.outputs["dist/student.zip"]
    assert manifest["archives"]["student.zip"]["sha256"] == checksum(packed)
    assert manifest["archives"]["student.zip"]["bytes"] == len(packed)
    inside = example_release.archives["student.zip"]
    assert manifest["archives"]["student.zip"]["files"] == {path: checksum(inside[path]) for path in inside}
    assert manifest["student"] == {path: checksum(text) for path, text in sorted(example_release.folder.items())}
    made = {path: checksum(text) for path, text in example_release.outputs.items() if path.startswith("notebooks/")}
    assert manifest["notebooks"] == made


def test_two_builds_in_two_folders_are_the_same(project: Project, example_release) -> None:
    assert make_release(project).outputs == example_release.outputs


def test_what_is_missing_is_named_at_once(project: Project) -> None:
    (project.root / "grade.py").unlink()
    (project.root / "data" / "corpus" / "fren.dev.bpe").unlink()
    requirements = read_requirements(project.root)
    with pytest.raises(ReleaseError) as caught:
        collect_kit(project.root, read_assignment(project.root / "autograder" / "assignment"), {}, b"", requirements)
    assert [problem.path for problem in caught.value.problems] == ["data/corpus/fren.dev.bpe", "grade.py"]
    assert "python -m data generate" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[project", "cannot be read"),
        ("x = 1", "has no 'project'"),
        ('[project]\nversion = "1"', "requires-python"),
    ],
)
def test_a_project_file_without_requirements(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ReleaseError, match=says):
        read_requirements(tmp_path)


def test_versions_of_requirements(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nversion = "2"\nrequires-python = ">=3.11"\ndependencies = ["torch==2.13.0", "some-thing"]\n'
    )
    versions = versions_of(read_requirements(tmp_path))
    assert versions == {"kit": "2", "python": ">=3.11", "torch": "==2.13.0", "some-thing": "any"}


def test_an_assignment_that_cannot_be_used(project: Project) -> None:
    path = project.root / "autograder" / "assignment" / "assignment.toml"
    path.write_text(path.read_text().replace('number = "1.1"', "number = 1"))
    with pytest.raises(ReleaseError, match="assignment.toml: task 1"):
        make_release(project)


def test_an_empty_reference(project: Project, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReleaseError, match="no files there; name the folder with --reference"):
        make_release(replace(project, reference=tmp_path / "empty"))


def test_files_are_written_whole_and_only_where_they_changed(tmp_path: Path, monkeypatch) -> None:
    assert write_files({"a/b.txt": b"1", "c": b"2"}, tmp_path) == ["a/b.txt", "c"]
    before = (tmp_path / "c").stat().st_mtime_ns
    assert write_files({"a/b.txt": b"3", "c": b"2"}, tmp_path) == ["a/b.txt"]
    assert (tmp_path / "c").stat().st_mtime_ns == before
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o644

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_files({"c": b"new"}, tmp_path)
    assert (tmp_path / "c").read_bytes() == b"2"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["b.txt", "c"]


@pytest.fixture
def built(project: Project) -> Project:
    write_release(make_release(project), project.output)
    return project


def change_reference(project: Project) -> None:
    path = project.reference / "mean.py"
    path.write_text(path.read_text().replace("A mean with weights", "A weighted mean"))


def test_the_folder_is_what_was_built(built: Project) -> None:
    assert compare_package(built) == []
    assert write_release(make_release(built), built.output) == []


def test_a_change_of_the_reference_is_seen_and_mended(built: Project) -> None:
    change_reference(built)
    (built.reference / "more.py").write_text("x = 1\n")
    assert compare_package(built) == ["student/mean.py is out of date", "student/more.py is missing"]
    changed = write_release(make_release(built), built.output)
    archives = {f"dist/{name}.zip" for name in ("student", "gradescope", "instructor")}
    assert {"student/mean.py", "student/more.py", *archives, "dist/MANIFEST.json"} == set(changed)
    assert compare_package(built) == []


def test_notebooks_and_modules_of_an_earlier_build_go(built: Project) -> None:
    """What somebody has put beside them, or has changed in them, stays."""
    release = make_release(built)
    folder = release_folder(release.assignment.name)

    def with_notebooks(*names: str) -> Release:
        notebooks = {f"{folder}/{name}": b"{}" for name in names}
        manifest = json.loads(release.outputs["dist/MANIFEST.json"])
        manifest["notebooks"] = {path: checksum(content) for path, content in notebooks.items()}
        return replace(
            release, outputs={**release.outputs, **notebooks, "dist/MANIFEST.json": json.dumps(manifest).encode()}
        )

    write_release(with_notebooks("old.ipynb", "edited.ipynb", "support/old/module.py", "1.ipynb"), built.output)
    (built.output / folder / "edited.ipynb").write_text("my work")
    (built.output / folder / "my_own_exam.ipynb").write_bytes(b"{}")
    (built.output / folder / "support" / "mine.py").touch()
    changed = write_release(with_notebooks("1.ipynb", "2.ipynb"), built.output)
    gone = {f"{folder}/old.ipynb", f"{folder}/support/old/module.py"}
    assert set(changed) == {"dist/MANIFEST.json", f"{folder}/2.ipynb", *gone}
    kept = {path.relative_to(built.output / folder) for path in (built.output / folder).rglob("*") if path.is_file()}
    assert kept == {*map(Path, ("1.ipynb", "2.ipynb", "edited.ipynb", "my_own_exam.ipynb", "support/mine.py"))}


def test_a_file_that_is_no_longer_made_goes(built: Project) -> None:
    (built.reference / "more.py").write_text("x = 1\n")
    write_release(make_release(built), built.output)
    (built.reference / "more.py").unlink()
    assert compare_package(built) == ["student/more.py is not made from reference/"]
    assert "student/more.py" in write_release(make_release(built), built.output)
    assert not (built.output / "student" / "more.py").exists()


def test_what_was_written_by_hand_is_not_lost(built: Project) -> None:
    student = built.output / "student"
    (student / "mean.py").write_text("my work\n")
    (student / "notes.py").write_text("my notes\n")
    assert compare_package(built) == [
        "student/mean.py is out of date",
        "student/notes.py is not made from reference/",
    ]
    with pytest.raises(ReleaseError, match=r"by hand(.|\n)*student/mean.py(.|\n)*--force"):
        write_release(make_release(built), built.output)
    assert (student / "mean.py").read_text() == "my work\n"
    write_release(make_release(built), built.output, force=True)
    assert "weighted_mean" in (student / "mean.py").read_text()
    assert (student / "notes.py").read_text() == "my notes\n"


def test_what_git_knows_may_be_replaced(built: Project) -> None:
    """As after a fresh clone: no manifest, and the committed skeleton is an older one."""

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=built.output, check=True, capture_output=True)

    git("init", "-q")
    git("add", "student")
    git("commit", "-q", "-m", "first")
    (built.output / "dist" / "MANIFEST.json").unlink()
    change_reference(built)
    assert "student/mean.py" in write_release(make_release(built), built.output)
    (built.output / "dist" / "MANIFEST.json").unlink()
    change_reference(built)  # now mean.py differs from git's, and no manifest knows it
    (built.output / "student" / "mean.py").write_text("my work\n")
    with pytest.raises(ReleaseError, match="by hand"):
        write_release(make_release(built), built.output)


def test_without_git_nothing_is_taken_for_known(monkeypatch, tmp_path: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise FileNotFoundError("git")

    monkeypatch.setattr(placing.subprocess, "run", fail)
    assert placing._unchanged_in_git(tmp_path, {"a.py"}) == set()
