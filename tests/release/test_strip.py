"""Stripping: the raise statement stands for the solution, and all else stays byte for byte."""

import pytest

from release.skeleton.regions import find_regions
from release.skeleton.strip import strip_regions

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
        '    raise NotImplementedError("TODO 1.3")\n    after = 2  # given\n'
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_newlines_stay_as_they_are(read, newline: str, last: str) -> None:
    text = 'X = """a\n\tb"""\ndef f():\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    pass\n'
    text += "    ### END SOLUTION"
    source = read(text.replace("\n", newline) + last.replace("\n", newline))
    expected = 'X = """a\n\tb"""\ndef f():\n    # TODO 1.1: t\n    raise NotImplementedError("TODO 1.1")'
    assert stripped(source) == (expected + last).replace("\n", newline)


def test_a_file_without_regions_is_the_same(read) -> None:
    source = read("import os\n\x0c\nx = 1   \n")
    assert stripped(source) == source.text
