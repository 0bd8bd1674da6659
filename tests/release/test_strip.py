"""Stripping: the raise statement stands for the solution, and all else stays byte for byte."""

import ast

import pytest

from release.skeleton.regions import find_regions
from release.skeleton.strip import raise_statement, strip_regions

TASKS = ("1.1", "1.2", "1.3", "E.1")


def stripped(source) -> str:
    regions, problems = find_regions(source, TASKS)
    assert not problems
    return strip_regions(source, regions)


def test_the_solution_becomes_a_raise_below_its_hint(read) -> None:
    source = read('''
        def f(x):
            """Doubles."""
            given = 1
            # TODO 1.3: double it,
            # and return it.
            ### BEGIN SOLUTION
            y = x * 2
            return y
            ### END SOLUTION
            after = 2  # given
    ''')
    assert stripped(source) == (
        '\ndef f(x):\n    """Doubles."""\n    given = 1\n    # TODO 1.3: double it,\n    # and return it.\n'
        '    raise NotImplementedError("TODO 1.3: double it, and return it.")\n    after = 2  # given\n'
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_newlines_stay_as_they_are(read, newline: str, last: str) -> None:
    text = 'X = """a\n\tb"""\ndef f():\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    pass\n'
    text += "    ### END SOLUTION"
    source = read(text.replace("\n", newline) + last.replace("\n", newline))
    expected = 'X = """a\n\tb"""\ndef f():\n    # TODO 1.1: t\n    raise NotImplementedError("TODO 1.1: t")'
    assert stripped(source) == (expected + last).replace("\n", newline)


@pytest.mark.parametrize(
    "message", ['say "hello" \\n', "it's", "größer → α", "word " * 60 + "end", "x" * 300, "braces {x} %s"]
)
@pytest.mark.parametrize("indent", ["    ", "\t", "            "])
def test_the_message_survives_quoting_and_wrapping(message: str, indent: str) -> None:
    lines = raise_statement(message, indent)
    assert all(line.startswith(indent) for line in lines)
    if " " in message:
        assert all(len(line) <= 110 for line in lines)
    (statement,) = ast.parse("if 1:\n" + "\n".join(lines)).body[0].body
    assert ast.unparse(statement) == f"raise NotImplementedError({message!r})"


def test_a_file_without_regions_is_the_same(read) -> None:
    source = read("import os\n\x0c\nx = 1   \n")
    assert stripped(source) == source.text
