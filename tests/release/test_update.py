"""`python -m release update` on a student's folder: answers stay, news arrive."""

import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from release.__main__ import main
from release.build import Project
from release.packing import HANDED_OUT, make_zip

ANSWER = "    return sum(values) / len(values)  # my first try\n"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def update(project: Project, student: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command; returns exit status, stdout and stderr."""

    def call(*arguments: str, folder: Path = student) -> tuple[int, str, str]:
        status = main(["update", str(folder), "--root", str(project.root), *arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def at_work(project: Project, student: Path, edit) -> Path:
    """A student has solved a task, and the release has been corrected in four files since."""
    text = (student / "student" / "mean.py").read_text()
    begin = text.index("    raise NotImplementedError")
    end = text.index("\n", begin) + 1
    (student / "student" / "mean.py").write_text(text[:begin] + ANSWER + text[end:])
    (student / "student" / "helper.py").write_text("MINE = 1\n")
    edit(project.reference / "mean.py", "TODO 1.2: divide", "TODO 1.2: carefully divide")
    edit(project.reference / "mean.py", "The mean of values, weighted;", "The weighted mean;")
    edit(project.reference / "table.py", "times `sqrt(d_model)`", "times `math.sqrt(d_model)`")
    (project.reference / "more.py").write_text("x = 1\n")
    edit(project.root / "autograder" / "assignment" / "tests" / "test_table.py", "Three of them.", "Three.")
    return student


def test_answers_stay_and_news_arrive(update, at_work: Path) -> None:
    status, out, err = update()
    assert (status, err) == (0, "")
    mean = (at_work / "student" / "mean.py").read_text()
    assert ANSWER in mean and "carefully divide" in mean and "The weighted mean;" in mean
    assert "math.sqrt(d_model)`" in (at_work / "student" / "table.py").read_text()
    assert (at_work / "student" / "helper.py").read_text() == "MINE = 1\n"
    assert (at_work / "student" / "more.py").is_file()
    for line in ("merged    student/mean.py", "replaced  student/table.py", "added     student/more.py"):
        assert line in out
    assert update() == (0, f"{at_work}: already up to date\n", "")


def test_a_trial_changes_nothing_and_a_backup_holds_what_was_changed(update, at_work: Path) -> None:
    before = contents(at_work)
    status, out, _ = update("--dry-run")
    assert status == 0 and "would be merged    student/mean.py" in out
    assert contents(at_work) == before
    assert f"backup: {at_work / 'before-update-1.zip'}\n" in update()[1]
    with zipfile.ZipFile(at_work / "before-update-1.zip") as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    after = contents(at_work)
    lost = {path for path, content in before.items() if after.get(path) != content}
    assert lost <= kept.keys() and all(kept[path] == before[path] for path in kept)


def test_conflicts_are_named_and_the_students_lines_stay(update, at_work: Path, project: Project, edit) -> None:
    edit(at_work / "student" / "mean.py", "# TODO 1.2: divide", "# divided: divide")
    (at_work / "grade.py").write_text("mine = 1\n")
    (project.root / "grade.py").write_text("print('new')\n")
    status, out, _ = update()
    assert status == 1
    assert "conflict  student/mean.py:" in out
    assert "yours stays; the release's goes beside it, as student/mean.py.new" in out
    assert "conflict  grade.py: changed by you and by the release" in out
    mean = (at_work / "student" / "mean.py").read_text()
    assert ANSWER in mean and "# divided: divide" in mean
    assert "carefully divide" in (at_work / "student" / "mean.py.new").read_text()
    assert (at_work / "grade.py").read_text() == "mine = 1\n"
    assert (at_work / "grade.py.new").read_text() == "print('new')\n"


def test_a_file_that_is_gone_from_the_release(update, student: Path, project: Project) -> None:
    for name in ("more.py", "mine.py"):
        (project.reference / name).write_text("x = 1\n")
    update()
    (student / "student" / "mine.py").write_text("x = 2\n")
    for name in ("more.py", "mine.py"):
        (project.reference / name).unlink()
    status, out, _ = update()
    assert status == 1 and "removed   student/more.py" in out and not (student / "student" / "more.py").exists()
    assert "student/mine.py: no longer part of the release" in out
    assert (student / "student" / "mine.py").read_text() == "x = 2\n"
    assert zipfile.ZipFile(student / "before-update-2.zip").read("student/more.py") == b"x = 1\n"


def test_an_update_that_failed_on_the_way_is_finished_by_the_next(update, at_work: Path, monkeypatch) -> None:
    before = contents(at_work)
    replace_file, n_calls = os.replace, 0

    def fail_late(source: Path, target: Path) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 4:
            raise OSError(28, "No space left on device", str(target))
        replace_file(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_late)
        status, _, err = update()
    assert status == 2 and "No space left" in err
    with zipfile.ZipFile(at_work / "before-update-1.zip") as backup:
        assert backup.read("student/mean.py") == before["student/mean.py"]
    assert update()[0] == 0
    mean = (at_work / "student" / "mean.py").read_text()
    assert mean.count(ANSWER) == 1 and "carefully divide" in mean and (at_work / "student" / "more.py").is_file()
    assert update()[1] == f"{at_work}: already up to date\n"


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: (folder / HANDED_OUT).unlink(), "has no .handed_out.zip"),
        (lambda folder: (folder / HANDED_OUT).write_bytes(b"PK"), "cannot be used"),
        (lambda folder: (folder / HANDED_OUT).write_bytes(make_zip({"checksums.json": b'{"../x": "1"}'})), "leads out"),
        (lambda folder: shutil.rmtree(folder), "is not a folder"),
    ],
)
def test_what_cannot_be_updated_is_said_in_one_line(update, student: Path, spoil, says: str) -> None:
    spoil(student)
    status, out, err = update()
    assert (status, out) == (2, "") and says in err and "Traceback" not in err


def test_links_are_not_followed(update, at_work: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    (at_work / "before-update-1.zip").symlink_to(outside)
    assert update()[0] == 0 and not outside.exists() and (at_work / "before-update-2.zip").is_file()
    outside.write_text("secret = 1\n")
    (at_work / "student" / "table.py").unlink()
    (at_work / "student" / "table.py").symlink_to(outside)
    status, _, err = update()
    assert status == 2 and "is a link" in err
    assert outside.read_text() == "secret = 1\n" and not (at_work / "before-update-3.zip").exists()


def test_an_old_archive_that_is_none(update, student: Path, tmp_path: Path) -> None:
    packed = (student.parent / "student.zip").read_bytes()
    half = packed.index(b"PK\x01\x02") // 2
    damaged = packed[:half] + bytes(255 - byte for byte in packed[half : half + 64]) + packed[half + 64 :]
    outside = make_zip({"a.py": b""})
    none = "is not a zip archive that can be read ("
    for content, says in ((b"text", none), (damaged, none), (outside, "has files outside the folder assignment/")):
        (tmp_path / "old.zip").write_bytes(content)
        status, _, err = update("--base", str(tmp_path / "old.zip"))
        assert status == 2 and says in err
