"""What resembles a marker, and what does not."""

import pytest

from release.skeleton.markers import BEGIN, END, meant_in_comment

MISSPELLED = {
    BEGIN: [
        "## BEGIN SOLUTION",
        "# BEGIN SOLUTION",
        "#### BEGIN SOLUTION",
        "###BEGIN SOLUTION",
        "### BEGIN  SOLUTION",
        "### BEGIN\tSOLUTION",
        "### BEGIN SOLUTION ",
        "### BEGIN SOLUTION:",
        "### BEGIN SOLUTION 1.3",
        "### BEGIN SOLUTIONS",
        "### BEGIN SOLUTON",
        "### BEGIN SOLUTOIN",
        "### BEGNI SOLUTION",
        "### Begin Solution",
        "# begin solution",
        "### BEGIN_SOLUTION",
        "### BEGINSOLUTION",
        "### BE GIN SOLUTION",
        "### SOLUTION BEGIN",
        "### START SOLUTION",
        "### BEGIN ANSWER",
        "# # # BEGIN SOLUTION",
        "#: BEGIN SOLUTION",
        "### BEGIN SOLUT\u0406ON",  # a Cyrillic I
        "### \uff22EGIN SOLUTION",  # a full-width B
        "# here: BEGIN SOLUTION",
        "### BEGIN",
    ],
    END: [
        "## END SOLUTION",
        "#END SOLUTION",
        "### End Solution",
        "### END SOLUTIO",
        "### EDN SOLUTION",
        "### AND SOLUTION",
        "### SOLUTION END",
        "### ENDSOLUTION",
        "### STOP SOLUTION",
        "### END OF SOLUTION",
        "### END",
    ],
}
PLAIN = [
    "# the solution of this equation",
    "# and solutions are found by search",
    "# begin with the first token",
    "# end of sentence",
    "## a heading",
    "# Section 3.2: resolution",
    "# TODO 1.3: find the solution of the equation",
    "# (b, h, q, k)",
    "########",
    "#",
    "# BEGIN: bos, END: eos",
    BEGIN,
    END,
]


@pytest.mark.parametrize(
    ("meant", "comment"), [(meant, comment) for meant in MISSPELLED for comment in MISSPELLED[meant]]
)
def test_a_misspelled_marker_is_recognised(meant: str, comment: str) -> None:
    assert meant_in_comment(comment) == meant


@pytest.mark.parametrize("comment", PLAIN)
def test_other_comments_are_none(comment: str) -> None:
    assert meant_in_comment(comment) is None


@pytest.mark.parametrize("edge", [BEGIN, END])
def test_one_slip_of_the_keyboard_is_recognised(edge: str) -> None:
    """A letter too few, doubled, exchanged with its neighbour, or in the other case, anywhere in a marker."""
    for place in range(4, len(edge) - 1):
        before, one, two, after = edge[:place], edge[place], edge[place + 1], edge[place + 2 :]
        for slip in (before + two + after, before + one + one + two + after, before + two + one + after):
            assert meant_in_comment(slip) in (edge, None if slip == edge else edge), slip
        assert meant_in_comment(before + one.swapcase() + two + after) in (edge, None if one == " " else edge)
