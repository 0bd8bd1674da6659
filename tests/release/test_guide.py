"""guide.html: what the notebooks explain, as one page for those who work in files."""

import re

import pytest

from foundation.places import ROOT, SKELETON
from release.build import Project, make_package
from release.guide import make_guide


@pytest.fixture(scope="module")
def made():
    project = Project(ROOT, ROOT / "reference", ROOT)
    assignment, skeleton, _ = make_package(project)
    return assignment, make_guide(ROOT, assignment, skeleton).decode()


def test_each_task_has_its_idea_its_place_and_its_test(made):
    assignment, page = made
    for task in assignment.tasks:
        if task.components:
            section = page.partition(f"<h2>{task.number} ")[2].partition("<h2>")[0]
            assert "<strong>Idea" in section and f"python -m pytest -m {task.marker}" in section
            assert f"<code>{SKELETON.name}/" in section


def test_the_page_needs_nothing_from_elsewhere(made):
    page = made[1]
    assert set(re.findall(r'src="(\w+):', page)) == {"data"} and "<script" not in page and "<link" not in page
    assert page.count("<math") > 50 and "$$" not in page


def test_it_says_nothing_about_cells(made):
    assert "check(" not in made[1] and "run the cell" not in made[1] and "IPython" not in made[1]
