"""grade.py as its users meet it: a report, an exit status, and files from strangers."""

import json
import subprocess
import sys

import pytest

from autograder.scoring import as_text, judge, score
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

GRADE = ROOT / "grade.py"


@pytest.fixture
def files(write, corpus):
    """Translations and references of 200 ordinary sentences, as arguments; BLEU is about 0.6."""
    translations, references = corpus(200, 0.8, seed=1)
    return [
        *("--translations", write("translations.txt", translations)),
        *("--references", write("references.txt", references)),
    ]


def scored(files, **options):
    translations, references = (files[i].read_text().splitlines() for i in (1, 3))
    return score(translations, references, **options)


def test_report_and_status(grade, files):
    result = scored(files)
    below, above = round(result.low - 0.05, 2), round(result.high + 0.05, 2)
    done = grade(*files, "--threshold", f"low={below}")
    assert (done.returncode, done.err) == (0, "")
    assert done.out.splitlines()[0].startswith(f"BLEU       {result.bleu:.2f}   95% interval {result.low:.2f} to")
    assert f"chrF       {result.chrf:.2f}\nsentences  200\nsignature  {result.signature}\n" in done.out
    assert f"\nlow            {below:.2f}  passed\n" in done.out
    done = grade(*files, "--threshold", f"low={below}", "--threshold", f"high={above}")
    assert (done.returncode, done.err) == (1, "")
    assert f"\nhigh           {above:.2f}  failed\n" in done.out


def test_json_for_programs(grade, files):
    done = grade(*files, "--threshold", "low=0.1", "--json")
    found, result = json.loads(done.out), scored(files)
    assert found["bleu"] == result.bleu and found["n"] == 200
    assert found["verdicts"] == [{"name": "low", "threshold": 0.1, "status": "passed", "is_reached": True}]


@pytest.mark.parametrize(("shift", "status", "outcome"), [(-0.001, 0, "passed"), (0.001, 1, "failed")])
def test_borderline_goes_by_the_value(grade, files, shift, status, outcome):
    done = grade(*files, "--threshold", f"near={scored(files).bleu + shift:.10f}")
    assert done.returncode == status
    assert f"borderline (counts as {outcome})" in done.out
    assert max(map(len, done.out.splitlines())) <= 100


def test_raw_text(grade, files):
    note = "the assignment's thresholds are for --tokenize none, not for 13a; --threshold NAME=VALUE sets your own"
    result = scored(files, tokenize="13a")
    verdicts = judge(result, read_assignment().thresholds)
    assert grade(*files, "--tokenize", "13a").out == as_text(result, verdicts, [note])
    assert "thresholds are for" not in grade(*files, "--tokenize", "13a", "--threshold", "mine=0.2").out


def test_course_format_on_both_sides(grade, write):
    lines = ["le ch@@ at|||the ca@@ t sleeps well .", "un chien|||a do@@ g sleeps b@@ ad@@ ly ."]
    path = write("t", lines)
    said = grade("--translations", path, "--references", path).out
    assert "BLEU       1.00 " in said and "sentences  2\n" in said
    assert "every line has the form src|||tgt, so only what follows ||| is scored" in said


def refused(done, reason):
    """One printable line on stderr, nothing on stdout, status 2."""
    assert (done.returncode, done.out) == (2, "")
    assert done.err.startswith("grade.py: ") and done.err.count("\n") == 1 and done.err.endswith("\n")
    assert reason in done.err
    return True


@pytest.mark.parametrize(
    ("side", "content", "reason"),
    [
        ("--translations", "a\n", "1 line, but there are 200 references"),
        ("--translations", b"a\n\xe9\n", "not UTF-8: byte 0xe9 at offset 2 (line 2)"),
        ("--references", "\na\n", "line 1 has no reference"),
        ("--references", None, "no such file"),
    ],
)
def test_bad_files(grade, files, write, tmp_path, side, content, reason):
    path = tmp_path / "missing" if content is None else write("bad", content)
    assert refused(grade(*files, side, path), reason)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--threshold", "advanced"], "write NAME=VALUE"),
        (["--tokenize", "\x1b[31m"], 'tokenize "\\x1b[31m": unknown; sacreBLEU has none, zh, 13a, intl, char'),
        (["--thresh", "a=0.3"], "unrecognized arguments: --thresh"),
    ],
)
def test_wrong_command_lines(grade, files, arguments, reason):
    assert refused(grade(), "the following arguments are required: --translations, --references")
    assert refused(grade(*files, *arguments), reason)


def test_missing_package_is_said_in_one_line(files):
    done = subprocess.run([sys.executable, "-S", GRADE, *files], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(b"grade.py: ") and b"is not installed for this Python" in done.stderr
    assert done.stderr.count(b"\n") == 1
