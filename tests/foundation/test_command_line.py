"""What all command lines of the kit share, tried with commands of several packages."""

import os
import subprocess
import sys
from pathlib import Path

from foundation.command_line import Parser

PRINTS = "from foundation.command_line import run_command; raise SystemExit(run_command('kit', lambda: print(1) or 0))"
COMMAND = [sys.executable, "-c", PRINTS]


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


def test_an_example_stays_on_its_line(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    parser = Parser(prog="kit", description="word " * 30, epilog="example: " + "kit --flag value " * 6)
    parser.print_help()
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "example: " + "kit --flag value " * 6
    assert max(map(len, printed[:-1])) <= 60, "the rest is wrapped"
