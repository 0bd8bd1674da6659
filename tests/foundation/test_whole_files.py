"""Files are written in one piece, and places where they cannot be are known beforehand."""

import os

import pytest

from foundation.whole_files import OutputError, check_file, check_folder, in_one_piece, write_whole


def test_a_file_is_whole_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "new" / "file.txt"
    write_whole(path, "é\r\n")
    assert path.read_bytes() == "é\r\n".encode()
    write_whole(path, b"two")
    assert path.read_bytes() == b"two" and list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), in_one_piece(path) as unfinished:
        unfinished.write_text("half of")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "folder", "text")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


def test_places_are_told_apart(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    for good in ("file", "new", "deep/new"):
        check_file(tmp_path / good)
    for good in (".", "new", "deep/new"):
        check_folder(tmp_path / good)
    wrong = ((check_file, "."), (check_file, "file/new"), (check_folder, "file"), (check_folder, "nowhere/a"))
    for check, bad in wrong:
        with pytest.raises(OutputError, match="folder"):
            check(tmp_path / bad)


def test_a_folder_that_is_not_ours_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *arguments: False)  # root may write anywhere
    with pytest.raises(OutputError, match="cannot be written to"):
        check_file(tmp_path / "new")
