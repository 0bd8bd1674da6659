"""`python -m release update` on a student's folder: answers stay, news arrive."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, new_output

from foundation.places import HANDED_OUT
from release.build import Project, make_release, write_release
from release.update import changes_of, merge_lines

from .conftest import contents, edit

ANSWER = "        self.weight = self.bias = 1  # my first try\n"


@pytest.fixture
def update(project: Project, student: Path, run) -> Callable[..., tuple[int, str, str]]:
    """Builds and runs the command; returns exit status, stdout and stderr."""

    def call() -> tuple[int, str, str]:
        write_release(make_release(project), project.root)
        return run("update", str(student))

    return call


@pytest.fixture
def at_work(project: Project, student: Path) -> Path:
    """A student has begun a task, and the release has been corrected in five files since."""
    edit(student / "student" / "affine.py", '        raise NotImplementedError("TODO 1.1")\n', ANSWER)
    (student / "student" / "helper.py").write_text("MINE = 1\n")
    with (student / "README.md").open("a") as file:
        file.write("My note.\n")
    edit(project.root / "assignment" / "handout.md", "You write", "By Friday, you write")
    edit(project.reference / "affine.py", "TODO 1.1: make", "TODO 1.1: carefully make")
    edit(project.reference / "affine.py", "x W + b, with", "x @ W + b, with")
    edit(project.reference / "loss.py", "a scalar.", "as a scalar.")
    (project.reference / "more.py").write_text("x = 1\n")
    edit(project.root / "assignment" / "tests" / "test_1_1_affine.py", "x W + b.", "x @ W + b.")
    return student


def test_answers_stay_and_news_arrive(update, at_work: Path, run) -> None:
    before = contents(at_work)
    status, out, err = update()
    assert (status, err) == (0, "")
    affine = (at_work / "student" / "affine.py").read_text()
    assert ANSWER in affine and "carefully make" in affine and "x @ W + b, with" in affine
    assert "as a scalar." in (at_work / "student" / "loss.py").read_text()
    assert (at_work / "student" / "helper.py").read_text() == "MINE = 1\n"
    assert all(text in (at_work / "README.md").read_text() for text in ("By Friday, you write", "My note."))
    for line in ("merged    student/affine.py", "replaced  student/loss.py", "added     student/more.py"):
        assert line in out
    assert f"backup: {at_work / 'before-update-1.zip'}\n" in out
    with zipfile.ZipFile(at_work / "before-update-1.zip") as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    after = contents(at_work)
    lost = {path for path, content in before.items() if after.get(path) != content}
    assert lost <= kept.keys() and all(kept[path] == before[path] for path in kept)
    for folder in (at_work, at_work.parent):  # where only one was unpacked
        assert run("update", str(folder)) == (0, f"{at_work}: already up to date\n", "")


def test_conflicts_are_named_and_the_students_file_stays(update, at_work: Path, project: Project) -> None:
    edit(at_work / "student" / "affine.py", "x W + b, with", "Mine, with")
    (at_work / "given" / "__init__.py").write_text("mine = 1\n")
    (project.root / "given" / "__init__.py").write_text("SIZE = 4\n")
    before = (at_work / "student" / "affine.py").read_text()
    status, out, _ = update()
    assert status == 1
    for path in ("student/affine.py", "given/__init__.py"):
        assert f"conflict: yours stays, the release's is {path}.new" in out
    assert (at_work / "student" / "affine.py").read_text() == before
    assert "carefully make" in (at_work / "student" / "affine.py.new").read_text()
    assert (at_work / "given" / "__init__.py").read_text() == "mine = 1\n"
    assert (at_work / "given" / "__init__.py.new").read_text() == "SIZE = 4\n"
    (at_work / "given" / "__init__.py.new").unlink()
    status, out, _ = update()  # until the student has looked at it
    assert status == 1 and out.endswith("into yours, then delete it: student/affine.py.new\n") and "given" not in out
    (at_work / "student" / "affine.py.new").unlink()
    assert update()[:2] == (0, f"{at_work}: already up to date\n")


def test_a_file_that_is_gone_from_the_release(update, student: Path, project: Project) -> None:
    for name in ("more.py", "mine.py"):
        (project.reference / name).write_text("x = 1\n")
    update()
    (student / "student" / "mine.py").write_text("x = 2\n")
    for name in ("more.py", "mine.py"):
        (project.reference / name).unlink()
    status, out, _ = update()
    assert status == 1 and "removed   student/more.py" in out and not (student / "student" / "more.py").exists()
    assert "changed by you, no longer part of the release: student/mine.py" in out
    assert (student / "student" / "mine.py").read_text() == "x = 2\n"
    assert zipfile.ZipFile(student / "before-update-2.zip").read("student/more.py") == b"x = 1\n"


def test_an_update_that_failed_on_the_way_is_finished_by_the_next(update, at_work, project, monkeypatch) -> None:
    write_release(make_release(project), project.root)
    replace_file, calls = os.replace, []

    def fail_late(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 4:
            raise OSError(28, "No space left on device", str(target))
        replace_file(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_late)
        status, _, err = update()
    assert status == 2 and "No space left" in err
    assert update()[0] == 0
    affine = (at_work / "student" / "affine.py").read_text()
    assert affine.count(ANSWER) == 1 and "carefully make" in affine and (at_work / "student" / "more.py").is_file()
    assert update()[1] == f"{at_work}: already up to date\n"


def test_what_cannot_be_updated_is_said_in_one_line(project, at_work: Path, run, tmp_path: Path) -> None:
    def refusal(folder: Path = at_work) -> str:
        status, out, err = run("update", str(folder))
        assert (status, out, "Traceback" in err) == (2, "", False) and not (at_work / "before-update-1.zip").exists()
        return err

    write_release(make_release(project), project.root)
    outside, loss = tmp_path / "outside.py", at_work / "student" / "loss.py"
    outside.write_text("secret = 1\n")
    loss.unlink()
    loss.symlink_to(outside)
    assert "leads out of the folder" in refusal() and outside.read_text() == "secret = 1\n"
    shutil.copytree(at_work, at_work.parent / "another")
    assert f"(another, {at_work.name} are)" in refusal(at_work.parent)
    (at_work / HANDED_OUT).write_bytes(b"PK")
    assert "is not an archive" in refusal()
    (at_work / HANDED_OUT).unlink()
    assert ".handed_out.zip is not in it" in refusal()


LINES = st.sampled_from(["y = x", "return y", "", "# mine", "if y:", "    pass"])
ANSWERS = st.lists(LINES, min_size=1, max_size=5).map(lambda lines: "".join(f"        {line}\n" for line in lines))


HINT = "        # TODO 1.0: do one thing,\n        # and do it well.\n"
HINTS = [HINT, HINT.replace("one thing", "this"), f"{HINT}        # Really.\n", HINT.replace(",\n        #", "")]


@given(st.lists(st.tuples(st.sampled_from(HINTS), st.none() | ANSWERS), min_size=3, max_size=3))
def test_answers_meet_corrected_hints_without_conflict(todos: list[tuple[str, str | None]]) -> None:
    base = student = new = expected = ""
    for number, (corrected, answer) in enumerate(todos):
        hint, corrected = (text.replace("1.0", f"1.{number}") for text in (HINT, corrected))
        left = f'        raise NotImplementedError("TODO 1.{number}")\n'
        base, student = f"{base}{hint}{left}\n", f"{student}{hint}{answer or left}\n"
        new, expected = f"{new}{corrected}{left}\n", f"{expected}{corrected}{answer or left}\n"
    assert merge_lines(base, student, new) == expected


def notebook(*sources: str) -> bytes:
    cells = [new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(sources)]
    return f"{nbformat.writes(new_notebook(cells=cells))}\n".encode()


def test_a_notebook_keeps_answers_and_own_cells_and_gets_news(tmp_path) -> None:
    todo = 'raise NotImplementedError("TODO 1.1")'
    old = notebook("prose …", f"# TODO 1.1: do it.\n{todo}\n", "test 1")
    new = notebook("corrected prose …", f"# TODO 1.1: do it well.\n{todo}\n", "test 2")
    begun = nbformat.reads(notebook("prose …", "# TODO 1.1: do it.\nreturn x", "my own", "test 1"), as_version=4)
    begun.cells[1].update(execution_count=3, outputs=[new_output("stream", text="shown")])
    begun.cells[2].id, begun.cells[3].id = "mine", "cell-2"
    (tmp_path / "a.ipynb").write_text(nbformat.writes(begun))
    [change] = changes_of(tmp_path, {"a.ipynb": old}, {"a.ipynb": new})
    merged = nbformat.reads(change.wanted, as_version=4)
    expected = ["corrected prose …", "# TODO 1.1: do it well.\nreturn x", "my own", "test 2"]
    assert change.how == "merged" and [cell.source for cell in merged.cells] == expected
    assert merged.cells[1].outputs[0].text == "shown"
    colab = json.loads(nbformat.writes(begun)) | {"metadata": {"colab": {"provenance": []}}}
    (tmp_path / "a.ipynb").write_text(json.dumps(colab, indent=2, ensure_ascii=True))
    [change] = changes_of(tmp_path, {"a.ipynb": old}, {"a.ipynb": new})
    assert [cell.source for cell in nbformat.reads(change.wanted, as_version=4).cells] == expected, "saved by Colab"
    for text in ("{", "{}", "[]", '{"nbformat": 4, "nbformat_minor": 5, "cells": [{}]}'):
        (tmp_path / "a.ipynb").write_text(text)
        [change] = changes_of(tmp_path, {"a.ipynb": old}, {"a.ipynb": new})
        assert (change.path, change.wanted) == ("a.ipynb.new", new)
