"""Prose in, notebooks out: what is not understood stops the release with its line; nbgrader gets what it expects."""

import re
from dataclasses import replace

import nbformat
import pytest

from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from release.notebooks import check_tasks, make_notebook, make_sources
from release.prose import (
    FOLDER,
    Answer,
    Code,
    Predict,
    Setup,
    TaskHead,
    Text,
    find_definitions,
    read_folder,
    read_prose,
)
from release.skeleton import ReleaseError

SAMPLE = """# One
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
    assert read_prose("a.md", SAMPLE) == [
        Text("# One\nfirst"),
        Setup(),
        TaskHead("1.2", 3, 30),
        Text("Idea.\n```text\n# no heading\n```"),
        Code('x = 1\n\ny = "```"', may_fail=False),
        Code("z = f(x)", may_fail=True),
        Answer("1.2"),
        Text("## Two\nlast"),
    ]


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


@pytest.mark.parametrize(
    "text",
    [
        *("```python\nx = 1\n", "{{setup}", "{{ task 1.2 }}", "{{answr 1.2}}", "{{task 1.2: hard}}"),
        *(QUESTION.replace(lost, "") for lost in ("Which sums to 1?", "- [ ] a column\n", "Why: one query's.\n")),
        QUESTION.replace("[x]", "[ ]"),
    ],
)
def test_what_is_not_understood_is_named(text) -> None:
    with pytest.raises(ReleaseError, match=r"^a.md:2: "):
        read_prose("a.md", f"text\n{text}")


@pytest.mark.parametrize("term", CORE.replace("\n", " ").split(", "))
def test_a_term_has_an_entry(term):
    assert term in TERMS


def test_every_word_in_italics_has_an_entry():
    for words in re.findall(r"(?<!\*)\*([^*\n]+(?:\n[^*\n]+)?)\*(?!\*)", TEXT):
        term = " ".join(words.split()).lower()
        forms = {term, term.removesuffix("s"), re.sub("ies$", "y", term), re.sub("ses$", "sis", term)}
        assert forms & TERMS or term in ("italics",), term


@pytest.mark.slow
def test_predictions_are_asked_before_the_answer_and_can_be_switched_off(assignment, skeleton) -> None:
    def ids(assignment) -> list[str]:
        name = "1_building_blocks.ipynb"
        cells = nbformat.reads(make_sources(assignment, skeleton, read_folder(ROOT))[name].decode(), 4).cells
        return [cell["id"] for cell in cells]

    asked = ids(assignment)
    assert asked.index("prediction-task-1_2") < asked.index("task_1_2_scaled_dot_product_attention")
    assert not any("predict" in name for name in ids(replace(assignment, predictions=False)))


@pytest.mark.slow
def test_texts_name_the_thresholds_of_the_assignment(course, assignment) -> None:
    changed = replace(assignment, thresholds={"beginner": 0.125, "advanced": 0.875})
    prose = {path.name: path.read_text() for path in (ROOT / FOLDER).glob("[0-9]*.md")}
    assert not any(f"{value:.2f}" in text for text in prose.values() for value in assignment.thresholds.values())
    name = "3_training_and_translation.md"
    notebook = make_notebook("3", read_prose(name, prose[name]), [], changed)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "5 points for BLEU of at least 0.125" in text and "5 points for BLEU of at least 0.875" in text


@pytest.mark.parametrize(
    "prose, message",
    [
        ("{{setup}}\n{{answer 1.1}}", "{{task 1.1: …}} is in none of the notebooks' prose"),
        ("{{setup}}\n{{answer 9.9}}", "a.md: there is no task 9.9, or it is here already"),
        ("{{setup}}\n{{answer 1.1}}\n{{answer 1.1}}", "a.md: there is no task 1.1, or it is here already"),
    ],
)
def test_tasks_out_of_place_stop_the_release(prose, message) -> None:
    assignment = read_assignment()
    one_task = replace(assignment, tasks=assignment.tasks[:1])
    with pytest.raises(ReleaseError) as caught:
        check_tasks({"a.md": read_prose("a.md", prose)}, one_task)
    assert message in str(caught.value)


@pytest.mark.slow
def test_notebooks_are_sound_and_have_the_skeletons_answers_and_the_assignments_points(
    course, assignment, skeleton, cells_of
) -> None:
    """Sound for Jupyter and nbgrader; nothing has outputs, which may hold anything."""
    from nbgrader.nbgraderformat import MetadataValidator  # here: it takes long to load

    cells = {}
    for files in (course.source, course.release):
        for path in [path for path in files if path.endswith(".ipynb")]:
            notebook = nbformat.reads(files[path].decode(), as_version=4)
            nbformat.validate(notebook)
            MetadataValidator().validate_nb(notebook)
            assert not any(cell.get("outputs") or cell.get("attachments") for cell in notebook.cells)
            cells |= cells_of(files, path)
    for definition in find_definitions(skeleton, assignment):
        assert (
            cells[f"task_{definition.task.replace('.', '_').lower()}_{definition.name}"]["source"].encode()
            in skeleton.files[f"{definition.module}.py"]
        )
    for task in (task for task in assignment.tasks if task.written or not task.by_hand):
        cell = cells[task.marker.replace("task", "test")]
        marks = cell["metadata"]["nbgrader"]
        assert (marks["grade"], marks["points"]) == (True, task.points)
        if not task.by_hand:
            assert cell["source"] == f'check("{task.number}")' and cell["metadata"]["editable"] is False
