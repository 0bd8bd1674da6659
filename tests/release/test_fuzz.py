"""Damaged sources: either an error, or no token of a solution in the output. Never a guess."""

import ast
import difflib
import string

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from release.problems import ReleaseError
from release.skeleton.regions import find_regions
from release.skeleton.source import parse_source, read_source
from release.skeleton.strip import strip_regions

TASKS = ("1.1", "1.2")
SECRETS = ("secret_one", "secret_two", "secret_three")
SOURCE = '''\
"""A module."""

import math
import random


class A:
    """A class."""

    def method(self, x):
        """A method."""
        # TODO 1.1: do the first thing,
        # and do it well.
        ### BEGIN SOLUTION
        secret_one = math.sqrt(x)
        if secret_one:
            x = secret_one  # twice
        ### END SOLUTION
        given = random.random()
        # TODO 1.2: and the second.
        ### BEGIN SOLUTION
        return secret_two(given, x)
        ### END SOLUTION


def function(x):
    # TODO 1.2: the third.
    ### BEGIN SOLUTION
    return secret_three(x)
    ### END SOLUTION
'''
LINES = SOURCE.splitlines(keepends=True)
MARKERS = [index for index, line in enumerate(LINES) if "SOLUTION" in line]
CHARACTERS = string.printable + "\x00\x85\u2028\ufeff\u00a0\u0406é🂡"


def strip(text: str) -> str | None:
    """The stripped text, or None where there are problems."""
    try:
        source = read_source("a.py", text.encode("utf-8", "surrogatepass"))
    except ReleaseError as error:
        assert all(problem.path == "a.py" for problem in error.problems)
        return None
    regions, problems = find_regions(source, TASKS)
    assert all(problem.line > 0 and problem.right for problem in problems)
    return None if problems else strip_regions(source, regions)


def assert_safe(text: str) -> None:
    stripped = strip(text)
    assert stripped is None or not any(secret in stripped for secret in SECRETS), stripped


def test_the_source_itself_is_sound() -> None:
    assert strip(SOURCE) is not None
    assert_safe(SOURCE)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(MARKERS), st.integers(0, 40), st.sampled_from(CHARACTERS), st.sampled_from("ris"))
def test_one_wrong_character_in_a_marker_line(line: int, column: int, character: str, kind: str) -> None:
    old = LINES[line]
    column %= len(old)
    if kind == "r":
        new = old[:column] + character + old[column + 1 :]
    elif kind == "i":
        new = old[:column] + character + old[column:]
    else:
        new = old[:column] + old[column + 1 :]
    assume(new != old)
    assert_safe("".join([*LINES[:line], new, *LINES[line + 1 :]]))


def test_every_deletion_and_every_case_change_in_every_marker_line() -> None:
    for line in MARKERS:
        for column in range(len(LINES[line])):
            old = LINES[line]
            for new in (
                old[:column] + old[column + 1 :],
                old[:column] + old[column].swapcase() + old[column + 1 :],
            ):
                if new != old:
                    assert_safe("".join([*LINES[:line], new, *LINES[line + 1 :]]))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(MARKERS), st.integers(0, 30), st.sampled_from("# BEGINDSOLUTbegin")),
        max_size=4,
    )
)
def test_several_wrong_characters(edits: list[tuple[int, int, str]]) -> None:
    lines = list(LINES)
    for line, column, character in edits:
        column %= len(lines[line])
        lines[line] = lines[line][:column] + character + lines[line][column + 1 :]
    stripped = strip("".join(lines))
    if stripped is not None and any(secret in stripped for secret in SECRETS):
        # Only where a marker line does not resemble one any more, and so was a comment all the way.
        pairs = [(LINES[index].strip(), lines[index].strip()) for index in MARKERS if LINES[index] != lines[index]]
        assert all(difflib.SequenceMatcher(None, *pair).ratio() < 0.9 for pair in pairs), pairs


@settings(max_examples=200, deadline=None)
@given(st.permutations(MARKERS))
@example(MARKERS[::-1])
def test_marker_lines_in_another_order(order: list[int]) -> None:
    assume(order != MARKERS)
    lines = list(LINES)
    for place, origin in zip(MARKERS, order, strict=True):
        lines[place] = LINES[origin]
    assert_safe("".join(lines))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(MARKERS), st.integers(0, len(LINES)))
def test_a_marker_line_at_another_place(line: int, place: int) -> None:
    lines = list(LINES)
    moved = lines.pop(line)
    lines.insert(place, moved)
    stripped = strip("".join(lines))
    if stripped is not None:
        # A region may end earlier or later and still be sound: then what is inside it is the solution.
        source = parse_source("a.py", "".join(lines))
        for region in find_regions(source, TASKS)[0]:
            inside = "".join(source.lines[region.begin : region.end - 1]).strip()
            assert inside and inside not in stripped


STATEMENTS = st.sampled_from(
    [
        "x = 1",
        "if x:\n    y = math.pi\nelse:\n    y = 2",
        "for i in range(3):\n    x += i",
        "return os.getcwd()",
        'text = """a\n  b"""',
        "def inner():\n    return x",
        "with open(x) as file:\n    pass",
        "call(\n    x,\n)",
    ]
)
HINTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=30)


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, list[str], list[str]]:
    """A file with random functions; also its given statements, and the statements of its solutions."""
    text = "import math\nimport os\n\n\n"
    given_lines: list[str] = []
    solutions: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        text += f'def f{number}(x):\n    """Function {number}.\n\n      Indented.\n    """\n'
        for is_solution in draw(st.lists(st.booleans(), min_size=1, max_size=4)):
            body = draw(st.lists(STATEMENTS, min_size=1, max_size=3))
            block = "".join(f"    {line}\n" if line else "\n" for part in body for line in part.split("\n"))
            if is_solution:
                hint = draw(HINTS.filter(lambda hint: "todo" not in hint.lower()))
                text += f"    # TODO 1.1: {hint}\n    ### BEGIN SOLUTION\n{block}    ### END SOLUTION\n"
                solutions += body
            else:
                text += block
                given_lines += block.splitlines()
        text += "\n\n"
    return text, given_lines, solutions


@settings(max_examples=120, deadline=None)
@given(sources())
def test_output_compiles_keeps_given_lines_and_is_final(case: tuple[str, list[str], list[str]]) -> None:
    text, given_lines, solutions = case
    source = read_source("a.py", text.encode())
    regions, problems = find_regions(source, TASKS)
    assert not problems
    stripped = strip_regions(source, regions)
    ast.parse(stripped)
    lines = stripped.splitlines()
    kept = iter(lines)
    assert all(line in kept for line in given_lines)  # in this order
    assert stripped.count("raise NotImplementedError(") == len(regions)
    assert "SOLUTION" not in stripped
    assert len(ast.parse(stripped).body) == len(source.tree.body)
