"""Regions, and stripping: imports of the solution go, all else stays; a malformed region is an error with its line."""

from dataclasses import replace

import pytest

from release.skeleton import (
    ReleaseError,
    drop_unused_imports,
    find_regions,
    make_skeleton,
    parse_source,
    strip_regions,
)

from ..conftest import examples_in

TASKS = ("1.1", "1.2", "1.3", "E.1")
SOLVED = '''X = """a
\tb"""
\x0c
def f(x):
    """Doubles."""
    given = 1
    # TODO 1.3: double it,
    # and return it.
    ### BEGIN SOLUTION
    # a comment first
    y = x * 2
    return y
    ### END SOLUTION
    after = 2  # given'''
OPEN = f'{SOLVED.partition("    ###")[0]}    raise NotImplementedError("TODO 1.3")\n    after = 2  # given'


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_the_solution_becomes_a_raise_below_its_hint(newline: str, last: str) -> None:
    source = parse_source("a.py", (SOLVED + last).replace("\n", newline))
    assert strip_regions(replace(source, regions=find_regions(source, TASKS))) == (OPEN + last).replace("\n", newline)


def test_every_problem_of_every_file_is_reported(reference_files, example_release) -> None:
    broken = dict(reference_files)
    broken["loss.py"] = broken["loss.py"].replace(b"### END SOLUTION", b"### END SOLUTON", 1)
    broken["affine.py"] = broken["affine.py"].replace(b"# TODO 1.1:", b"# TODO 9.9:", 1)
    broken |= {"new.py": b"def f(:\n", "latin.py": b"# caf\xe9\n", "notes.txt": b"notes"}
    with pytest.raises(ReleaseError) as caught:
        make_skeleton(broken, example_release.assignment)
    files = {problem.partition(":")[0] for problem in str(caught.value).splitlines()}
    assert files == {f"reference/{name}" for name in ("loss.py", "affine.py", "new.py", "latin.py", "notes.txt")}
    assert "reference/new.py:1: is not valid Python" in str(caught.value)
    with pytest.raises(ReleaseError, match=r"task 1\.2 \(loss\) has no `# TODO 1\.2:` region"):
        make_skeleton({**reference_files, "loss.py": b"def squared_error(): ...\n"}, example_release.assignment)


IMPORTS = {
    "from a import b, c as d, e\nb(), e()\n": "from a import b, e\nb(), e()\n",
    '"""Doc."""\n\nimport a\n\nimport b\n\n\nx = b\n': '"""Doc."""\n\nimport b\n\n\nx = b\n',
    '"""Doc."""\n\nimport a\n\n\nx = 1\n': '"""Doc."""\n\n\nx = 1\n',
}


def test_imports_that_only_the_solution_used_go() -> None:
    for text, expected in IMPORTS.items():
        assert drop_unused_imports(text) == expected


TODO, BEGIN, END = "# TODO 1.1: text", "### BEGIN SOLUTION", "### END SOLUTION"


def function(*lines: str) -> str:
    """A function whose body are these lines: the first one is line 2 of the file."""
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


def test_decorators_definitions_comments_blank_lines_and_blocks_belong_to_their_statement() -> None:
    inner = ("# a comment first", "", "@staticmethod", "def inner():", "    for _ in ():", "        pass")
    last = ('with open("x") as file: pass', "", "return {", '    "a": 1,', "}", "# and one last")
    branch = ("if x:", f"    {TODO}", f"    {BEGIN}", "    x += 1", f"    {END}", "else:", "    x -= 1", "return x")
    for lines in ((TODO, BEGIN, *inner, *last, END), branch):
        assert len(find_regions(parse_source("a.py", function(*lines)), TASKS)) == 1


@pytest.mark.parametrize("case", examples_in("release/skeleton.toml")["malformed"], ids=lambda case: case["says"])
def test_a_malformed_region_is_an_error_with_its_line(case) -> None:
    with pytest.raises(ReleaseError) as caught:
        find_regions(parse_source("a.py", function(*case["body"].splitlines())), TASKS)
    matching = [problem for problem in str(caught.value).splitlines() if case["says"] in problem]
    place = f"a.py:{case['line']}: " if "line" in case else "a.py: "
    assert matching and matching[0].startswith(place) and "; " in matching[0], caught.value  # and what would be right
