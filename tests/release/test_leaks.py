"""Solutions are found wherever they survive, and given code raises no alarm."""

import ast
import base64
import gzip
import io
import json
import py_compile
import tarfile
import textwrap
import zipfile
from pathlib import Path

import pytest

from release.archives.packing import make_zip
from release.leaks.finder import LeakFinder, find_leaks
from release.leaks.fingerprints import agreement, lex, lines_of_tokens, views

SOLUTION = """\
def f(self, tokens):
    factor = math.sqrt(self.d_model)
    assert dot([1.0], [factor]) == factor
    return [[factor * value for value in self.rows[token]] for token in tokens]
"""
RENAMED = """\
def g(me, ids):
    scale = math.sqrt(me.width)
    assert inner([1.0], [scale]) == scale
    return [[scale * v for v in me.table[i]] for i in ids]
"""


@pytest.fixture(scope="module")
def finder(skeleton) -> LeakFinder:
    return LeakFinder(skeleton)


def notebook(source: str, **cell: object) -> bytes:
    lines = source.splitlines(keepends=True)
    whole = {"cell_type": "code", "source": lines, "metadata": {}, "outputs": [], **cell}
    return json.dumps({"cells": [whole], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def tar(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


HIDING_PLACES = {
    "module": ("a.py", lambda code: code.encode()),
    "commented out": ("a.py", lambda code: textwrap.indent(code, "# ").encode()),
    "in a docstring": ("a.py", lambda code: f'def f():\n    """Doc.\n\n{code}    """\n'.encode()),
    "as an escaped string": ("a.py", lambda code: f"X = {code!r}\n".encode()),
    "markdown": ("a.md", lambda code: f"Like this:\n\n```python\n{code}```\n".encode()),
    "quoted": ("a.md", lambda code: textwrap.indent(code, "> ").encode()),
    "doctest": ("a.txt", lambda code: textwrap.indent(code, ">>> ").encode()),
    "with line numbers": (
        "a.txt",
        lambda code: "".join(f"{i:3}: {x}\n" for i, x in enumerate(code.splitlines())).encode(),
    ),
    "patch": ("a.diff", lambda code: textwrap.indent(code, "+").encode()),
    "toml": ("a.toml", lambda code: f"[task]\ntext = '''\n{code}'''\n".encode()),
    "notebook cell": ("a.ipynb", notebook),
    "notebook metadata": ("a.ipynb", lambda code: notebook("", metadata={"nbgrader": {"answer": code}})),
    "notebook output": (
        "a.ipynb",
        lambda code: notebook("", outputs=[{"text": code.splitlines(keepends=True)}]),
    ),
    "notebook attachment": (
        "a.ipynb",
        lambda code: notebook("", attachments={"a": {"text/plain": base64.b64encode(code.encode()).decode()}}),
    ),
    "json in json": ("a.json", lambda code: json.dumps({"a": json.dumps({"b": code})}).encode()),
    "broken json": ("a.json", lambda code: json.dumps({"a": code}).encode()[:-1]),
    "zip": ("a.zip", lambda code: make_zip({"b/c.txt": code.encode()})),
    "zip in tar.gz": ("a.tar.gz", lambda code: tar("b.zip", make_zip({"c.py": code.encode()}))),
    "gzip": ("a.gz", lambda code: gzip.compress(code.encode())),
    "zip after a program": ("a.bin", lambda code: b"#!/bin/sh\n" + make_zip({"c.py": code.encode()})),
    "utf-16": ("a.txt", lambda code: code.encode("utf-16")),
    "byte-order mark": ("a.py", lambda code: b"\xef\xbb\xbf" + code.encode()),
    "Windows newlines": ("a.py", lambda code: code.replace("\n", "\r\n").encode()),
    "no suffix": ("LICENSE", lambda code: code.encode()),
    "without newlines": (
        "a.txt",
        lambda code: "; ".join(line.strip() for line in code.splitlines()).encode(),
    ),
}


@pytest.mark.parametrize("code", [SOLUTION, RENAMED], ids=["verbatim", "renamed"])
@pytest.mark.parametrize("place", HIDING_PLACES)
def test_a_solution_is_found_in_every_place(finder, place: str, code: str) -> None:
    name, hide = HIDING_PLACES[place]
    leaks = finder.leaks_in(name, hide(code))
    assert leaks
    assert all(leak.startswith(name) for leak in leaks)
    assert any("reference/table.py:" in leak and "(TODO 1.1)" in leak for leak in leaks)


REFORMATTED = {
    "unparsed": ast.unparse(ast.parse(SOLUTION)),
    "exploded": SOLUTION.replace("math.sqrt(self.d_model)", "(\n    math . sqrt(\n        self.d_model,\n    )\n)"),
    "continued": SOLUTION.replace("= math", "= \\\n    math"),
    "commented": SOLUTION.replace("\n", "  # a comment\n"),
    "on one line": "factor = math.sqrt(self.d_model); assert dot([1.0], [factor]) == factor",
    "as another statement": "rows = [[factor * value for value in self.rows[token]] for token in tokens]",
    "numbers": "assert dot([1.], [factor]) == factor",
}


@pytest.mark.parametrize("how", REFORMATTED)
def test_layout_does_not_matter(finder, how: str) -> None:
    assert finder.leaks_in("a.py", REFORMATTED[how].encode())


def test_each_statement_alone_is_found(finder, skeleton) -> None:
    """All statements of the example are long enough."""
    statements = [
        "self.rows = [[0.0] * d_model for _ in range(vocab_size)]",
        "random.seed(len(self.rows))",
        "return dot(values, weights) / total",
        'if total == 0:\n    raise ValueError("all weights are zero")',
    ]
    for statement in statements:
        assert finder.leaks_in("a.py", statement.encode()), statement


def test_a_leak_names_file_line_and_origin(finder) -> None:
    (leak,) = finder.leaks_in("dist/x.zip!a.py", b"# one\n\n\nreturn dot(values, weights) / total\n")
    assert leak == "dist/x.zip!a.py:4: a copy of reference/mean.py:16 (TODO 1.2)"


def test_no_false_alarm_on_what_students_get(finder, skeleton, example_release) -> None:
    assert find_leaks(finder, skeleton.files) == []
    outputs = {path: content for path, content in example_release.outputs.items() if "instructor" not in path}
    assert "dist/gradescope.zip" in outputs and find_leaks(finder, outputs) == []


@pytest.mark.parametrize(
    "text",
    [
        "def dot(a, b):\n    return sum(x * y for x, y in zip(a, b, strict=True))\n",  # given code
        "self.d_model = d_model\nrows = self.forward(tokens)\n",
        "return x\nx = 1\nfor token in tokens:\n    pass\n",
        "The weighted sum, divided by the total of all weights, is the mean of the values.",
        "le chat ||| the cat\n" * 1000,
        "total = sum(prices)\nif total == 0:\n    return None\n",
    ],
)
def test_no_false_alarm_on_other_text(finder, text: str) -> None:
    assert finder.leaks_in("a.py", text.encode()) == []


def damaged_zip(method: int) -> bytes:
    """An archive whose only member was packed, then spoilt."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("a", bytes(range(256)))
    return buffer.getvalue()[:45] + b"\xff" * 99 + buffer.getvalue()[144:]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.bin", b"\x00\x01\x02", "neither text nor an archive"),
        ("a.txt", b"\xff\xfa", "neither text nor an archive"),
        ("a.gz", gzip.compress(b"x" * 100, mtime=0)[:20], "cannot be decompressed"),
        ("a.zip", b"PK\x03\x04 and no more", "cannot be opened"),
        ("a.zip", damaged_zip(zipfile.ZIP_DEFLATED), "cannot be opened"),
        ("a.zip", damaged_zip(zipfile.ZIP_LZMA), "cannot be opened"),
        ("deep.gz", None, "nested too deeply"),
    ],
)
def test_what_cannot_be_looked_into_is_a_fault(finder, name: str, content: bytes | None, says: str) -> None:
    if content is None:
        content = b"x"
        for _ in range(9):
            content = gzip.compress(content)
    (leak,) = finder.leaks_in(name, content)
    assert says in leak and "remove it" in leak


def test_a_compiled_file_is_a_fault(finder, tmp_path) -> None:
    source = tmp_path / "a.py"
    source.write_text(SOLUTION)
    compiled = py_compile.compile(str(source), cfile=str(tmp_path / "a.pyc"))
    (leak,) = finder.leaks_in("student/a.pyc", Path(compiled).read_bytes())
    assert "a compiled file" in leak


def test_an_encrypted_archive_is_a_fault(finder) -> None:
    packed = bytearray(make_zip({"a.py": b"x = 1"}))
    packed[6] |= 1  # the flag of the member, and of its entry in the directory
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    assert "cannot be opened" in finder.leaks_in("a.zip", bytes(packed))[0]


def test_lex_forgets_layout_only() -> None:
    assert lex("a = f(x.size( 0 ), 'b',)  ;") == ["a", "=", "f", "x", ".size", "0", ",", "b"]
    assert lex("1e-6 1E-06 0.000001 1_000 1000") == ["1e-06"] * 3 + ["1000"] * 2
    assert lex("x . y") == ["x", ".y"] == lex("x\\\n.y")
    assert lex("rb\"a\" F'b' f(x)") == ["a", "b", "f", "x"]
    assert lex("a-b") != lex("a+b")


def test_lines_of_tokens() -> None:
    assert lines_of_tokens("a\n\n(b\n  .c)") == [1, 3, 4]


def test_agreement_is_a_renaming_both_ways() -> None:
    ours = lex("a = f(b, b)")
    assert agreement(ours, lex("x = g(y, y)"), set()) == 1.0
    assert agreement(ours, lex("x = g(y, z)"), set()) == 0.75
    assert agreement(lex("a = f(b, c)"), lex("x = x(x, x)"), set()) == 0.25


def test_views_show_code_with_and_without_comments() -> None:
    assert views("a  # b\n") == ["a  \n", "a  # b\n"]
    assert "a" in views("# >>> a  # b")[-1] and "b" not in views("# >>> a  # b")[-1]


def test_the_zip_format_is_the_real_one() -> None:
    with zipfile.ZipFile(io.BytesIO(make_zip({"b": b"1", "a/c": b"2"}, programs={"b"}))) as archive:
        assert archive.namelist() == ["a/c", "b"]
        assert [member.external_attr >> 16 for member in archive.infolist()] == [0o100644, 0o100755]
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None
