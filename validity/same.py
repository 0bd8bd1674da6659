"""Proves that home and grading say the same: each test ends alike in a student's own process and in the sandbox.

Known faults and correct variants run both ways, with the tests of the tasks that judge their components.
"""

from collections.abc import Iterator
from functools import partial

from autograder.catalogue import apply
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from autograder.sources import read_sources
from autograder.testing.collected_tests import CollectedTests
from autograder.testing.results import Outcome, judge_task
from foundation.assignment_file import Assignment, read_assignment
from foundation.child_processes import Ended, ask_forked
from foundation.command_line import UserError
from foundation.places import REFERENCE

from .prove import choose_faults, choose_variants
from .run_tests import SECONDS_A_SEED, Recorder, Version, markers_of_tasks, run_here
from .variants import read_variants

SEED = 0


def compare(component: str | None, text: str, every: int, start: int, jobs: int) -> int:
    """Runs faults and variants both ways, and prints each difference; 0 if there is none, otherwise 1.

    Raises:
        UserError: where nothing matches.
    """
    assignment, reference = read_assignment(), read_sources(REFERENCE, REFERENCE)
    versions = chosen_versions(assignment, component, text, every, start)
    if not versions:
        raise UserError("nothing matches --component and --text")
    recorder, graded = Recorder(assignment), CollectedTests(assignment)
    recorder.warm_up(reference, versions)
    different = 0
    with Zygote(assignment) as zygote:
        work = partial(differences, recorder, graded, zygote)
        for version, answer in ask_forked(versions, work, SECONDS_A_SEED, jobs):
            lines = [answer.reason] if isinstance(answer, Ended) else answer
            different += bool(lines)
            for line in lines:
                print(f"{version.name}: {line}", flush=True)
    print(f"{different} of {len(versions)} faults and variants are judged differently at home and when graded")
    return int(bool(different))


def chosen_versions(assignment: Assignment, component: str | None, text: str, every: int, start: int) -> list[Version]:
    """A sample of all faults and variants, those of a component whose name has this text."""
    reference = read_sources(REFERENCE, REFERENCE)
    faults = choose_faults(assignment, None, component, text)
    folder = assignment.folder / "proof" / "variants"
    variants = choose_variants(read_variants(folder, reference, assignment.contract), component, text, 1, 0)
    made = [(f"fault {fault.id}", apply(fault, reference), (fault.component,)) for fault in faults]
    made += [(f"variant {variant.name}", variant.sources, variant.components) for variant in variants]
    tested = {task.marker for task in assignment.tasks if not task.is_answered and not task.tests_of}
    return [
        Version(name, sources, [SEED], tuple(sorted(tested.intersection(markers_of_tasks(assignment, components)))))
        for name, sources, components in made[start % every :: every]
    ]


def differences(recorder: Recorder, graded: CollectedTests, zygote: Zygote, version: Version) -> list[str]:
    """Each test that ends differently, and each task with other points, in words."""
    assignment = recorder.assignment
    [run] = run_here(recorder, version)
    found = []
    with Sandbox(version.sources, assignment, zygote=zygote) as sandbox:
        for marker in version.markers:
            [outcomes] = [found[marker] for found in graded.run(sandbox, SEED, only=marker) if found]
            sandbox.restart()
            [task] = [task for task in assignment.tasks if task.marker == marker]
            found += different_states(run.outcomes[marker], outcomes)
            points = [judge_task(task, list(ends), assignment.credit).score for ends in (run.outcomes[marker], outcomes)]
            if points[0] != points[1]:
                found.append(f"task {task.number}: {points[0]:g} points at home, {points[1]:g} graded")
    return found


def different_states(at_home: list[Outcome], graded: list[Outcome]) -> Iterator[str]:
    """Tests that end in another state, with both messages."""
    by_id = {outcome.nodeid: outcome for outcome in graded}
    for home in at_home:
        other = by_id[home.nodeid]
        if home.state != other.state:
            told = " | ".join(f"{one.state}: {one.message}".replace("\n", " ")[:300] for one in (home, other))
            yield f"{home.test}: at home | graded: {told}"
