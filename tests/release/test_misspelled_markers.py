"""What resembles a marker, and what does not."""

import pytest

from release.skeleton.misspelled_markers import BEGIN, END, meant_in_comment, meant_in_string

MISSPELLED_BEGINS = [
    "## BEGIN SOLUTION",
    "# BEGIN SOLUTION",
    "#### BEGIN SOLUTION",
    "###BEGIN SOLUTION",
    "###  BEGIN SOLUTION",
    "### BEGIN  SOLUTION",
    "### BEGIN\tSOLUTION",
    "### BEGIN SOLUTION ",
    "### BEGIN SOLUTION:",
    "### BEGIN SOLUTION 1.3",
    "### BEGIN SOLUTIONS",
    "### BEGIN SOLUTON",
    "### BEGIN SOLUTOIN",
    "### BEGNI SOLUTION",
    "### BGIN SOLUTION",
    "### Begin Solution",
    "### begin solution",
    "# begin solution",
    "### BEGIN_SOLUTION",
    "### BEGIN-SOLUTION",
    "### BEGINSOLUTION",
    "### BE GIN SOLUTION",
    "### SOLUTION BEGIN",
    "### START SOLUTION",
    "### BEGIN ANSWER",
    "# # # BEGIN SOLUTION",
    "#: BEGIN SOLUTION",
    "### <BEGIN SOLUTION>",
    "### BEGIN SOLUT\u0406ON",  # a Cyrillic I
    "### \uff22EGIN SOLUTION",  # a full-width B
    "# here: BEGIN SOLUTION",
    "### BEGIN",
]
MISSPELLED_ENDS = [
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
]
PLAIN_COMMENTS = [
    "# the solution of this equation",
    "# and solutions are found by search",
    "# begin with the first token",
    "# end of sentence",
    "## a heading",
    "# Section 3.2: resolution",
    "# TODO 1.3: find the solution of the equation",
    "# (b, h, q, k)",
    "#",
    "",
    "# BEGIN: bos, END: eos",
]


@pytest.mark.parametrize("comment", MISSPELLED_BEGINS)
def test_a_misspelled_begin_is_recognised(comment: str) -> None:
    assert BEGIN in (meant_in_comment(comment) or "")


@pytest.mark.parametrize("comment", MISSPELLED_ENDS)
def test_a_misspelled_end_is_recognised(comment: str) -> None:
    assert END in (meant_in_comment(comment) or "")


@pytest.mark.parametrize("comment", PLAIN_COMMENTS)
def test_a_plain_comment_is_none(comment: str) -> None:
    assert meant_in_comment(comment) is None


@pytest.mark.parametrize("comment", [BEGIN, END])
def test_the_exact_spelling_is_no_lookalike(comment: str) -> None:
    assert meant_in_comment(comment) is None
    assert meant_in_string(f"The line `{comment}` is mentioned in this sentence.") is None


@pytest.mark.parametrize(
    "line", ["## BEGIN SOLUTION", "  # end solution", "put BEGIN SOLUTON here", "#### END SOLUTION"]
)
def test_a_line_of_a_string_may_resemble_one(line: str) -> None:
    assert meant_in_string(line)


@pytest.mark.parametrize("line", ["the best solution so far", "begin solution search", "Returns: the solution."])
def test_prose_in_a_string_is_none(line: str) -> None:
    assert meant_in_string(line) is None
