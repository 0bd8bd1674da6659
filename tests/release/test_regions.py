"""Regions and hints; every malformed one is an error with its line and what would be right."""

import pytest

GOOD = """\
def f(x):
    # TODO 1.3: double it,
    # and no more.
    ### BEGIN SOLUTION
    y = x * 2
    return y
    ### END SOLUTION
"""


def test_a_region_has_its_hint_lines_and_function(regions_of) -> None:
    (region,), problems = regions_of(GOOD)
    assert not problems
    assert (region.begin, region.end, region.indent, region.function) == (4, 7, "    ", "f")
    assert region.message == "TODO 1.3: double it, and no more."
    assert (region.hint.first_line, region.hint.last_line) == (2, 3)


def test_methods_and_inner_functions_have_qualified_names(regions_of) -> None:
    regions, problems = regions_of("""
        class A:
            def g(self):
                # TODO 1.1: one
                ### BEGIN SOLUTION
                return 1
                ### END SOLUTION

            def h(self):
                def inner():
                    if True:
                        # TODO 1.2: two
                        ### BEGIN SOLUTION
                        return 2
                        ### END SOLUTION
                return inner
    """)
    assert not problems
    assert [region.function for region in regions] == ["A.g", "A.h.<locals>.inner"]


@pytest.mark.parametrize(
    "text",
    [
        # decorators, inner definitions, comments, blank lines and nested blocks belong to their statement
        """
        def f():
            # TODO 1.1: text
            ### BEGIN SOLUTION
            # a comment first

            @staticmethod
            def inner():
                for _ in ():
                    pass
            with open("x") as file: pass

            return {
                "a": 1,
            }
            # and one last
            ### END SOLUTION
        """,
        # given code before and after, in a branch
        """
        def f(x):
            if x:
                # TODO 1.1: text
                ### BEGIN SOLUTION
                x += 1
                ### END SOLUTION
            else:
                x -= 1
            return x
        """,
        # markers inside a string are text
        '''
        def f():
            """Says `### BEGIN SOLUTION` and `### END SOLUTION`.

            ### BEGIN SOLUTION
            ### END SOLUTION
            """
        ''',
        "\ndef f():\n\t# TODO 1.1: tabs\n\t### BEGIN SOLUTION\n\tpass\n\t### END SOLUTION\n",
    ],
)
def test_sound_regions_pass(regions_of, text: str) -> None:
    regions, problems = regions_of(text)
    assert not problems
    assert len(regions) == ("TODO" in text)


def region(body: str, begin: str = "### BEGIN SOLUTION", end: str = "### END SOLUTION") -> str:
    """A function with one region in it; `body` is indented by four spaces."""
    return f"def f(x):\n    # TODO 1.1: text\n    {begin}\n{body}\n    {end}\n"


MALFORMED = {
    "unbalanced begin": ("def f():\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    pass\n", 3, "without an"),
    "orphaned end": ("def f():\n    pass\n    ### END SOLUTION\n", 3, "without a `### BEGIN"),
    "nested": (
        region("    # TODO 1.2: t\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION"),
        5,
        "nest",
    ),
    "no hint": ("def f():\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION\n", 2, "without a hint"),
    "blank line below the hint": (
        "def f():\n    # TODO 1.1: t\n\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION\n",
        4,
        "without a hint",
    ),
    "other comment instead of a hint": (
        "def f():\n    # do it\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION\n",
        3,
        "without a hint",
    ),
    "hint without text": (region("    pass").replace("1.1: text", "1.1:"), 2, "is not a hint"),
    "hint without colon": (region("    pass").replace("1.1:", "1.1"), 2, "is not a hint"),
    "hint in lower case": (region("    pass").replace("TODO", "todo"), 2, "is not a hint"),
    "hint after code": ("x = 1  # TODO 1.1: text\n", 1, "is not a hint"),
    "hint elsewhere indented": (
        "def f():\n  # TODO 1.1: t\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION\n".replace(
            "  # TODO", "        # TODO"
        ),
        2,
        "not indented like the marker",
    ),
    "unknown task": (region("    pass").replace("1.1", "7.7"), 2, "there is no task 7.7"),
    "hint without a region": ("def f():\n    # TODO 1.1: text\n    return 1\n", 2, "without a solution"),
    "hint inside a region": (region("    # TODO 1.2: more\n    pass"), 4, "inside a solution"),
    "marker after code": ("def f():\n    x = 1  ### BEGIN SOLUTION\n", 2, "after code"),
    "empty": (region("    # nothing but a comment") + "    return x\n", 3, "no whole statement"),
    "markers not alike": (
        region("    if x:\n        pass").replace("    ### END", "        ### END"),
        6,
        "alike",
    ),
    "solution deeper than its marker": (
        "def f(x):\n    if x:\n        y = 1\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    ### END SOLUTION\n",
        5,
        "no whole statement",
    ),
    "begins in the middle of a statement": (
        "def f(x):\n    y = (\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    x)\n    z = 2\n    ### END SOLUTION\n",
        5,
        "cuts a statement",
    ),
    "ends in the middle of a statement": (
        "def f(x):\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    z = 2\n    y = (\n    ### END SOLUTION\n    x)\n",
        5,
        "cuts a statement",
    ),
    "takes the head of a block only": (
        "def f(x):\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    z = 2\n    if x:\n"
        "    ### END SOLUTION\n        y = 1\n",
        5,
        "cuts a statement",
    ),
    "runs into else": (
        "def f(x):\n    if x:\n        # TODO 1.1: t\n        ### BEGIN SOLUTION\n        y = 1\n    else:\n"
        "        ### END SOLUTION\n        y = 2\n",
        6,
        "leaves its block",
    ),
    "runs into the next function": (
        "def f(x):\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    return 1\n\n\ndef g(x):\n"
        "    ### END SOLUTION\n"
        "    return 2\n",
        7,
        "leaves its block",
    ),
    "at the level of the module": (
        "# TODO 1.1: t\n### BEGIN SOLUTION\nX = 1\n### END SOLUTION\n",
        2,
        "any function",
    ),
    "in the body of a class": (
        "def f():\n    class A:\n        # TODO 1.1: t\n        ### BEGIN SOLUTION\n        x = 1\n"
        "        ### END SOLUTION\n",
        4,
        "body of a class",
    ),
    "with the docstring": (
        'def f():\n    # TODO 1.1: t\n    ### BEGIN SOLUTION\n    """Doc."""\n    return 1\n    ### END SOLUTION\n',
        3,
        "docstring",
    ),
    "misspelled begin": (region("    pass", begin="## BEGIN SOLUTION"), 3, "looks like a marker"),
    "misspelled end": (region("    pass", end="### End Solution"), 5, "looks like a marker"),
    "misspelled both": (region("    pass", "###BEGIN SOLUTION", "###END SOLUTION"), 3, "looks like a marker"),
    "solution inside a string": (
        'def f():\n    """Doc.\n\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n    """\n',
        4,
        "inside a string",
    ),
    "misspelled inside a string": (
        'def f():\n    """Doc.\n\n    ## END SOLUTION\n    """\n',
        4,
        "looks like a marker",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_region_is_an_error_with_its_line(regions_of, name: str) -> None:
    text, line, says = MALFORMED[name]
    _, problems = regions_of(text)
    matching = [problem for problem in problems if says in problem]
    assert matching, problems
    assert matching[0].startswith(f"a.py:{line}: ")
    assert "; " in matching[0]  # and what would be right


def test_all_problems_of_a_file_are_reported(regions_of) -> None:
    _, problems = regions_of("""
        def f():
            ### END SOLUTION
            # TODO 8.8: what
            ### BEGIN SOLUTION
            return 1
            ### END SOLUTION
            ## BEGIN SOLUTION
            x = 1
        """)
    assert [problem.split(":")[1] for problem in problems] == ["3", "4", "8", "8"]  # the last is misspelled and open


def test_the_nearest_task_is_named(regions_of) -> None:
    _, (problem,) = regions_of(region("    pass").replace("1.1", "1.33"))
    assert "1.3 is the nearest" in problem
