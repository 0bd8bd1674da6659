"""Prose in, parts out; whatever is not understood stops the release with its line."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.places import ROOT
from release.prose import Answer, Code, Predict, Setup, TaskHead, Text, read_prose
from release.regions import ReleaseError

DIRECTIVES = ("{{setup}}", "{{task 1.2: difficulty 3, 30 minutes}}", "{{answer 1.2}}")
PROSE = """# One
first

{{setup}}

{{task 1.2: difficulty 3, 30 minutes}}
Idea.
```text
# no heading
```
```python
x = 1

y = "```"
```
```python try
z = f(x)
```
{{answer 1.2}}
## Two
last
"""
TEXT = (ROOT / "notebooks/prose/glossary.md").read_text(encoding="utf-8").partition("\n## ")[0]
HEADINGS = re.findall(r"^\*\*(.+?)\.?\*\*", TEXT, re.MULTILINE)
TERMS = {term.lower() for heading in HEADINGS for term in re.split(r", | \(|\)", heading) if term}
CORE = """attention, backpropagation, bleu, dropout, embedding, encoder, epoch, logits, loss, mask, overfitting, query,
key, value, regularisation, softmax, token, d_model, gradient clipping, head dimension, score matrix, weight decay,
residual connection, positional encoding, learning rate, layer normalisation, alignment error rate, feed-forward
network"""


def test_parts_come_in_order() -> None:
    assert read_prose("a.md", PROSE) == [
        Text("# One\nfirst"),
        Setup(),
        TaskHead("1.2", 3, 30),
        Text("Idea.\n```text\n# no heading\n```"),
        Code('x = 1\n\ny = "```"', may_fail=False),
        Code("z = f(x)", may_fail=True),
        Answer("1.2"),
        Text("## Two\nlast"),
    ]


def test_a_fence_without_an_end_is_named() -> None:
    with pytest.raises(ReleaseError, match=r"^a.md:2: the block that begins here is not closed; write "):
        read_prose("a.md", "text\n```python\nx = 1\n")


@given(
    st.sampled_from(DIRECTIVES),
    st.integers(0, 30),
    st.sampled_from(["", *string.ascii_letters, " ", "}", "{", "-", "."]),
    st.booleans(),
)
def test_a_misspelled_directive_never_passes_as_text(directive, place, character, is_replaced) -> None:
    place %= len(directive)
    written = directive[:place] + character + directive[place + is_replaced :]
    try:
        parts = read_prose("a.md", f"text\n{written}\nmore\n")
    except ReleaseError as error:
        assert str(error).startswith("a.md:2: ")
    else:
        # Still a directive: another number, say, or a space more.
        assert [type(part) for part in parts[::2]] == [Text, Text]
        assert parts[0].text == "text" and parts[2].text == "more"


QUESTION = """```predict 1.2
Which sums to 1?

- [ ] a column
- [x] a row

Why: one query's.
```
"""


def test_a_question_has_choices_of_which_one_is_right() -> None:
    [question] = read_prose("a.md", QUESTION)
    assert question == Predict("1.2", "Which sums to 1?", ("a column", "a row"), 1, "one query's.")
    assert question.text == "**Predict.** Which sums to 1?\n\n- **a** a column\n- **b** a row"


@pytest.mark.parametrize("lost", ["Which sums to 1?", "- [ ] a column\n", "[x]", "Why: one query's.\n"])
def test_an_incomplete_question_is_named(lost) -> None:
    with pytest.raises(ReleaseError, match=r"^a.md:1: the question about task 1.2 is not complete"):
        read_prose("a.md", QUESTION.replace(lost, "[ ]" if lost == "[x]" else ""))


@pytest.mark.parametrize("term", CORE.replace("\n", " ").split(", "))
def test_a_term_has_an_entry(term):
    assert term in TERMS


def test_every_word_in_italics_has_an_entry():
    for words in re.findall(r"(?<!\*)\*([^*\n]+(?:\n[^*\n]+)?)\*(?!\*)", TEXT):
        term = " ".join(words.split()).lower()
        forms = {term, term.removesuffix("s"), re.sub("ies$", "y", term), re.sub("ses$", "sis", term)}
        assert forms & TERMS or term in ("italics",), term


def test_files_and_names_exist():
    places = re.findall(r"`([\w/]+\.py)`,\s+`([\w.]+)`", TEXT)
    assert len(places) >= 8
    for file, name in places:
        code = (ROOT / ("" if "/" in file else "reference") / file).read_text(encoding="utf-8")
        assert all(re.search(rf"\b{part}\b", code) for part in name.split(".")), f"{file}: {name}"
