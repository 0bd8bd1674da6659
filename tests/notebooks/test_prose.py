"""Prose in, notebooks out: what is not understood stops the release with its line; nbgrader gets what it expects."""

import re
from dataclasses import replace

import nbformat
import pytest

from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from release.notebooks import check_tasks, make_sources
from release.prose import Part, find_definitions, read_prose
from release.skeleton import ReleaseError

from ..conftest import examples_in
from .conftest import cells_of

EXAMPLES = examples_in("notebooks/prose.toml")
QUESTION = EXAMPLES["question"]
SAMPLE = EXAMPLES["sample"].replace("{question}\n", QUESTION)

TEXT = (ROOT / "notebooks/prose/glossary.md").read_text(encoding="utf-8").partition("\n## ")[0]
HEADINGS = re.findall(r"^\*\*(.+?)\.?\*\*", TEXT, re.MULTILINE)
TERMS = {term.lower() for heading in HEADINGS for term in re.split(r", | \(|\)", heading) if term}


def test_parts_come_in_order() -> None:
    question = "**Predict.** Which sums to 1?\n\n- **a** a column\n- **b** a row"
    assert read_prose("a.md", SAMPLE) == [
        Part("text", "# One\nfirst"),
        Part("setup"),
        Part("task", number="1.2", difficulty=3, minutes=30),
        Part("text", "Idea.\n```text\n# no heading\n```"),
        Part("predict", question, "1.2", letters="ab", right="b", why="one query's."),
        Part("code", 'x = 1\n\ny = "```"'),
        Part("try", "z = f(x)"),
        Part("answer", number="1.2"),
        Part("text", "## Two\nlast"),
    ]


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


def test_a_term_has_an_entry():
    assert set(EXAMPLES["terms"].replace("\n", " ").split(", ")) <= TERMS
    for words in re.findall(r"(?<!\*)\*([^*\n]+(?:\n[^*\n]+)?)\*(?!\*)", TEXT):  # in italics
        term = " ".join(words.split()).lower()
        forms = {term, term.removesuffix("s"), re.sub("ies$", "y", term), re.sub("ses$", "sis", term)}
        assert forms & TERMS or term in ("italics",), term


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
def test_the_assignment_decides_on_predictions_and_thresholds(assignment, package) -> None:
    thresholds = {"beginner": 0.125, "advanced": 0.875}
    changed = replace(assignment, predictions=False, thresholds=thresholds)
    skeletons = (replace(package.skeleton, assignment=made) for made in (assignment, changed))
    usual, other = (make_sources(skeleton, package.prose) for skeleton in skeletons)
    ids, others = ([*cells_of(files, "1_building_blocks.ipynb")] for files in (usual, other))
    assert ids.index("prediction-task-1_2") < ids.index("task_1_2_scaled_dot_product_attention")
    assert not any("predict" in name for name in others)
    for value in thresholds.values():
        assert f"5 points for BLEU of at least {value}" in other["3_training_and_translation.ipynb"].decode()


@pytest.mark.slow
def test_notebooks_are_sound_and_have_the_skeletons_answers_and_the_assignments_points(course, package) -> None:
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
    for part in find_definitions(package.skeleton):
        cell = cells[f"task_{part.task.replace('.', '_').lower()}_{part.name}"]
        assert cell["source"].encode() in package.skeleton.files[f"{part.module}.py"]
    for task in (task for task in package.skeleton.assignment.tasks if task.written or not task.by_hand):
        cell = cells[task.marker.replace("task", "test")]
        marks = cell["metadata"]["nbgrader"]
        assert (marks["grade"], marks["points"]) == (True, task.points)
        if not task.by_hand:
            assert cell["source"] == f'check("{task.number}")' and cell["metadata"]["editable"] is False
