"""``prepare`` and ``encode`` as processes: lines, bytes, broken streams, wrong numbers."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from data import __main__ as command_line
from data.encodings import WholeWords

KIT = Path(command_line.__file__).resolve().parent.parent


def run(*arguments: object) -> int:
    """The exit status of a command; argparse's too."""
    try:
        return command_line.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)


def process(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "data", *map(str, arguments)]
    return subprocess.run(command, cwd=KIT, stderr=subprocess.PIPE, check=False, timeout=60, **options)


@pytest.fixture
def encoding(tmp_path: Path) -> Path:
    """One that knows some words."""
    path = tmp_path / "tokenizer.json"
    path.write_text(WholeWords.train([["a", "b", "c", "d", "e", "f", "g", "ü"]], 9).to_json(), encoding="utf-8")
    return path


@pytest.fixture
def text(tmp_path: Path) -> list[object]:
    """Options that name a small text."""
    for side in ("de", "en"):
        (tmp_path / side).write_text("".join(f"{side} {n}\n" for n in range(20)))
    return ["--train", tmp_path / "de", tmp_path / "en", "--dev", 4, "--test", 0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a\u2028b\nc\fd\ne\u0085f\rg\n", "a b\nc d\ne f g\n"),
        ("a\r\n\r\nb", "a\n\nb\n"),
        ("\n", "\n"),
        ("", ""),
    ],
)
def test_a_line_in_a_line_out(encoding: Path, given: str, expected: str) -> None:
    done = process("encode", "--encoding", encoding, input=given.encode(), stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, expected, b"")


def test_no_locale_has_a_say(encoding: Path) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = process("encode", "--encoding", encoding, input="ü\n".encode(), stdout=subprocess.PIPE, env=ascii_only)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, "ü\n", b"")


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_stream_that_is_closed(
    encoding: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stream: str
) -> None:
    """Python has None in its place."""
    monkeypatch.setattr(sys, stream, None)
    assert run("encode", "--encoding", encoding) == 2
    monkeypatch.undo()
    assert f"standard {stream.removeprefix('std')}put: it is closed" in capsys.readouterr().err


def test_output_that_cannot_be_written(encoding: Path, text: list[object], tmp_path: Path) -> None:
    """One line; a reader that has enough is no error. The corpus is written all the same."""
    output = tmp_path / "corpus"
    for command in (["encode", "--encoding", encoding], ["prepare", *text, "--output", output]):
        with open(encoding, "rb") as cannot_write:
            done = process(*command, input=b"a\n", stdout=cannot_write)
        assert (done.returncode, done.stderr) == (2, b"error: standard output: Bad file descriptor\n")
    assert (output / "train.bpe").exists()
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as nobody_reads:
        done = process("encode", "--encoding", encoding, input=b"a\n" * 9999, stdout=nobody_reads)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--vocabulary", "9" * 20], "is not a whole number from 1 to 10000000"),
        (["--vocabulary", 10**8], "is not a whole number from 1 to 10000000"),
        (["--vocabulary", 0], "'0' is not a whole number from 1 to 10000000"),
        (["--most-tokens", 0], "'0' is not a whole number from 1 "),
        (["--dev", "9" * 99], "is not a whole number from 0 "),
        (["--seed", -1], "'-1' is not a whole number from 0 "),
        (["--output", ""], "argument --output: the name is empty"),
    ],
)
def test_values_out_of_range(
    text: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[object], message: str
) -> None:
    assert run("prepare", *text, "--output", tmp_path / "out", *more) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_empty_folder_name_is_refused_by_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("generate", "--output", "") == 2
    assert "the name is empty" in capsys.readouterr().err


def test_an_archive_that_is_damaged_in_the_middle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = gzip.compress(os.urandom(999).hex().encode())
    bad = tmp_path / "bad.gz"
    for content in (whole[:100] + b"\xff" * 100 + whole[200:], whole[:-20]):
        bad.write_bytes(content)
        assert run("prepare", "--train", bad, bad, "--output", tmp_path / "out") == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: {bad}: ") and said.count("\n") == 1
