"""Reading: what counts as a line, which forms are understood, and why a file is refused."""

import pytest

from autograder.scoring import ScoringError, read_references, read_translations
from autograder.scoring import reading as limits

THREE = "one\ntwo\nthree\n"


def refusal(read, *arguments, **options):
    """The one-line message with which a file is refused."""
    with pytest.raises(ScoringError) as refused:
        read(*arguments, **options)
    message = str(refused.value)
    assert message.isprintable() and len(message) < 400
    return message


NO_LINE_END = "one\u2028still\x85one\x0b\x0c\x1c\x1d\x1e\u2029one\rone"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (THREE, ["one", "two", "three"]),
        ("\ufeffone\ntwo\n", ["one", "two"]),
        ("one\n\nthree\n", ["one", "", "three"]),
        (f"{NO_LINE_END}\n", [NO_LINE_END]),
        (["é" * limits.MAX_LINE_CHARACTERS], ["é" * limits.MAX_LINE_CHARACTERS]),
    ],
)
def test_lines(write, content, expected):
    assert read_translations(write("t", content)) == expected
    assert read_translations(write("t", content), expected=len(expected)) == expected


NOT_TEXT = {
    "empty file": (b"", "is empty"),
    "latin-1": (b"one\n\xe9t\xe9\n", "not UTF-8: byte 0xe9 at offset 4 (line 2); save the file as UTF-8"),
    "UTF-16": (THREE.encode("utf-16"), "not UTF-8: byte 0xff at offset 0 (line 1)"),
    "long line": (b"one\n" + b"x" * 5001 + b"\n", "line 2 is 5,001 characters long; at most 5,000"),
    "many lines": (b"\n" * 100_001, "100,001 lines are too many; at most 100,000"),
    "large file": (b"x" * 10_000_001, "is too large; at most 10 MB are read"),
    "mixed forms": ("a|||b\nc\n", "line 1 has |||, but line 2 does not; write src|||tgt in every line or in none"),
    "two separators": ("a|||b\nc|||d|||e\n", "line 2 has ||| 2 times; src|||tgt has it once"),
}


@pytest.mark.parametrize("read", [read_translations, read_references])
@pytest.mark.parametrize("case", NOT_TEXT)
def test_refused_files(write, read, case):
    content, reason = NOT_TEXT[case]
    path = write("file.txt", content)
    assert refusal(read, path).startswith(f"{path}: ") and reason in refusal(read, path)
    assert refusal(read, path, name="the \x1b[31mfile").startswith("the \\x1b[31mfile: ")


@pytest.mark.parametrize("read", [read_translations, read_references])
def test_what_is_no_file(tmp_path, read):
    assert "missing.txt: no such file" in refusal(read, tmp_path / "missing.txt")
    assert "is a directory; name a text file" in refusal(read, tmp_path)
    assert "\\x1b[2J\\u202egro\\nlines: no such file" in refusal(read, tmp_path / "\x1b[2J\u202egro\nlines")


BLANK = "t.txt: blank lines at the end are not counted"


@pytest.mark.parametrize(
    ("content", "translations", "notes"),
    [
        (THREE, ["one", "two", "three"], []),
        ("one\ntwo\nthree\n\n\n", ["one", "two", "three"], [f"{BLANK} (2)"]),
        ("one\ntwo\nthree\r\n \t\r\n", ["one", "two", "three"], [f"{BLANK} (1)"]),
        # the model found nothing for the last sentence
        ("one\ntwo\n\n", ["one", "two", ""], ["t.txt: 1 of 3 translations have no text (first: line 3)"]),
        (
            "le chat|||the c@@ at\noui ||| yes\nnon|||\n\n",
            ["the c@@ at", "yes", ""],
            [
                f"{BLANK} (1)",
                "t.txt: every line has the form src|||tgt, so only what follows ||| is scored",
                "t.txt: 1 of 3 translations have no text (first: line 3)",
            ],
        ),
    ],
)
def test_blank_lines_and_sources_beside_translations(write, content, translations, notes):
    told = []
    assert read_translations(write("t.txt", content), expected=3, name="t.txt", note=told.append) == translations
    assert told == notes


def test_a_wrong_number_of_lines_says_both_numbers(write):
    message = refusal(read_translations, write("t.txt", "one\n\ntwo\nthree\n"), expected=3)
    assert "t.txt: 4 lines, but there are 3 references; write one translation per line" in message


@pytest.mark.parametrize("content", ["one\n\nthree\n", "\n", " \t\none\n", "le|||the\nnon|||"])
def test_an_empty_reference_is_refused(write, content):
    assert "has no reference; every line needs one" in refusal(read_references, write("r", content))
    assert read_references(write("r", "one\ntwo\n\n \n")) == ["one", "two"]
