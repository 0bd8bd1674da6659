"""The rubric's weights fit what faults do to a model, and a second mistake never raises a mark."""

from pathlib import Path

import pytest

from benchmarks.seriousness import EXCEPTIONS, TASKS, outside, read_rows
from foundation.places import ROOT
from validity.pairs import measure

ROWS = read_rows(ROOT / Path("docs/proof/seriousness.jsonl"))


def test_marks_fit_what_faults_do_to_a_model():
    assert {row["fault"] for row in outside(ROWS)} == EXCEPTIONS.keys()
    judged = [row for row in ROWS if "missing" in row]
    assert len(judged) > 50 and {row["task"] for row in judged} == {*TASKS}


@pytest.mark.slow
def test_a_second_mistake_never_raises_a_mark(capsys):
    assert measure(24, 0, 1) == 0, capsys.readouterr().out
