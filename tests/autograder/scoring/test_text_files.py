"""Reading: what counts as a line, which forms are understood, and why a file is refused."""

import os
import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.scoring import ScoringError, read_references, read_translations
from autograder.scoring import reading as limits
from foundation.printable_text import clean, printable

THREE = "one\ntwo\nthree\n"


def refusal(read, *arguments, **options):
    """The one-line message with which a file is refused."""
    with pytest.raises(ScoringError) as refused:
        read(*arguments, **options)
    message = str(refused.value)
    assert all(c.isprintable() for c in message)
    assert len(message) < 400
    return message


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (THREE, ["one", "two", "three"]),
        ("one\ntwo\nthree", ["one", "two", "three"]),
        ("one\r\ntwo\r\nthree\r\n", ["one", "two", "three"]),
        ("one\r\ntwo\nthree\r\n", ["one", "two", "three"]),
        ("\ufeffone\ntwo\n", ["one", "two"]),
        ("one\n\nthree\n", ["one", "", "three"]),
        ("one\ntwo\n\n", ["one", "two", ""]),
        ("\n", [""]),
        ("\n\n", ["", ""]),
        # none of these ends a line
        ("one\u2028still\x85one\x0b\x0c\x1c\x1d\x1e\u2029one\rone\ntwo\n", None),
        ("été 日本 🙂\n", ["été 日本 🙂"]),
    ],
)
def test_lines(write, content, expected):
    expected = expected or [content.split("\n")[0], "two"]
    assert read_translations(write("t", content)) == expected
    assert read_translations(write("t", content), expected=len(expected)) == expected


def test_the_longest_line_that_is_read(write):
    assert read_translations(write("t", ["é" * limits.MAX_LINE_CHARACTERS])) == ["é" * limits.MAX_LINE_CHARACTERS]


def test_a_sentence_with_an_odd_separator_stays_beside_its_reference(write):
    lines = ["a\u2028b c", "d\re f", "g\x0ch"]
    assert read_translations(write("t", lines), expected=3) == lines
    assert read_references(write("r", lines)) == lines


@settings(deadline=None, max_examples=200, database=None)
@given(lines=st.lists(st.text(st.characters(exclude_characters="\0\n|", exclude_categories=["Cs"])), min_size=1))
def test_what_was_written_is_read(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "written"
    lines = [line.strip("\r\ufeff") for line in lines]
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    assert read_translations(path, expected=len(lines)) == lines


@settings(deadline=None, max_examples=300, database=None)
@given(data=st.binary(max_size=60) | st.text("|@\n\r \ufeff\u2028ab", max_size=30).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    for read in (read_translations, read_references):
        try:
            lines = read(path)
        except ScoringError as error:
            assert str(error).isprintable()
        else:
            text = data.decode() if read is read_translations else data.decode().rstrip()
            assert len(lines) == text.removesuffix("\n").count("\n") + 1


NOT_TEXT = {
    "empty file": (b"", "is empty"),
    "byte-order mark alone": (b"\xef\xbb\xbf", "is empty"),
    "latin-1": (b"one\n\xe9t\xe9\n", "not UTF-8: byte 0xe9 at offset 4 (line 2); save the file as UTF-8"),
    "cut off inside a character": ("one\ndeux é".encode()[:-1], "byte 0xc3 at offset 9 (line 2)"),
    "surrogate": (b"one\n\xed\xa0\x80\n", "byte 0xed at offset 4 (line 2)"),
    "after a byte-order mark": (b"\xef\xbb\xbfone\n\xff\n", "byte 0xff at offset 7 (line 2)"),
    "UTF-16": (THREE.encode("utf-16"), "not UTF-8 but UTF-16 (byte 0xff at offset 0, line 1)"),
    "UTF-16 without a mark": (THREE.encode("utf-16-le"), "NUL byte at offset 1 (line 1)"),
    "NUL": (b"one\ntw\0o\n", "NUL byte at offset 6 (line 2)"),
    "gzip": (b"\x1f\x8b\x08\x08abc", "not UTF-8: byte 0x8b at offset 1 (line 1)"),
    "long line": (b"one\n" + b"x" * 5001 + b"\n", "line 2 is 5,001 characters long; at most 5,000"),
    "lone CR, long": (
        b"a b c\r" * 1000,
        "5,999 characters long; at most 5,000 are read as one sentence (lone carriage",
    ),
    "many lines": (b"\n" * 100_001, "100,001 lines are too many; at most 100,000"),
    "mixed forms": (
        "a|||b\nc\n",
        "line 1 has |||, but line 2 does not; write src|||tgt in every line or in none",
    ),
    "mixed forms, later": ("a\nb\nc|||d\n", "line 3 has |||, but line 1 does not"),
    "two separators": ("a|||b\nc|||d|||e\n", "line 2 has ||| 2 times; src|||tgt has it once"),
}


@pytest.mark.parametrize("read", [read_translations, read_references])
@pytest.mark.parametrize("case", NOT_TEXT)
def test_refused_files(write, read, case):
    content, reason = NOT_TEXT[case]
    path = write("file.txt", content)
    message = refusal(read, path)
    assert message.startswith(f"{path}: ")
    assert reason in message


@pytest.mark.parametrize("read", [read_translations, read_references])
def test_what_is_no_file(tmp_path, write, read, monkeypatch):
    assert "missing.txt: no such file" in refusal(read, tmp_path / "missing.txt")
    assert "is a directory; name a text file" in refusal(read, tmp_path)
    assert "cannot be read (Not a directory)" in refusal(read, write("plain", THREE) / "below")
    assert "cannot be read (File name too long)" in refusal(read, tmp_path / ("x" * 300))
    assert "not a file name" in refusal(read, str(tmp_path / "nul\0l"))
    assert "is a pipe or a device" in refusal(read, "/dev/zero")

    def deny(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", deny)
    assert "may not be read (permission denied)" in refusal(read, write("secret", THREE))


def test_a_named_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    messages = []
    reader = threading.Thread(
        target=lambda: messages.append(refusal(read_translations, tmp_path / "pipe")), daemon=True
    )
    reader.start()
    reader.join(timeout=10)
    assert messages and "is a pipe or a device" in messages[0]


def test_a_link_in_a_submission_does_not_lead_to_the_references(tmp_path, write, monkeypatch):
    references = write("references", THREE)
    (tmp_path / "translations.txt").symlink_to(references)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "is a symbolic link" in refusal(read_translations, tmp_path / "translations.txt")
    assert "is a symbolic link" in refusal(read_translations, tmp_path / "loop")
    assert read_references(tmp_path / "translations.txt") == ["one", "two", "three"]
    monkeypatch.setattr(os.path, "islink", lambda _: False)  # as if the link came just after the look
    assert "symbolic link" in refusal(read_translations, tmp_path / "translations.txt")


@pytest.mark.parametrize("read", [read_translations, read_references])
def test_a_huge_file_is_refused_unread(tmp_path, read):
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    assert "100.0 MB is too large; at most 10 MB are read" in refusal(read, path)
    path.write_bytes(b"x y\n" * (limits.MAX_BYTES // 4) + b"z")
    assert "10.000001 MB is too large" in refusal(read, path)


def test_a_file_that_claims_no_size_is_read_no_further_than_the_limit(monkeypatch, write):
    path = write("growing", THREE)
    monkeypatch.setattr(limits, "MAX_BYTES", 5)
    real = os.fstat

    def claims_nothing(descriptor):
        status = list(real(descriptor))
        status[6] = 0
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", claims_nothing)
    assert "too large" in refusal(read_translations, path)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("one\ntwo\n", "order"),
        ("one\ntwo\nthree\nfour\n", "order"),
        ("one\n\ntwo\nthree\n", "order"),
        ("one\rtwo\rthree\r", "(lone carriage returns, \\r, do not end lines: end each line with \\n)"),
        ("one\rtwo\nthree", "(lone carriage returns, \\r, do not end lines: end each line with \\n)"),
        (
            "one\u2028two\nthree\n",
            "(U+2028, form feed and the like do not end lines: end each line with \\n)",
        ),
    ],
)
def test_a_wrong_number_of_lines_says_both_numbers_and_why(write, content, hint):
    message = refusal(read_translations, write("t.txt", content), expected=3)
    lines = content.removesuffix("\n").count("\n") + 1
    counts = f"{lines} line{'s' * (lines != 1)}, but there are 3 references"
    assert f"t.txt: {counts}; write one translation per line" in message
    assert message.endswith(hint)


@pytest.mark.parametrize(
    ("content", "translations", "notes"),
    [
        ("one\ntwo\nthree\n\n\n", ["one", "two", "three"], ["t.txt: blank lines at the end are not counted (2)"]),
        ("one\ntwo\nthree\r\n \t\r\n", ["one", "two", "three"], ["t.txt: blank lines at the end are not counted (1)"]),
        ("one\n\nthree\n\n", ["one", "", "three"], ["t.txt: blank lines at the end are not counted (1)"]),
        (
            "a|||one\nb|||two\nc|||three\n\n",
            ["one", "two", "three"],
            ["t.txt: blank lines at the end are not counted (1)"],
        ),
        ("one\ntwo\n\n", ["one", "two", ""], []),  # the model found nothing for the last sentence
    ],
)
def test_blank_lines_at_the_end_are_no_sentences(write, content, translations, notes):
    told = []
    path = write("t.txt", content)
    assert read_translations(path, expected=3, name="t.txt", note=told.append) == translations
    assert [line for line in told if "have no text" not in line and "src|||tgt" not in line] == notes
    assert read_references(write("r.txt", "one\ntwo\nthree\n\n \n")) == ["one", "two", "three"]


def test_source_and_target_form(write):
    notes = []
    path = write("t.txt", ["le chat|||the c@@ at", "oui ||| yes", "non|||"])
    assert read_translations(path, note=notes.append) == ["the c@@ at", "yes", ""]
    assert notes == [
        f"{path}: every line has the form src|||tgt, so only what follows ||| is scored",
        f"{path}: 1 of 3 translations have no text (first: line 3)",
    ]
    assert "line 3 has no reference" in refusal(read_references, path)
    assert read_references(write("r", ["le chat|||the c@@ at", "oui ||| yes"])) == ["the c@@ at", "yes"]


@pytest.mark.parametrize("content", ["one\n\nthree\n", "\n", " \t\none\n"])
def test_an_empty_reference_is_refused(write, content):
    assert "has no reference; every line needs one" in refusal(read_references, write("r", content))


def test_notes_are_silent_on_ordinary_files(write):
    notes = []
    read_translations(write("t", THREE), expected=3, note=notes.append)
    assert notes == []


def test_another_name_can_stand_in_the_message(write):
    path = write("t", b"")
    assert refusal(read_translations, path, name="translations.txt") == "translations.txt: is empty"
    assert refusal(read_references, path, name="the \x1b[31mreferences") == "the \\x1b[31mreferences: is empty"


def test_names_that_steer_a_terminal_are_escaped(tmp_path):
    message = refusal(read_translations, tmp_path / "\x1b[2J\u202egro\nlines\x07\udcff")
    assert "\\x1b[2J\\u202egro\\nlines\\x07\\udcff: no such file" in message


@given(st.text(max_size=300) | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Co"]), max_size=50))
@settings(deadline=None, database=None)
def test_printable_text_is_printable(text):
    shown = printable(text)
    assert re.sub("[\u200c\u200d]", "", shown).isprintable() and len(shown) <= 200
    assert printable(shown) == shown, "what is written is read as it was, so that seals hold"
    if text.isprintable() and len(text) <= 200:
        assert shown == text


@pytest.mark.parametrize("name", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937"])
def test_joiners_in_names_that_need_them_stay(name):
    """Persian with a zero-width non-joiner, Devanagari with a joiner behind a virama; elsewhere they would disguise."""
    assert printable(name) == name and clean(name, 100) == name
    for cut in range(4, len(name)):
        assert printable(printable(name * 3, cut), cut) == printable(name * 3, cut)
    for disguise in ("a\u200db", f"{name[0]}\u200c", f"\u200d{name[0]}", f"a\u200c{name[0]}"):
        assert "\\u200" in printable(disguise) and "\ufffd" in clean(disguise, 100)
