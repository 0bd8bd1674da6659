"""The assignment's file: its values, and the answers to mistakes in it."""

import re
import shutil
from dataclasses import replace

import pytest

from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT, ASSIGNMENT_FILE


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


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("'MultiheadAttention',", "'(?i)MultiheadAttention',", ": expected a list of regular expressions that can"),
        ("call_seconds", "cal_seconds", "[limits]: unknown key 'cal_seconds'; did you mean 'call_seconds'?"),
        ("output_kb = 64", "", "[limits]: output_kb is missing: expected a whole number above 0"),
        ("beginner = 0.30", "beginner = 30", "[thresholds]: beginner = 30: expected a number between 0 and 1"),
        ("advanced = 0.45", "advanced = 0.2", "advanced = 0.2: expected at least 0.3, the beginner one before it"),
        ("memory_mb = 2048", "memory_mb = 0", "[limits]: memory_mb = 0: expected a whole number above 0"),
        ("hint_after = 3", "hint_after = 0", "hint_after = 0: expected a whole number above 0"),
        ("[release]", "[release]\nphase = true", "[release]: phase = True: expected 1 or 2"),
        ('number = "1.2"', 'number = "1.1"', "two tasks have the number '1.1'"),
        ('title = "Layer normalisation"', 'title = "a\\nb"', "task 1.4: title = 'a\\nb': expected one line of text"),
        ('package = "student"', 'package = "my-course"', "package = 'my-course': expected the name of a Python"),
        ('["layers.LayerNorm"]', '["masks.recent"]', "unknown component 'masks.recent'; did you mean"),
        ('number = "1.3"', "number = 1.3", "task 1.3: number = 1.3: expected a string like '1.3'"),
        ('= ["layers.LayerNorm"]', "= []", "expected one of `components`, `threshold` and `by_hand"),
        ("extension = true", "written = true", "task E.1: written: people read it; expected `by_hand"),
        ("own_tests = 0", "own_tests = 5", "own_tests = 5: the tests that answer task E.4 are handed out"),
        ('understanding = "hunts"', "understanding = 'hunts'\npoints = 1", "they stand in [understanding], as hunts"),
        ('credit = "items"', 'credit = "half"', "credit = 'half': expected 'items' or 'all'"),
        ("[release]", "[late]\ndue = 2026-12-18T00:00:00Z\nmost_percent = 200\n[release]", "most_percent = 200: exp"),
        ("[release]", "[late]\ndue = 2026-12-18\n[release]", "due = 2026-12-18: expected a time with its zone"),
        ("[release]", "[late]\npercent_per_day = 0.1\n[release]", "percent_per_day = 0.1: expected 0, or 1 to 100"),
        ("[release]", "[late]\ndue = 18.12.2026\n[release]", "not TOML, in which text has quotes: Expected newline"),
    ],
)
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
