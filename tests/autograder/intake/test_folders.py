"""A submission that is a folder: links are never followed, and only what counts is looked at."""

import os

import pytest

from autograder.intake import IntakeError, IntakeRefusedError, take_in
from autograder.intake.errors import RefusedError
from autograder.intake.files import folders as folders_module
from autograder.intake.files.folders import Folder
from foundation.assignment_file import read_assignment

from .conftest import LAYERS, RELEASE


def test_modules_come_from_the_submission_else_from_the_release(write_folder, take):
    folder = write_folder({"layers.py": LAYERS, "translations.txt": "a b\n", "experiment.py": "1/0", "README.md": ""})
    intake = take(folder)
    assert intake.name == "anna"
    assert intake.submitted == {"layers"}
    assert intake.sources["layers"] == ("layers.py", LAYERS)
    assert intake.sources["attention"] == ("attention.py", RELEASE["attention"])
    assert intake.translations == b"a b\n"
    assert sorted(intake.hashes) == ["layers.py", "translations.txt"]
    # What no module of the contract imports is not part of the package, be it the release's.
    assert "experiment" not in intake.sources and "config" in intake.sources
    assert intake.notes == []


@pytest.mark.parametrize("kind", ["link", "pipe", "folder link", "broken link"])
@pytest.mark.parametrize("name", ["layers.py", "student/layers.py", "work.ipynb"])
def test_what_counts_must_be_an_ordinary_file(write_folder, reason, tmp_path, kind, name):
    folder = write_folder({"other/x": ""})
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"link": secret, "folder link": tmp_path, "broken link": "nowhere"}[kind])
    assert f"'{name}': it is a {'named pipe' if kind == 'pipe' else 'symbolic link'}" in reason(folder)


def test_a_link_in_the_place_of_the_package(write_folder, reason, take, tmp_path):
    write_folder({"layers.py": LAYERS}, name="else")
    folder = write_folder({"note.txt": ""})
    (folder / "student").symlink_to(tmp_path / "else")
    assert "'student': it is a symbolic link" in reason(folder)
    (folder / "layers.py").write_text(LAYERS)
    assert take(folder).notes == ["skipped: student"]


def test_links_elsewhere_do_no_harm(write_folder, take, tmp_path):
    folder = write_folder({"layers.py": LAYERS, "venv/bin/x": "", "mine/y": ""})
    (folder / "venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    (folder / "mine" / "layers.py").symlink_to(tmp_path / "secret")
    (folder / "corpus").symlink_to(tmp_path)
    (folder / ".hidden").symlink_to(tmp_path)
    intake = take(folder)
    assert intake.submitted == {"layers"}
    assert intake.notes == ["skipped: corpus, mine/layers.py"]


def test_the_folder_itself_is_no_link(write_folder, reason, tmp_path):
    folder = write_folder({"layers.py": LAYERS})
    (tmp_path / "link").symlink_to(folder)
    assert "it is a symbolic link" in reason(tmp_path / "link")


def test_a_link_that_is_put_in_after_the_listing(write_folder, tmp_path):
    folder = write_folder({"student/layers.py": LAYERS})
    (tmp_path / "layers.py").write_text("secret")
    listed = Folder(folder, "student")
    (folder / "student").rename(folder / "away")
    (folder / "student").symlink_to(tmp_path)
    with pytest.raises(RefusedError, match="is a link"):
        listed.read("student/layers.py")
    (folder / "student").unlink()
    (folder / "student").mkdir()
    (folder / "student" / "layers.py").symlink_to(tmp_path / "layers.py")
    with pytest.raises(RefusedError, match="it is a symbolic link"):
        listed.read("student/layers.py")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda folder: folder / "nowhere", "no such file"),
        (lambda folder: folder / ("x" * 300), "too long"),
    ],
)
def test_what_is_not_there_is_the_callers_slip(tmp_path, release, make, message):
    with pytest.raises(IntakeError, match="(?i)" + message) as caught:
        take_in(make(tmp_path), release, read_assignment())
    assert not isinstance(caught.value, IntakeRefusedError)


def test_a_release_that_is_none(write_folder, tmp_path):
    with pytest.raises(IntakeError, match="embedding.py is missing") as caught:
        take_in(write_folder({"layers.py": LAYERS}), tmp_path / "nowhere", read_assignment())
    assert not isinstance(caught.value, IntakeRefusedError)


def test_other_files_are_refused_with_what_would_be_right(tmp_path, reason):
    for name, content, kind in (
        ("anna.pdf", b"%PDF", "a PDF"),
        ("anna.zip", b"Rar!", "a RAR archive"),
        ("layers.py", b"x = 1", "none of these"),
        ("a.zip", b"", "empty"),
        ("b.tar.gz", b"BZh9", "none of these"),
    ):
        (tmp_path / name).write_bytes(content)
        expected = f"expected a folder, a .zip, a .tar.gz or a notebook (.ipynb); this is {kind}"
        assert reason(tmp_path / name).endswith(expected)


def test_devices_and_pipes_are_not_opened(tmp_path, reason):
    os.mkfifo(tmp_path / "anna.zip")
    assert "it is a named pipe" in reason(tmp_path / "anna.zip")


@pytest.mark.parametrize("others", [[], ["comment.html"], [".DS_Store"]])
def test_a_folder_around_an_archive(write_folder, write_zip, take, reason, others):
    content = write_zip([("student/layers.py", LAYERS)]).read_bytes()
    folder = write_folder({"work.zip": content, **dict.fromkeys(others, "")})
    intake = take(folder)
    assert intake.name == "anna" and intake.submitted == {"layers"} and "work.zip" in intake.hashes
    (folder / "second.zip").write_bytes(content)
    assert "2 archives, such as 'second.zip' and 'work.zip'; hand in one of them" in reason(folder)
    (folder / "second.zip").unlink()
    (folder / "masks.py").write_text("")
    assert take(folder).submitted == {"masks"}
    (folder / "masks.py").unlink()
    (folder / "work.zip").write_bytes(write_zip([("work.zip", content)]).read_bytes())
    assert "'work.zip' is another archive" in reason(folder)


@pytest.mark.parametrize("place", ["a/b", "a/student/c", "a/b/student"])
def test_files_too_deep_are_found_and_named(write_folder, write_zip, reason, place):
    where = f"too deep in it, in '{place}/' (layers.py, model.py); hand in that folder"
    files = {f"{place}/layers.py": LAYERS, f"{place}/model.py": "", "a/notes.txt": ""}
    assert where in reason(write_folder(files))
    assert where in reason(write_zip([*files.items()]))


def test_an_empty_folder(tmp_path, reason):
    (tmp_path / "empty").mkdir()
    assert "none of the assignment's files (embedding.py, attention.py, layers.py, …" in reason(tmp_path / "empty")


def test_translations_alone_are_a_submission(write_folder, take):
    intake = take(write_folder({"translations.txt": "a\n"}))
    assert intake.translations == b"a\n" and not intake.submitted and "layers" in intake.sources


def test_too_many_entries(write_folder, reason, monkeypatch):
    monkeypatch.setattr(folders_module, "MAX_ENTRIES", 10)
    assert "more than 10 files" in reason(write_folder({f"{i}.txt": "" for i in range(11)}))


def test_large_folders_of_other_things_are_not_searched(write_folder, take, monkeypatch):
    monkeypatch.setattr(folders_module, "MAX_ENTRIES", 30)
    files = {f"data/deep/{i}.txt": "" for i in range(50)} | {f".git/{i}": "" for i in range(50)}
    assert take(write_folder({"layers.py": LAYERS, **files})).submitted == {"layers"}
