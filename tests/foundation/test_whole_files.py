"""Files are written whole, streams are written to, and destinations are checked beforehand."""

import os
import threading

import pytest

from foundation.command_line import UserError
from foundation.whole_files import (
    check_file,
    check_folder,
    in_one_piece,
    write_whole,
)


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


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_a_link(tmp_path, is_there):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "file", tmp_path / "link"
    link.symlink_to(target)
    if is_there:
        target.write_text("old")
    check_file(link)
    write_whole(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert {path.name for path in tmp_path.rglob("*")} == {"link", "store", "file"}


def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    check_file(pipe)
    write_whole(pipe, "text")
    reader.join(timeout=10)
    assert read == ["text"] and pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_places_are_told_apart(tmp_path):
    (tmp_path / "file").touch()
    for good in ("file", "new", "deep/new"):
        check_file(tmp_path / good)
    for good in (".", "new", "deep/new"):
        check_folder(tmp_path / good)
    wrong = ((check_file, "."), (check_file, "file/new"), (check_folder, "file"))
    for check, bad in wrong:
        with pytest.raises(UserError, match="folder"):
            check(tmp_path / bad)
