"""Whether submissions get the same marks with any seed: the reference, and versions of it with a fault of each kind."""

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.launcher import open_grader
from autograder.grading.recording import Recorder
from autograder.intake import Intake
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment

FAULTS = (
    "attention-mask-of-first-sentence",
    "multi-head-heads-in-wrong-order",
    "layer-norm-sample-variance",
    "decoder-layer-two-norms",
    "training-accumulation-equal-shares",
)


def marks_by_seed(seeds: Sequence[int], progress: bool = False) -> dict[str, Counter[str]]:
    """Grades each submission with each seed, in the sandbox; counts the different marks of each."""
    reference = read_sources(Path("reference"), Path("student"))
    catalogue = {fault.id: fault for fault in read_catalogue()}
    submissions = {"reference": reference, **{name: apply(catalogue[name], reference) for name in FAULTS}}
    assignment = read_assignment()
    found: dict[str, Counter[str]] = {name: Counter() for name in submissions}
    rounds = [(name, seed) for seed in seeds for name in submissions]

    with tempfile.NamedTemporaryFile() as references, open_grader(assignment, Path(references.name)) as grader:
        for name, seed in tqdm(rounds, desc="gradings", disable=not progress, leave=False):
            recorder = Recorder(name, assignment, "0" * 16)
            judgement = recorder.add_all(grader.judge(Intake(name, dict(submissions[name])), seed)).judgement
            found[name][json.dumps({part.number: part.score for part in judgement.parts})] += 1
    return found


def measure(count: int) -> int:
    """Prints how many different marks each submission got; returns 1 if it is more than one."""
    found = marks_by_seed(range(count), progress=True)
    for name, marks in found.items():
        print(f"{name:<40}{len(marks)} kinds of marks with {marks.total()} seeds")
        for points, times in marks.items() if len(marks) > 1 else ():
            print(f"    {times} times {points}")
    return int(any(len(marks) > 1 for marks in found.values()))
