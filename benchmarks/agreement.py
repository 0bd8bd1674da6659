"""Whether a student's own run of the tests and the grading agree: both run on the same submissions, with one seed."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.launcher import open_grader
from autograder.grading.marks import Outcome
from autograder.grading.states import State
from autograder.sandbox.proxy.submission import Sandbox
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON
from foundation.sources import Sources
from tests.autograder.sandbox.snippets import read_attacks
from validity.proof.reading_variants import read_variants
from validity.run_tests import Run, Version, run_versions

HARMLESS = {"mark_argument", "mark_nan", "mark_subclass", "right_protocol_odd_parameters"}
"""Hostile submissions that do nothing to the process which they run in, nor to what grading consists of."""

States = dict[str, bool]
"""Whether each test passed, by its node id."""


def submissions() -> dict[str, Sources]:
    """The reference, its faults, its variants, and the harmless part of the hostile corpus."""
    reference, assignment = read_sources(REFERENCE, SKELETON), read_assignment()
    variants = read_variants(assignment.folder / "proof" / "variants", reference, assignment.contract)
    found: dict[str, Sources] = {"reference": reference}
    found |= {f"fault {fault.id}": apply(fault, reference) for fault in read_catalogue()}
    found |= {f"variant {variant.name}": variant.sources for variant in variants}
    for attack in read_attacks():
        if attack.name in HARMLESS:
            found[f"hostile {attack.name}"] = {**reference, "layers": ("layers.py", attack.text)}
    return found


def disagreements(chosen: Mapping[str, Sources], seed: int, show_progress: bool = False) -> dict[str, list[str]]:
    """The tests that pass in only one of the two runs, by submission.

    Args:
        chosen: submissions by name.
        seed: of the random inputs.
        show_progress: shows a progress bar.
    """
    own = own_runs(chosen, seed, show_progress)
    graded = graded_runs(chosen, seed, show_progress)
    different = {
        name: sorted(
            test for test in own[name].keys() | graded[name].keys() if own[name].get(test) != graded[name].get(test)
        )
        for name in chosen
    }
    return {name: tests for name, tests in different.items() if tests}


def own_runs(chosen: Mapping[str, Sources], seed: int, show_progress: bool) -> dict[str, States]:
    """Which tests pass where the submission runs in the tests' own process."""
    found: dict[str, States] = {}
    versions = [Version(name, sources, [seed]) for name, sources in chosen.items()]
    with tqdm(desc="own run", total=len(versions), disable=not show_progress, leave=False) as bar:

        def note(run: Run) -> None:
            found[run.version] = states_of(run.outcomes)
            bar.update()

        run_versions(versions, chosen["reference"], read_assignment(), note)
    return found


def graded_runs(chosen: Mapping[str, Sources], seed: int, show_progress: bool) -> dict[str, States]:
    """Which tests pass where the submission is graded, in the sandbox and with second tries."""
    found: dict[str, States] = {}
    assignment = read_assignment()
    with tempfile.NamedTemporaryFile() as references, open_grader(assignment, Path(references.name)) as grader:
        grader.renew()  # waits until workers can be forked
        for name, sources in tqdm(chosen.items(), desc="graded", disable=not show_progress, leave=False):
            with Sandbox(sources, assignment, zygote=grader.zygote) as submission:
                *_, outcomes = grader.tests.run(submission, seed)  # the last are those of all tasks
            found[name] = states_of(outcomes)
    return found


def states_of(outcomes: Mapping[str, Sequence[Outcome]]) -> States:
    """Whether each test of a task passed; `outcomes` by the task's marker."""
    tests = [one for marker, several in outcomes.items() if marker.startswith("task_") for one in several]
    return {outcome.nodeid: outcome.state == State.PASSED for outcome in tests}


def sample(all_of_them: Mapping[str, Sources], one_in: int) -> dict[str, Sources]:
    """The reference and one of so many others."""
    names: Sequence[str] = list(all_of_them)
    return {name: all_of_them[name] for name in dict.fromkeys(["reference", *names[::one_in]])}


def measure(one_in: int, seed: int) -> int:
    """Prints where the two runs disagree; returns 1 if they do."""
    chosen = sample(submissions(), one_in)
    found = disagreements(chosen, seed, show_progress=True)
    print(f"{len(chosen)} submissions, seed {seed}: the two runs disagree over {len(found)}")
    for name, tests in found.items():
        print(f"  {name}: {', '.join(Path(test).name for test in tests[:4])}" + (" …" if len(tests) > 4 else ""))
    return int(bool(found))
