"""In the first phase the tests of what students test are held back; an update brings them."""

from dataclasses import replace

import pytest

from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from release.build import Project, make_package
from release.contents import collect_kit
from release.packing import make_zip, members_of
from release.regions import ReleaseError
from release.trials import run_python, unpack

HELD = {"test_1_2_attention.py", "test_1_4_layer_norm.py"}


@pytest.fixture(scope="module")
def phases():
    """The students' archive in each phase."""
    return {
        phase: collect_kit(ROOT, replace(read_assignment(), phase=phase), {"masks.py": b"x = 1\n"}, b"")
        for phase in (1, 2, None)
    }


def names(kit) -> set[str]:
    """Of all files, those in the wheel too."""
    return {path.rpartition("/")[2] for path, _ in members_of("student.zip", make_zip(kit))}


@pytest.mark.slow
def test_the_first_phase_holds_them_back_and_the_second_has_all(phases):
    assert HELD.isdisjoint(names(phases[1]))
    assert names(phases[2]) >= HELD and phases[2] == phases[None]
    assert "test_e_4_own_tests.py" in names(phases[1])


@pytest.mark.slow
def test_who_runs_a_test_that_is_held_back_is_told(phases, tmp_path):
    folder = unpack(make_zip(phases[1]), tmp_path)
    done = run_python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "task_1_2"], folder)
    assert "1.2 Scaled dot-product attention: its tests are handed out later" in done.stdout


def test_points_need_a_phase(tmp_path, monkeypatch):
    usual = read_assignment()
    paid = replace(usual, tasks=tuple(replace(task, points=8) if task.tests_of else task for task in usual.tasks))
    monkeypatch.setattr("release.build.read_assignment", lambda path: paid)
    project = Project(ROOT, ROOT / "reference", tmp_path)
    with pytest.raises(ReleaseError, match=r"E\.4 gives points .* set \[release\] phase = 1"):
        make_package(project)
    _, _, folder = make_package(replace(project, phase=1))
    assert "The tests of 1.2 and 1.4 are handed out later." in folder["README.md"].decode()
