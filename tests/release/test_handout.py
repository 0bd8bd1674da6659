"""What students read beside the notebooks: guide.html, and what the course allows coding assistants to do."""

import html
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from benchmarks.accessibility import audit
from foundation.assignment_file import read_assignment
from foundation.assignment_tables import LatePolicy
from foundation.places import ROOT, SKELETON
from release.build import Project, make_package
from release.handout import NAMES, files_for_assistants, make_guide, words_of

from .conftest import ROOM

ASKED = {
    "none": ("without a coding assistant", "do not write"),
    "tutor": ("not for answers", "ask back first"),
    "free": ("every line", "defend"),
}


@pytest.fixture(scope="module")
def page() -> str:
    package = make_package(Project(ROOT))
    return make_guide(ROOT, package.assignment, package.skeleton, package.prose).decode()


def test_each_task_has_its_idea_its_place_and_its_test_and_nothing_is_said_of_cells(page):
    for task in read_assignment().tasks:
        if task.components:
            section = page.partition(f"<h2>{task.number} ")[2].partition("<h2>")[0]
            assert "<strong>Idea" in section and f"python -m pytest -m {task.marker}" in section
            assert f"<code>{SKELETON.name}/" in section
    assert not re.search(r"\b(check|display|draw|refresh)\(|IPython|support/|(this|next|the next) cell\b", page)
    assert "this notebook" not in page and "In files.</strong>" in page and "Write it in ," not in page
    assert {*re.findall(r'href="#([^"]*)"', page)} <= {*re.findall(r'id="([^"]*)"', page)}, "links lead somewhere"


def test_its_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    namespace: dict[str, object] = {}
    for example in re.findall(r"<pre tabindex=\"0\"><code>(.*?)</code></pre>", page, re.DOTALL):
        if not example.startswith("python -m"):
            exec(re.sub(rf"\b{SKELETON.name}\.", "reference.", html.unescape(example)), namespace)
    assert (tmp_path / "matrices.png").is_file() and {"batch", "tiny"} <= namespace.keys()


def test_the_handout_has_a_row_for_every_task_and_rounds_nothing(project, edit):
    handout = make_package(project).handout["README.md"].decode()
    assert "| 1.1 | Affine map | 4 |  |  | `student/affine.py` |" in handout and "{" not in handout
    assert "0.30" in handout and "| 2.1 | Regressor | 4 (bonus) |" in handout
    for old, new in (("= 0.30", "= 0.255"), ('"Affine map"', '"Affine | map"'), ("points = 2", "points = 0")):
        edit(project.root / ROOM / "assignment.toml", old, new)
    handout = make_package(project).handout["README.md"].decode()
    assert "for at least 0.255 (" in handout and "| 1.1 | Affine \\| map | 4 |" in handout
    assert "| 1.2 | Squared error | none |" in handout


def test_it_says_what_handing_in_late_costs():
    usual = read_assignment()
    late = LatePolicy(datetime(2026, 12, 18, 23, 59, tzinfo=UTC), 1, 10, 50)
    assert words_of(usual, [])["due"] == ""
    due = words_of(replace(usual, late=late), [])["due"]
    assert "by **18 December 2026, 23:59 UTC**. Each day late that has begun costs 10% of the points" in due
    assert "earn, at most 50%. Up to 1 h late costs nothing;" in due
    assert "Hand in by **Friday**. Each day late" in words_of(replace(usual, late=late, due="Friday"), [])["due"]


@pytest.mark.parametrize("policy", ["none", "tutor", "free"])
def test_students_and_assistants_are_told_the_same(policy):
    assignment = replace(read_assignment(), assistants=policy, contact="the forum")
    files = files_for_assistants(assignment)
    assert set(files) == set(NAMES) and len(set(files.values())) == 1
    for_students, for_assistants = ASKED[policy]
    assert for_students in " ".join(words_of(assignment, [])["assistants"].split())
    assert for_assistants in " ".join(files["AGENTS.md"].decode().split())


@pytest.mark.slow
def test_everybody_can_read_the_guide(page, tmp_path):
    (tmp_path / "guide.html").write_text(page)
    assert [*audit([tmp_path / "guide.html"])] == []
