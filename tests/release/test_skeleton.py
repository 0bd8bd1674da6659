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


ELIF = ("if x:", "    y = 1", TODO, BEGIN, "elif not x:", "    y = 2", END, "y = 3")
ELSE = ("if x:", f"    {TODO}", f"    {BEGIN}", "    y = 1", "else:", f"    {END}", "    y = 2")
CLASS = ("class A:", f"    {TODO}", f"    {BEGIN}", "    x = 1", f"    {END}")


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ((BEGIN, "pass", END), 2, "without a hint"),
        (("# TODO 7.7: text", BEGIN, "pass", END), 3, "there is no task 7.7"),
        ((TODO, "return 1"), 0, "has 1 hints, but 0 solutions"),
        ((TODO, BEGIN, "# TODO 1.2: more", "pass", END), 0, "has 2 hints, but 1 solutions"),
        ((TODO, BEGIN, "pass"), 3, "without an"),
        ((TODO, BEGIN, "# TODO 1.2: t", BEGIN, "pass", END, END), 5, "inside a region"),
        ((TODO, "## BEGIN SOLUTION", "pass", END), 5, "without a `### BEGIN"),
        ((TODO, BEGIN, "# nothing but a comment", END, "return x"), 3, "is empty, outside any function, or"),
        ((TODO, BEGIN, "z = 2", "if x:", END, "    y = 1"), 5, "cuts a statement"),
        (ELSE, 6, "leaves its block"),
        (ELIF, 6, "leaves its block"),
        (CLASS, 4, "outside any function"),
        ((TODO, BEGIN, '"""Doc."""', "return 1", END), 3, "its docstring"),
    ],
)
def test_a_malformed_region_is_an_error_with_its_line(lines: tuple[str, ...], line: int, says: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        find_regions(parse_source("a.py", function(*lines)), TASKS)
    matching = [problem for problem in str(caught.value).splitlines() if says in problem]
    place = f"a.py:{line}: " if line else "a.py: "
    assert matching and matching[0].startswith(place) and "; " in matching[0], caught.value  # and what would be right
