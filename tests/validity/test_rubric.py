"""The rubric's weights fit what faults do to a model, and a second mistake never raises a mark."""

from pathlib import Path

import pytest

from benchmarks.seriousness import EXCEPTIONS, TASKS, missing_in, outside, read_rows, write_package
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from validity.pairs import measure

ROWS = read_rows(ROOT / Path("docs/proof/seriousness.jsonl"))


def test_marks_fit_what_faults_do_to_a_model():
    assert {row["fault"] for row in outside(ROWS)} == EXCEPTIONS.keys()
    judged = [row for row in ROWS if "missing" in row]
    assert len(judged) > 50 and {row["task"] for row in judged} == {*TASKS}


TRIVIAL = {  # what stands in place of a solution, and all that it may earn
    "1.2": ("    scores = query @", "    return 2 * query, query @ key.mT\n", {"no side effects"}),
    "1.3": (
        "        def split_heads",
        "        return self.project_output(query), query\n",
        {"refuses other sizes", "no side effects"},
    ),
    "1.4": (
        "        centred = x - x.mean",
        "        return self.gamma * x + self.beta\n",
        {"gradients", "no side effects"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("number", TRIVIAL)
def test_code_that_does_something_else_earns_next_to_nothing(tmp_path, number):
    begins, other, earned = TRIVIAL[number]
    write_package(tmp_path / "student", None)
    changed = 0
    for path in (tmp_path / "student").glob("*.py"):
        text = path.read_text()
        if begins in text:
            start = text.index(begins)
            path.write_text(text[:start] + other + text[text.index("### END SOLUTION", start) - 8 :])
            changed += 1
    task = next(task for task in read_assignment().tasks if task.number == number)
    assert changed == 1 and {item.name for item in task.items} - {*missing_in(tmp_path / "student", task)} <= earned


@pytest.mark.slow
def test_a_second_mistake_is_not_worth_more_than_either(capsys):
    assert measure(24, 0, 1) == 0, capsys.readouterr().out
