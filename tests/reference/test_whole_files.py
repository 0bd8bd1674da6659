"""Files are written whole or not at all, by the reference and by the grader alike."""

import inspect
import os
import subprocess
import sys
import threading

import pytest

from foundation import whole_files
from reference import whole_files as own
from reference.whole_files import in_one_piece, make_folder


@pytest.mark.parametrize(
    "function", ["in_one_piece", "make_folder", "is_stream", "_descriptor_path", "_copy_to_stream"]
)
def test_both_copies_are_the_same(function):
    copies = [inspect.getsource(getattr(module, function)) for module in (own, whole_files)]
    assert copies[0] == copies[1]


@pytest.mark.parametrize("stream", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/stderr"])
@pytest.mark.parametrize("is_file", [True, False])
def test_output_that_is_redirected_keeps_what_others_wrote(tmp_path, stream, is_file):
    program = (
        "from pathlib import Path\n"
        "from reference.whole_files import in_one_piece\n"
        "print('before')\n"
        f"with in_one_piece(Path({stream!r})) as unfinished:\n"
        "    unfinished.write_text('text\\n')\n"
        "print('after')\n"
    )
    path = tmp_path / "log"
    with path.open("w") as log:
        log.write("first\n")
        log.flush()
        output = log if is_file else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", program], stdout=output, stderr=subprocess.STDOUT, check=True)
        log.write("last\n")
    written = path.read_text() if is_file else f"first\n{done.stdout.decode()}last\n"
    assert written == "first\nbefore\ntext\nafter\nlast\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_takes_the_place_of_the_old_one_at_the_end(tmp_path):
    path = tmp_path / "new" / "a.txt"
    for text in ("first", "second"):
        with in_one_piece(path) as unfinished:
            unfinished.write_text(text)
            assert unfinished.suffix == ".txt"
            assert not path.exists() or path.read_text() == "first"
        assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error), in_one_piece(path) as unfinished:
        unfinished.write_text("half a new o")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_that_cannot_be_written_is_known_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    for path, kind in ((tmp_path, IsADirectoryError), (tmp_path / "file" / "a.txt", NotADirectoryError)):
        with pytest.raises(kind) as caught, in_one_piece(path):
            pytest.fail("the work was begun")
        assert str(tmp_path) in str(caught.value.filename)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    with in_one_piece(pipe) as unfinished:
        unfinished.write_text("text")
    reader.join(timeout=10)
    assert read == ["text"]
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_one(tmp_path, is_there):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "blob", tmp_path / "a.txt"
    link.symlink_to(target)
    if is_there:
        target.write_text("old")
    with in_one_piece(link) as unfinished:
        assert unfinished.suffix == ".txt"
        unfinished.write_text("new")
    assert link.is_symlink() and target.read_text() == "new"
    assert {path.name for path in tmp_path.rglob("*")} == {"a.txt", "store", "blob"}


def test_a_full_disk_is_reported_with_the_file(tmp_path):
    with pytest.raises(OSError) as caught, in_one_piece(tmp_path / "a.txt"):
        raise OSError(28, "No space left on device")
    assert str(caught.value) == f"[Errno 28] No space left on device: '{tmp_path / 'a.txt'}'"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    make_folder(tmp_path)
    with pytest.raises(NotADirectoryError):
        make_folder(tmp_path / "file")


def test_a_folder_that_must_not_be_written_to_is_refused(tmp_path, monkeypatch):
    def refuse(dir):  # a folder's permissions do not stop root, who runs tests in a container
        raise PermissionError(13, "Permission denied", f"{dir}/tmp123")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(PermissionError) as caught:
        make_folder(tmp_path)
    assert caught.value.filename == str(tmp_path)
