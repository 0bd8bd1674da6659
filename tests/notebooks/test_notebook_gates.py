"""The gates over notebooks fail where they have to, and name what is wrong."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from foundation.places import ROOT
from release.build import Release, make_package
from release.gates.marks import OPEN, SOLVED, Mark, notebooks_earn_their_share
from release.gates.running import Verdict, Workspace
from release.gates.structure import notebooks_are_sound
from release.leaks import LeakFinder
from release.skeleton.build import coded_tasks

FIRST = "1_building_blocks.ipynb"


@pytest.fixture(scope="module")
def skeleton(project):
    return make_package(project)[1]


@pytest.fixture
def workspace(project, course, assignment, skeleton, tmp_path) -> Callable[..., Workspace]:
    """A release whose students' notebooks have some cells changed: id -> what becomes of the cell."""

    def make(**changes: Callable[[dict], None]) -> Workspace:
        notebook = json.loads(course.release[FIRST])
        for cell in notebook["cells"]:
            if cell["id"] in changes:
                changes[cell["id"]](cell)
        files = {**course.release, FIRST: json.dumps(notebook).encode()}
        (tmp_path / "student").symlink_to(ROOT / "student")
        release = Release(assignment, skeleton, {}, {}, {}, replace(course, release=files))
        return Workspace(project, release, tmp_path)

    return make


def solve(course, name: str) -> Callable[[dict], None]:
    """Puts the solution into an answer cell, as a misplaced marker would."""
    solved = next(one.solved for one in course.definitions if one.name == name)
    return lambda cell: cell.update(source=solved.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", ""))


def test_the_real_notebooks_are_sound(workspace) -> None:
    assert not notebooks_are_sound(workspace()).faults


def test_an_answer_that_is_not_the_skeletons(workspace, course) -> None:
    found = notebooks_are_sound(workspace(task_1_4_LayerNorm=solve(course, "LayerNorm")))
    assert list(found.faults) == ["the answer cell task_1_4_LayerNorm is not what the skeleton has"]


def test_points_that_are_not_the_assignments(workspace) -> None:
    found = notebooks_are_sound(workspace(test_1_4=lambda cell: cell["metadata"]["nbgrader"].update(points=11)))
    assert list(found.faults) == ["task 1.4: its test cell has 11 points, not 10"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        lambda cell, text: cell.update(source=text),
        lambda cell, text: cell["metadata"].update(note=text),
        lambda cell, text: cell.update(outputs=[{"output_type": "stream", "name": "stdout", "text": [text]}]),
        lambda cell, text: cell.update(attachments={"a.txt": {"text/plain": text}}),
    ],
)
def test_a_solution_is_found_wherever_it_is_in_a_notebook(workspace, skeleton, place) -> None:
    source = skeleton.sources["layers.py"]
    region = next(one for one in skeleton.regions["layers.py"] if one.function == "LayerNorm.forward")
    text = "".join(source.lines[region.begin : region.end - 1])
    made = workspace(test_1_4=lambda cell: place(cell, text))
    leaks = LeakFinder(skeleton).leaks_in(FIRST, made.release.course.release[FIRST])
    assert leaks and all("layers.py" in leak for leak in leaks)


def test_points_for_an_empty_notebook_are_found(workspace, assignment, skeleton) -> None:
    tasks = coded_tasks(assignment)
    solved = {task.number: Mark(task.points, "passed", "") for task in tasks}
    regions = [region for found in skeleton.regions.values() for region in found]
    todos = {region.hint.number: Mark(0, "not attempted", region.message) for region in regions}
    release = workspace().release
    marks = {SOLVED: solved, OPEN: todos}
    assert notebooks_earn_their_share(release, marks) == Verdict("solved 90 of 90 points, as handed out none", [])
    marks = {SOLVED: solved | {"1.2": Mark(3, "failed", "no")}, OPEN: todos | {"1.1": solved["1.1"]}}
    assert list(notebooks_earn_their_share(release, marks).faults) == [
        "with solutions: task 1.2 (attention): 3 of 14, failed: no",
        "as handed out: task 1.1 (embedding) is not solved, and earns 4 points",
        "as handed out: task 1.1 (embedding): no TODO message: no message",
    ]
