"""Where the records of a class cannot be written: one line, status 1, and what is finished stays."""

import errno
import os
import shutil

import pytest

from autograder.__main__ import main
from autograder.classroom.errors import ClassError
from autograder.classroom.records import hold
from autograder.grading.record import read_record

from .conftest import StubGrader, run


def finished(output) -> list[str]:
    return sorted(path.stem for path in (output / "records").glob("*") if read_record(path).is_finished)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_full_disk_is_one_line_and_keeps_what_is_finished(folder, output, log, monkeypatch, capsys, number):
    calls, fsync = [], os.fsync

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 1:
            raise OSError(number, os.strerror(number))
        fsync(descriptor)

    arguments = ["grade-class", str(folder), "--output", str(output), "--jobs", "1"]
    with monkeypatch.context() as on_a_full_disk:
        on_a_full_disk.setattr(os, "fsync", full)
        assert main(arguments) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and os.strerror(number) in printed and "bob.json" in printed
    assert "finished results are kept" in printed and finished(output) == ["anna"]
    assert [path.name for path in (output / "records").iterdir()] == ["anna.json"]
    assert main(arguments) in (0, 1) and len(finished(output)) == 3


def test_a_folder_that_vanishes_is_not_made_anew(folder, output, use, capsys):
    class Vanishing(StubGrader):
        def parts(self, intake):
            if intake.name == "bob":
                output.rename(output.with_name("elsewhere"))
            yield from super().parts(intake)

    use(Vanishing)
    assert main(["grade-class", str(folder), "--output", str(output), "--jobs", "1"]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "is gone" in printed
    assert finished(output.with_name("elsewhere")) == ["anna"] and not output.exists()


def test_one_process_at_a_time_writes_to_a_folder(folder, output, log, capsys):
    with hold(output / "records"):
        assert main(["grade-class", str(folder), "--output", str(output)]) == 2
        assert "another grade-class" in capsys.readouterr().err
        with pytest.raises(ClassError), hold(output / "records"):
            pass
    assert len(run(folder, output)) == 3


def test_what_a_killed_process_has_begun_is_removed(folder, output, log):
    run(folder, output)
    shutil.copy(output / "records" / "anna.json", output / "records" / ".unfinished-17-abc.json")
    run(folder, output)
    assert sorted(path.name for path in (output / "records").iterdir()) == ["anna.json", "bob.json", "carl.json"]
