"""grade.py as its users meet it: a process with a terminal, an exit status, and files from strangers."""

import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.scoring import as_json, judge, read_thresholds, score


@pytest.fixture
def files(write, corpus):
    """Translations and references of 200 ordinary sentences, as arguments; BLEU is about 0.6."""
    translations, references = corpus(200, 0.8, seed=1)
    return [
        *("--translations", write("translations.txt", translations)),
        *("--references", write("references.txt", references)),
    ]


def scored_by(files):
    translations, references = (files[i].read_text().splitlines() for i in (1, 3))
    return score(translations, references)


def test_report_and_status(grade, files):
    result = scored_by(files)
    below, above = round(result.low - 0.05, 2), round(result.high + 0.05, 2)
    done = grade(*files, "--threshold", f"low={below}")
    assert (done.returncode, done.err) == (0, "")
    assert done.out.splitlines()[0].startswith(f"BLEU       {result.bleu:.2f}   95% interval {result.low:.2f} to")
    assert f"chrF       {result.chrf:.2f}\nsentences  200\nsignature  {result.signature}\n" in done.out
    assert f"\nlow            {below:.2f}  passed\n" in done.out
    done = grade(*files, "--threshold", f"low={below}", "--threshold", f"high={above}")
    assert (done.returncode, done.err) == (1, "")
    assert f"\nhigh           {above:.2f}  failed\n" in done.out


@pytest.mark.parametrize(("shift", "status", "outcome"), [(-0.001, 0, "passed"), (0.001, 1, "failed")])
def test_borderline_goes_by_the_value(grade, files, shift, status, outcome):
    done = grade(*files, "--threshold", f"near={scored_by(files).bleu + shift:.10f}")
    assert done.returncode == status
    assert f"borderline (counts as {outcome})" in done.out
    assert "cannot settle it" in done.out and "What to do: points depend on BLEU itself." in done.out
    assert max(map(len, done.out.splitlines())) <= 100


def test_json(grade, files):
    done = grade(*files, "--json", "--seed", 3, "--samples", 200)
    translations, references = (files[i].read_text().splitlines() for i in (1, 3))
    result = score(translations, references, samples=200, seed=3)
    verdicts = judge(result, read_thresholds())
    assert json.loads(done.out) == as_json(result, verdicts)
    assert done.returncode == (0 if all(v.is_reached for v in verdicts) else 1)
    assert [v["name"] for v in json.loads(done.out)["thresholds"]] == ["beginner", "advanced"]


def test_thresholds_from_a_file(grade, files, write):
    settings = write("mine.toml", "[thresholds]\nsome = 0.01\nall = 1.0\n")
    assert grade(*files, "--thresholds", settings).returncode == 1
    done = grade(*files, "--thresholds", settings, "--threshold", "all=0.02")
    assert done.returncode == 0
    assert "\nall            0.02  passed\n" in done.out


def test_course_format_on_both_sides(grade, write):
    lines = ["le ch@@ at|||the ca@@ t sleeps well .", "un chien|||a do@@ g sleeps b@@ ad@@ ly ."]
    done = grade("--translations", write("t", lines), "--references", write("r", lines), "--json")
    data = json.loads(done.out)
    assert (data["bleu"], data["n"], data["hypothesis_length"]) == (1.0, 2, 10)
    assert "every line has the form src|||tgt, so only what follows ||| is scored" in data["notes"][0]


def test_same_file_twice_is_said(grade, files):
    done = grade("--translations", files[3], "--references", files[3])
    assert (done.returncode, done.err) == (0, "")
    assert "\nnote: translations and references are the same file\n" in done.out


BAD_TRANSLATIONS = {
    "one line too few": ("a\n", "1 line, but there are 2 references"),
    "one line too many": ("a\nb\nc\n", "3 lines, but there are 2 references"),
    "empty": (b"", "is empty"),
    "latin-1": (b"a\n\xe9\n", "not UTF-8: byte 0xe9 at offset 2 (line 2)"),
    "UTF-16": ("a\nb\n".encode("utf-16"), "UTF-16"),
    "NUL": (b"a\n\0\n", "NUL byte at offset 2 (line 2)"),
    "lone CR": (b"a\rb\r", "lone carriage returns"),
    "U+2028": ("a\u2028b\n", "U+2028"),
    "long line": (b"a\n" + b"b" * 9000, "line 2 is 9,000 characters long"),
    "mixed forms": ("a|||b\nc\n", "line 1 has |||, but line 2 does not"),
}


def refused(done, reason):
    """One printable line on stderr, nothing on stdout, status 2."""
    assert (done.returncode, done.out) == (2, "")
    assert done.err.startswith("grade.py: ") and done.err.count("\n") == 1 and done.err.endswith("\n")
    assert reason in done.err
    return True


@pytest.mark.parametrize("case", BAD_TRANSLATIONS)
def test_bad_translations(grade, write, case):
    content, reason = BAD_TRANSLATIONS[case]
    path, references = write("t.txt", content), write("r.txt", "a\nb\n")
    assert refused(grade("--translations", path, "--references", references, "--json"), reason)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        ("\na\n", "line 1 has no reference"),
        (b"\xff\n", "byte 0xff at offset 0 (line 1)"),
    ],
)
def test_bad_references(grade, write, content, reason):
    done = grade("--translations", write("t", "a\nb\n"), "--references", write("r", content))
    assert refused(done, reason)


@pytest.mark.parametrize("side", ["--translations", "--references"])
def test_what_is_no_file(grade, files, tmp_path, side):
    os.mkfifo(tmp_path / "pipe")
    for path, reason in [
        (tmp_path / "missing", "missing: no such file"),
        (tmp_path, "is a directory"),
        (tmp_path / "pipe", "is a pipe or a device"),
        ("/dev/zero", "is a pipe or a device"),
        ("", "no such file"),
    ]:
        assert refused(grade(*files, side, path), reason)


def test_unreadable_file(grade, files):
    files[1].chmod(0)

    def give_up_the_right_to_read_anything():  # root's, in this one child
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP

    done = grade(*files, preexec_fn=give_up_the_right_to_read_anything if os.geteuid() == 0 else None)
    assert refused(done, "may not be read (permission denied)")


def test_socket_is_refused(grade, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert refused(grade(*files, "--translations", "socket"), "cannot be read")


def test_huge_file_costs_neither_time_nor_memory(grade, files, tmp_path):
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(100_000_000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert refused(grade(*files, "--translations", tmp_path / "huge"), "100.0 MB is too large")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2


def test_link_to_the_references_is_refused(grade, files, tmp_path):
    (tmp_path / "link").symlink_to(files[3])
    assert refused(grade(*files, "--translations", tmp_path / "link"), "is a symbolic link")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--threshold", "advanced"], "write NAME=VALUE"),
        (["--threshold", "a=0.3", "--threshold", "a=0.4"], "a is given twice"),
        (["--threshold", "a=1.5"], "must be a number from 0 to 1"),
        (["--threshold", "a=-0.5"], "must be a number from 0 to 1"),
        (["--threshold", "a=nan"], "must be a number from 0 to 1"),
        (["--threshold", "advnaced=0.4"], "did you mean advanced?"),
        (["--threshold", "\x1b[31m=\x07"], "\\x07 is not a number"),
        (["--thresholds", "gone.toml"], "gone.toml: no such file"),
        (["--samples", "1"], "samples 1: must be from 100 to 100,000"),
        (["--samples", "many"], "argument --samples: invalid int value: 'many'"),
        (["--samples", "9" * 5000], "argument --samples: invalid int value"),
        (["--seed", "-1"], "seed -1: must be from 0"),
        (["--tokenize", "13b"], 'tokenize "13b": unknown; sacreBLEU has none, zh, 13a, intl, char'),
        (["--tokenize", "\x1b[31m"], 'tokenize "\\x1b[31m": unknown'),
        (["--thresh", "a=0.3"], "unrecognized arguments: --thresh"),
        (["\x1b[2J"], "unrecognized arguments: \\x1b[2J"),
    ],
)
def test_wrong_command_lines(grade, files, arguments, reason):
    assert refused(grade(*files, *arguments), reason)


def test_missing_arguments(grade):
    assert refused(grade(), "the following arguments are required: --translations, --references")


def test_help_shows_an_example_and_every_option(grade):
    done = grade("--help", environment={"COLUMNS": "80"})
    assert (done.returncode, done.err) == (0, "")
    assert "python grade.py --translations translations.txt --references" in done.out
    for option in (
        "--translations",
        "--references",
        "--threshold ",
        "--thresholds ",
        "--tokenize",
        "--json",
        "--samples",
        "--seed",
    ):
        assert option in done.out
    assert max(map(len, done.out.splitlines())) <= 90


def test_a_terminal_that_knows_only_ascii(grade, files, tmp_path):
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    accented = tmp_path / "é"
    accented.write_bytes(files[1].read_bytes().replace(b"\n", b" \n", 1))
    assert grade(*files, "--translations", accented, environment=ascii_only).err == ""
    accented.write_bytes(b"")
    assert refused(grade(*files, "--translations", accented, environment=ascii_only), "\\xe9: is empty")


def test_a_reader_that_goes_away_is_no_error(grade_py, files):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, grade_py, *files, "--threshold", "a=0"],
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_is_said(grade_py, files):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, grade_py, *files], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2
    assert done.stderr == b"grade.py: the report cannot be written (No space left on device)\n"


def test_missing_package_is_said_in_one_line(grade_py, files):
    done = subprocess.run([sys.executable, "-S", grade_py, *files], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(b"grade.py: ") and b"is not installed for this Python" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_run_takes_little_cpu(grade, write, corpus):
    translations, references = corpus(971)
    arguments = ["--translations", write("t", translations), "--references", write("r", references)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    grade(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2  # imports included
