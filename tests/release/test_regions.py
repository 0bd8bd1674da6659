"""Regions and hints; every malformed one is an error with its line and what would be right."""

import pytest

TODO, BEGIN, END = "# TODO 1.1: text", "### BEGIN SOLUTION", "### END SOLUTION"


def function(*lines: str) -> str:
    """A function whose body are these lines: the first one is line 2 of the file."""
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


def test_a_region_has_its_hint_lines_and_function(regions_of) -> None:
    body = ("# TODO 1.3: double it,", "# and no more.", BEGIN, "y = x * 2", "return y", END)
    (region,), problems = regions_of(function(*body))
    assert not problems
    assert (region.begin, region.end, region.indent, region.function) == (4, 7, "    ", "f")
    assert region.message == "TODO 1.3: double it, and no more."


SOUND = {
    "decorators, definitions, comments, blank lines and blocks belong to their statement": function(
        *(TODO, BEGIN, "# a comment first", "", "@staticmethod", "def inner():", "    for _ in ():", "        pass"),
        *('with open("x") as file: pass', "", "return {", '    "a": 1,', "}", "# and one last", END),
    ),
    "given code before and after, in a branch": function(
        *("if x:", f"    {TODO}", f"    {BEGIN}", "    x += 1", f"    {END}", "else:", "    x -= 1", "return x")
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_regions_pass(regions_of, name: str) -> None:
    regions, problems = regions_of(SOUND[name])
    assert not problems
    assert len(regions) == 1


BODIES = {
    "no hint": ((BEGIN, "pass", END), 2, "without a hint"),
    "hint without text": (("# TODO 1.1:", BEGIN, "pass", END), 3, "without a hint"),
    "unknown task": (("# TODO 7.7: text", BEGIN, "pass", END), 3, "there is no task 7.7"),
    "hint without a region": ((TODO, "return 1"), 0, "has 1 hints, but 0 solutions"),
    "hint inside a region": ((TODO, BEGIN, "# TODO 1.2: more", "pass", END), 0, "has 2 hints, but 1 solutions"),
    "unbalanced begin": ((TODO, BEGIN, "pass"), 3, "without an"),
    "nested": ((TODO, BEGIN, "# TODO 1.2: t", BEGIN, "pass", END, END), 5, "inside a region"),
    "misspelled begin": ((TODO, "## BEGIN SOLUTION", "pass", END), 5, "without a `### BEGIN"),
    "misspelled markers": ((TODO, "## BEGIN SOLUTION", "pass", "## END SOLUTION"), 0, "has 1 hints"),
    "empty": ((TODO, BEGIN, "# nothing but a comment", END, "return x"), 3, "no whole statement"),
    "the head of a block only": ((TODO, BEGIN, "z = 2", "if x:", END, "    y = 1"), 5, "cuts a statement"),
    "runs into else": (
        ("if x:", f"    {TODO}", f"    {BEGIN}", "    y = 1", "else:", f"    {END}", "    y = 2"),
        *(6, "leaves its block"),
    ),
    "in the body of a class": (
        ("class A:", f"    {TODO}", f"    {BEGIN}", "    x = 1", f"    {END}"),
        *(4, "outside any function"),
    ),
    "with the docstring": ((TODO, BEGIN, '"""Doc."""', "return 1", END), 3, "docstring"),
}
WHOLE_FILES = {
    "at the level of the module": (f"{TODO}\n{BEGIN}\nX = 1\n{END}\n", 2, "any function"),
    "runs into the next function": (
        f"def f(x):\n    {TODO}\n    {BEGIN}\n    return 1\n\n\ndef g(x):\n    {END}\n    return 2\n",
        *(7, "leaves its block"),
    ),
}
MALFORMED = {
    **{name: (function(*body), line, says) for name, (body, line, says) in BODIES.items()},
    **WHOLE_FILES,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_region_is_an_error_with_its_line(regions_of, name: str) -> None:
    text, line, says = MALFORMED[name]
    _, problems = regions_of(text)
    matching = [problem for problem in problems if says in problem]
    assert matching, problems
    place = f"a.py:{line}: " if line else "a.py: "
    assert matching[0].startswith(place) and "; " in matching[0]  # and what would be right
