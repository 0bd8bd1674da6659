"""A grader that is prepared for many submissions judges each as one that is not."""

import pytest

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.launcher import open_grader
from autograder.grading.recording import Recorder
from autograder.intake import Intake
from foundation.assignment_file import read_assignment

pytestmark = pytest.mark.slow

FAULTS = ("attention-mask-of-first-sentence", "layer-norm-sample-variance")


def test_a_prepared_grader_finds_the_same_misconceptions(zygote, reference, tmp_path):
    assignment = read_assignment()
    catalogue = {fault.id: fault for fault in read_catalogue()}
    with open_grader(assignment, tmp_path / "none", zygote=zygote) as grader:

        def judgement_of(fault: str) -> object:
            intake = Intake(fault, apply(catalogue[fault], reference))
            return Recorder(fault, assignment, "0" * 16).add_all(grader.judge(intake, 7)).judgement

        before = [judgement_of(fault) for fault in FAULTS]
        grader.prepare()
        prepared = grader.diagnostician
        after = [judgement_of(fault) for fault in (*FAULTS, *FAULTS)]
        assert grader.diagnostician is prepared, "no submission closes it"
    assert after == before * 2
    for fault, judgement in zip(FAULTS, before, strict=True):
        assert fault in {part.diagnosis.fault for part in judgement.parts if part.diagnosis}
