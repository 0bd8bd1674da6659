"""The assignment's file: its values, and the answers to mistakes in it."""

import re
import shutil
from dataclasses import replace

import pytest

from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE

from ..conftest import examples_in


def test_the_default_assignment_adds_up():
    assignment = read_assignment()
    assert (assignment.name, assignment.max_score) == ("transformer", 100)
    required = [task.points for task in assignment.tasks if not task.extension]
    assert required == [4, 14, 14, 10, 6, 4, 10, 10, 6, 6, 6, 5, 5]
    assert not any(task.points for task in assignment.tasks if task.extension)
    assert assignment.thresholds == {"beginner": 0.30, "advanced": 0.45}


def test_the_shares_of_a_rubric_that_are_shown_sum_to_the_points():
    of_attention = replace(read_assignment().tasks[1], points=10)
    assert of_attention.shares == (0.71, 0.36, 1.79, 1.07, 1.07, 3.93, 1.07)
    for task in (*read_assignment().tasks, of_attention):
        assert not task.items or sum(task.shares) == pytest.approx(task.points)


@pytest.mark.parametrize("old, new, message", examples_in("foundation/assignment_file.toml")["mistakes"])
def test_mistakes_in_the_assignment_say_what_would_be_right(tmp_path, old, new, message):
    text = ASSIGNMENT_FILE.read_text()
    assert old in text
    path = tmp_path / "assignment.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=re.escape(message)):
        read_assignment(path)


def test_a_folder_with_tests_is_an_assignment_and_a_file_alone_changes_the_kits_own(tmp_path):
    alone = shutil.copy(ASSIGNMENT_FILE, tmp_path / "generous.toml")
    assert read_assignment(alone).folder == ASSIGNMENT
    folder = tmp_path / "other"
    (folder / "tests").mkdir(parents=True)
    shutil.copy(ASSIGNMENT_FILE, folder)
    assert read_assignment(folder).folder == read_assignment(folder / "assignment.toml").folder == folder


def test_the_file_as_editors_write_it(tmp_path):
    """A byte order mark is nothing, 0 is 0.0 (else marks would be weighed anew), another encoding has its line."""
    path = tmp_path / "assignment.toml"
    path.write_bytes(b"\xef\xbb\xbf" + ASSIGNMENT_FILE.read_bytes().replace(b"beginner = 0.30", b"beginner = 0"))
    assert repr(read_assignment(path).thresholds["beginner"]) == "0.0"
    path.write_bytes(ASSIGNMENT_FILE.read_bytes().replace(b"\n\n", "\n# \u00fc\n".encode("latin-1"), 1))
    with pytest.raises(UserError, match=r"assignment.toml: line \d+ is not UTF-8; save the file as UTF-8"):
        read_assignment(path)
