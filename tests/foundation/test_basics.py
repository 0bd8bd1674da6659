"""Files are written whole, text of strangers is printable, output may go away, jobs end in time, slips are named."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.command_line import Parser, UserError
from foundation.places import SECRET, term_secret
from foundation.processes import CPU, FAILED, WALL, Ended, ask_forked, run_forked, time_limit
from foundation.texts import as_score, clean, counted, first_of, printable, with_comment
from foundation.whole_files import check_file, check_folder, in_one_piece, write_whole


def test_a_file_is_whole_and_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "new" / "file.txt"
    write_whole(path, "é\r\n")
    assert path.read_bytes() == "é\r\n".encode()
    write_whole(path, b"two")
    with pytest.raises(KeyboardInterrupt), in_one_piece(path) as unfinished:
        unfinished.write_text("half of")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"two" and list(path.parent.iterdir()) == [path]
    with pytest.raises(IsADirectoryError):
        write_whole(path.parent, "text")
    assert list(path.parent.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_pipe_is_written_to(tmp_path):
    (tmp_path / "store").mkdir()
    target, link, pipe, read = tmp_path / "store" / "file", tmp_path / "link", tmp_path / "pipe", []
    link.symlink_to(target)
    for text in ("new", "newer"):
        check_file(link)
        write_whole(link, text)
        assert link.is_symlink() and target.read_text() == text
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    check_file(pipe)
    write_whole(pipe, "text")
    reader.join(timeout=10)
    assert read == ["text"] and pipe.is_fifo()
    assert {path.name for path in tmp_path.rglob("*")} == {"link", "store", "file", "pipe"}


def test_a_destination_is_checked_before_it_is_made(tmp_path):
    (tmp_path / "file").touch()
    for good in ("new", "deep/new"):
        check_file(tmp_path / good)
        check_folder(tmp_path / good)
    for check, bad in ((check_file, "."), (check_file, "file/new"), (check_folder, "file")):
        with pytest.raises(UserError, match="folder"):
            check(tmp_path / bad)


@given(st.text(max_size=300) | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Co"]), max_size=50))
def test_printable_text_is_printable(text):
    shown = printable(text)
    assert shown.isprintable() and len(shown) <= 200
    assert printable(shown) == shown, "what is written is read as it was, so that seals hold"
    if text.isprintable() and len(text) <= 200:
        assert shown == text
    kept = clean(text, 100)
    assert len(kept) <= 100 and clean(kept, 100) == kept and not {*kept} & {*"\x1b\r\u202e\u2028\ud800"}


def run(stdout):
    """A command that prints."""
    code = (
        "from foundation.command_line import run_command; raise SystemExit(run_command('kit', lambda: print(1) or 0))"
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=60)


def test_numbers_and_lists_read_as_people_write_them():
    assert [counted(number, "mark") for number in (1, 1203)] == ["1 mark", "1,203 marks"]
    assert [as_score(score) for score in (None, 10.0, 2.255)] == ["", "10", "2.25"]
    assert first_of(["anna", "bob"], 2) == "anna, bob" and first_of(["anna", "bob"], 1) == "anna and 1 more"


def test_a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one_line():
    read, write = os.pipe()
    os.close(read)
    done = run(write)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    with Path("/dev/full").open("wb") as full:
        done = run(full)
    assert done.returncode == 2 and "No space left on device" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words, problem",
    [
        ("translate --beamsize=4", "--beamsize=4; did you mean --beam-size?"),
        ("translate --preset tiny", "--preset tiny"),
        ("translate a b", "a b"),
    ],
)
def test_an_option_that_a_command_lacks_names_the_one_like_it(words, problem, capsys):
    parser = Parser(prog="kit")
    commands = parser.add_subparsers()
    commands.add_parser("translate").add_argument("--beam-size")
    commands.add_parser("train").add_argument("--preset")
    with pytest.raises(SystemExit) as end:
        parser.parse_args(words.split())
    expected = f"kit translate: unrecognized arguments: {problem} (--help shows an example)\n"
    assert end.value.code == 2 and capsys.readouterr().err == expected


def test_a_secret_is_drawn_where_there_is_none_and_kept_if_it_can_be_used(tmp_path, capsys):
    secret = term_secret(tmp_path)
    assert str(tmp_path / SECRET) in capsys.readouterr().err
    assert secret == term_secret(tmp_path) and len(secret) == 65
    assert capsys.readouterr().err == ""
    assert stat.S_IMODE((tmp_path / SECRET).stat().st_mode) == 0o600
    (tmp_path / SECRET).write_bytes(b"a short one\n")
    with pytest.raises(UserError, match="shorter than 16 characters"):
        term_secret(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data").write_text("a file")
    with pytest.raises(UserError, match="secret cannot be kept"):
        term_secret(tmp_path / "other")


def test_jobs_run_side_by_side_and_are_ended_in_time():
    def work(job):
        yield job
        if job == 2:
            signal.pause()
        yield job + 10

    messages: dict[int, list] = {job: [] for job in range(4)}
    for job, message in run_forked(range(4), work, 0.5, n_children=2):
        messages[job].append(message)
    assert messages.pop(2) == [2, Ended(-signal.SIGKILL, "it took longer than 0.5 s")]
    assert messages == {job: [job, job + 10, Ended(0)] for job in (0, 1, 3)}


def test_each_item_has_an_answer_or_an_end(capfd):
    def answer(item):
        if item == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif item == "ended":
            os._exit(3)
        elif item == "raises":
            raise KeyError("odd")
        return (lambda: item) if item == "unsent" else item.upper()

    answers = dict(ask_forked(["killed", "ended", "raises", "unsent", "well"], answer, 20, n_children=2))
    assert answers.pop("unsent").status == FAILED
    assert answers == {
        "killed": Ended(-9, "ended by signal 9"),
        "ended": Ended(3, "ended with status 3"),
        "raises": Ended(FAILED, "KeyError: 'odd'"),
        "well": "WELL",
    }
    printed = capfd.readouterr().err
    assert "Traceback" in printed and "KeyError: 'odd'" in printed


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize(("clock", "inner"), [(WALL, 0.05), (CPU, 10)])
def test_what_takes_longer_is_stopped_and_an_outer_limit_outlives_an_inner_one(clock, inner):
    with pytest.raises(TimeoutError), time_limit(0.2, clock) as struck:
        with pytest.raises(TimeoutError), time_limit(inner, clock):
            spin(20)
        spin(20)
    assert struck
    with time_limit(5, clock) as struck:
        pass
    spin(0.01)
    assert not struck


def test_a_thread_cannot_have_a_limit():
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="main thread"):
        pool.submit(time_limit(5).__enter__).result()


def test_children_end_with_their_parent():
    """Also where it is killed, and where it has no namespaces to take them along."""
    pipe, sender = os.pipe()
    parent = os.fork()
    if parent == 0:

        def work(job: int):
            os.write(sender, b"%d\n" % os.getpid())
            time.sleep(60)
            yield job

        try:
            [*run_forked([1, 2], work, 60, n_children=2)]
        finally:
            os._exit(0)
    os.close(sender)
    started = b""
    while started.count(b"\n") < 2:
        started += os.read(pipe, 100)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    with time_limit(20):
        assert os.read(pipe, 100) == b"", "all that could write have ended"
    os.close(pipe)


def test_a_todo_is_told_with_its_comment_or_that_its_line_was_left():
    lines = ["# TODO 1.2: average", "# the values.", 'raise NotImplementedError("TODO 1.2")']
    assert with_comment("TODO 1.2", lines, 3) == "TODO 1.2: average the values."
    left = with_comment("TODO 1.2", [*lines[:2], "x = 1", lines[2]], 4)
    assert left == "TODO 1.2: once that is written, delete the line that raises this error"
    assert with_comment("not yet", [*lines[:2], "x = 1", lines[2]], 4) == "not yet"
