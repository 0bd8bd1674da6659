"""Translations are read, scored as by sacreBLEU's own calls, and judged; `grade.py` reports that."""

import json
import random
import subprocess
import sys
from functools import partial

import pytest
import sacrebleu

from autograder.grading.scoring import (
    Score,
    ScoringError,
    Verdict,
    as_text,
    judge,
    read_references,
    read_sources,
    read_translations,
    score,
    shown,
    undo_bpe,
    why_low,
)
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from grade import main

from ..conftest import examples_in

WORDS = ["the", "a", "cat", "dog", "house", "garden", "sees", "likes", "is", "was", "very", "old", "in", "on"]
EXAMPLES = examples_in("grading/translations.toml")


@pytest.fixture
def write(tmp_path):
    """Writes a file: bytes as they are, or a string in UTF-8."""

    def create(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return create


def corpus(sentences, kept=0.8, seed=1):
    """Translations and references of 5 to 12 words; a word of theirs is kept, or else replaced at random."""
    draw = random.Random(seed)
    references = [[draw.choice(WORDS) for _ in range(draw.randint(5, 12))] for _ in range(sentences)]
    translations = [[word if draw.random() < kept else draw.choice(WORDS) for word in line] for line in references]
    return [" ".join(line) for line in translations], [" ".join(line) for line in references]


# -- files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", EXAMPLES["read"], ids=lambda case: repr(case["content"]))
def test_lines_blank_lines_and_sources_beside_translations(write, case):
    noted, path = [], write("t.txt", case["content"])
    assert read_translations(path, expected=3, name="t.txt", note=noted.append) == case["translations"]
    assert noted == case["notes"]


READERS = {"references": read_references, "translations": partial(read_translations, expected=3)}


def refusal_of(path, reader):
    with pytest.raises(ScoringError) as refused:
        READERS[reader](path)
    message = str(refused.value)
    assert message.isprintable() and len(message) < 400
    return message


@pytest.mark.parametrize("case", EXAMPLES["refused"], ids=lambda case: case["reason"])
def test_a_refused_file_is_one_line(write, case):
    path = write("file.txt", case["content"].encode(case.get("encoding", "utf-8")))
    for reader in case.get("readers", READERS):
        assert case["reason"] in refusal_of(path, reader)


@pytest.mark.parametrize("reader", READERS)
def test_what_is_not_there_or_too_large_is_one_line(write, tmp_path, reader):
    assert "no such file" in refusal_of(tmp_path / "\x1b[2J\u202egro\nlines", reader)
    assert "is too large; at most 10 MB are read" in refusal_of(write("large", b"x" * 10_000_001), reader)
    assert "line 2 is 5,001 characters long; at most 5,000" in refusal_of(write("long", "one\n" + "x" * 5001), reader)


def test_more_than_any_model_writes_is_refused_in_one_line():
    """BLEU of the most that files may hold takes half a minute."""
    references = ["a cat ."] * 400
    with pytest.raises(ScoringError, match="the translations have 1,200,000 characters; at most 1,000,000 are scored"):
        score(["a b " * 750] * 400, references)
    assert score(["a b " * 750] * 400, ["a b c d " * 40] * 400).value < 0.5, "ten times as long is allowed"


def test_byte_pair_marks_are_undone_and_nothing_else():
    marked = "  i m\t trus@@ t@@ wor@@  thy , e\u0301te@@ \u0301 , me@home.org a@@b cut off in@@"
    assert undo_bpe(marked) == undo_bpe(undo_bpe(marked)) == "i m trustworthy , été , me@home.org a@@b cut off in"


# -- BLEU -----------------------------------------------------------------------------------------------


def test_value_and_interval_are_sacrebleus():
    translations, references = corpus(50)
    found = score(translations, references)
    theirs = sacrebleu.corpus_bleu(translations, [references], tokenize="none", force=True)
    assert 100 * found.value == pytest.approx(theirs.score, abs=1e-7) and "|tok:none|" in found.signature
    assert found.low < found.value < found.high < found.low + 0.2
    wider = score(*corpus(10))
    assert wider.high - wider.low > found.high - found.low, "the fewer sentences, the wider"
    assert score(["a"], ["b c d e"]).low == 0 and score(references, references).high == 1
    marked, plain = ["il est ne\u0301 a\u0300 co\u0302t@@ e\u0301 de la"], ["il est né à côté de la"]
    assert score(marked, plain).value == score(plain, marked).value == 1, "marks and composed letters change nothing"


# -- verdicts -------------------------------------------------------------------------------------------

SCORE = Score(0.46, 0.44, 0.48, 971, "a signature")


@pytest.mark.parametrize(
    ("threshold", "status", "is_reached"),
    [
        (0.44, "passed", True),
        (0.4400001, "borderline", True),
        (0.46, "borderline", True),
        (0.4600001, "borderline", False),
        (0.48, "borderline", False),
        (0.4800001, "failed", False),
    ],
)
def test_verdicts(threshold, status, is_reached):
    assert judge(SCORE, {"x": threshold}) == [Verdict("x", threshold, status, is_reached)]


@pytest.mark.parametrize("value, text", [(0.45, "0.450"), (0.4499999, "0.449"), (0.57, "0.570"), (1.0, "1.000")])
def test_a_shown_figure_never_reaches_a_threshold_that_the_value_misses(value, text):
    assert shown(value) == text


def test_a_borderline_verdict_is_explained_and_notes_are_harmless():
    verdicts = judge(SCORE, {"beginner": 0.3, "advanced": 0.45, "expert": 0.6})
    text = as_text(SCORE, verdicts, ["\x1b[2J\u202egone\n"])
    assert text.startswith("BLEU       0.460   95% interval 0.440 to 0.480\nsentences  971\nsignature  a signature\n")
    assert "\nadvanced       0.45  borderline (counts as passed)\nexpert         0.60  failed\n" in text
    assert "advanced: 0.45 lies within the 95% interval 0.440 to 0.480: BLEU 0.460 reaches it and counts as" in text
    assert text.endswith("\nnote: \\x1b[2J\\u202egone\\n\n")


# -- grade.py -------------------------------------------------------------------------------------------


@pytest.fixture
def grade(capsys, write):
    """Runs grade.py on translations and references; returns its status, what it prints, and its errors."""

    def run(translations, references, *more):
        paths = {"translations": write("t", translations), "references": write("r", references)}
        try:
            status = main([f"--{name}={path}" for name, path in paths.items()] + [*more])
        except SystemExit as end:
            status = end.code
        printed = capsys.readouterr()
        assert all(c.isprintable() or c == "\n" for c in "".join(printed))
        return status, *printed

    return run


def test_report_and_status(grade):
    """Status 1 below a threshold, with the reason in both forms of the report."""
    pairs = corpus(200)
    texts = ["\n".join(lines) for lines in pairs]
    result, thresholds = score(*pairs), read_assignment().thresholds
    assert grade(*texts) == (0, as_text(result, judge(result, thresholds)), "") and result.low > 0.45
    status, out, err = grade("no\n" * 200, texts[1])
    reason = "hardly anything matches: do both files have the same split, order and language?"
    assert (status, err) == (1, "") and "advanced       0.45  failed\n" in out and f"\nnote: {reason}\n" in out
    report = json.loads(grade("no\n" * 200, texts[1], "--json")[1])
    assert (report["bleu"], report["n"], report["notes"]) == (0, 200, [reason])
    assert report["verdicts"][0] == {"name": "beginner", "threshold": 0.3, "status": "failed", "is_reached": False}
    report = json.loads(grade(*texts, "--json", "--threshold", "pass=.35", "--threshold", "all=1")[1])
    assert [(verdict["name"], verdict["threshold"]) for verdict in report["verdicts"]] == [("pass", 0.35), ("all", 1.0)]


@pytest.mark.parametrize(
    ("references", "more", "reason"),
    [
        ("b\n" * 200, [], "1 line, but there are 200 references"),
        *(
            ("b", ["--threshold", text], f"--threshold {shown}: write NAME=VALUE with a BLEU from 0 to 1")
            for text, shown in [(text, text) for text in ("a=2", "a=0,45", "a=-0.01", "a=45", "=0.4")]
            + [("\x1b[2Ja=0.4", "\\x1b[2Ja=0.4")]
        ),
        ("b", ["--nothing", "\x1b[31m"], "unrecognized arguments: --nothing \\x1b[31m"),
    ],
)
def test_what_is_wrong_is_one_line(grade, references, more, reason):
    status, out, err = grade("a\n", references, *more)
    assert (status, out) == (2, "") and err.startswith("grade.py: ") and err.count("\n") == 1 and reason in err


@pytest.mark.parametrize("command", [["grade.py"], ["-m", "reference", "pack"]], ids=["grade", "package"])
def test_missing_package_is_said_in_one_line(command):
    done = subprocess.run([sys.executable, "-S", *command], capture_output=True, timeout=60, cwd=ROOT)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1
    assert b"is not installed for this Python" in done.stderr and b"activate" in done.stderr


# -- why BLEU is low -------------------------------------------------------------------------------------

PATH = ROOT / "data/corpus/fren.dev.bpe"
TRUE_LINES, SOURCES = read_references(PATH)[:400], read_sources(PATH)[:400]
PERFECT = [undo_bpe(line) for line in TRUE_LINES]
DROPPING = random.Random(0)
GOOD = [" ".join(word for word in line.split() if DROPPING.random() > 0.12) for line in PERFECT]
SHUFFLED = random.Random(1).sample(GOOD, len(GOOD))

LOW = {
    "perfect": (PERFECT, ""),
    "good": (GOOD, ""),
    "a model with one sentence": ([" ".join(PERFECT[3].split()[:-1])] * len(PERFECT), "hardly anything matches"),
    "capitals": ([line.title() for line in PERFECT], "have capital letters, unlike the references: without that"),
    "signs": ([line.replace(" .", ".").replace(" ?", "?") for line in PERFECT], "have signs attached to words, unlike"),
    "sentencepiece": (["▁" + line.replace(" ", " ▁") for line in PERFECT], "400 of 400 lines have ▁: join"),
    "byte pairs": ([line.replace("@@ ", "@@") for line in TRUE_LINES], "lines have @@ inside or before words"),
    "marks as words": ([line.replace("@@ ", " @@ ") for line in TRUE_LINES], "lines have @@ inside or before words"),
    "special tokens": ([f"<s> {line} </s> <pad>" for line in GOOD], "400 of 400 lines have <s>, <pad> or"),
    "marks of our tokenizer": ([f"[BOS] {line} [EOS]" for line in GOOD], "400 of 400 lines have <s>, <pad> or"),
    "a line too few": ([*GOOD[:200], *GOOD[201:], ""], "1 line is missing before line 2"),
    "a line too many": ([*GOOD[:200], "x", *GOOD[200:-1]], "1 line is too many before line 2"),
    "another order": (SHUFFLED, "the lines are in another order: line 1 fits reference"),
    "sources": (SOURCES, "most lines are the source sentences"),
}


def test_of_two_habits_the_second_reason_has_what_is_left_without_both():
    lines = [line.capitalize().replace(" .", ".").replace(" ?", "?").replace(" ,", ",") for line in PERFECT]
    capitals, signs = why_low(lines, TRUE_LINES, SOURCES)
    assert "have capital letters" in capitals and "BLEU is 0.56 instead of 0.35" in capitals
    assert "have signs attached" in signs and "BLEU is 1.00 instead of 0.56" in signs


def test_a_few_lines_that_fit_other_references_are_chance():
    assert why_low([PERFECT[1], PERFECT[0], *PERFECT[2:6]], TRUE_LINES[:6]) == []


@pytest.mark.parametrize("case", LOW)
def test_a_low_score_gets_its_reason(case):
    lines, words = LOW[case]
    reasons = why_low(lines, TRUE_LINES, SOURCES)
    assert len(reasons) == bool(words) and all(words in reason for reason in reasons)
