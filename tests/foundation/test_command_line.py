"""What all command lines of the kit share, tried with commands of several packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.__main__ import make_parser
from foundation.command_line import Parser

COMMAND = [sys.executable, "-m", "data", "fetch"]


def test_a_reader_that_goes_away_is_no_error():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(COMMAND, stdout=write, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_without_room_is_said_in_one_line():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(COMMAND, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 2 and "No space left on device" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("why", ["", " "])
def test_a_decision_needs_a_reason(why, capsys):
    with pytest.raises(SystemExit, match="2"):
        make_parser().parse_args(["override", "anna", "--task", "1.3", "--points", "4", "--why", why])
    assert "--why: it is empty; say why, in a few words" in capsys.readouterr().err


def test_an_example_stays_on_its_line(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    parser = Parser(prog="kit", description="word " * 30, epilog="example: " + "kit --flag value " * 6)
    parser.print_help()
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "example: " + "kit --flag value " * 6
    assert max(map(len, printed[:-1])) <= 60, "the rest is wrapped"


@pytest.mark.parametrize("command", ["grade", "list-class", "override", "record-schema"])
def test_each_command_shows_an_example(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        make_parser().parse_args([command, "--help"])
    assert f"\nexample: python -m autograder {command}" in capsys.readouterr().out
