"""Proves that home and grading say the same: each test ends alike in a student's own process and in the sandbox.

Known faults and correct variants run both ways, with the tests of the tasks that judge their components.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from autograder.course.catalogue import apply
from autograder.intake.sources import Sources, read_sources
from autograder.running.collected_tests import CollectedTests
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from autograder.testing.results import Outcome
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE
from foundation.processes import Ended, ask_forked

from .prove import choose_faults, choose_variants
from .run_tests import SECONDS_A_SEED, Recorder, Version, markers_of_tasks, run_here
from .variants import read_variants

SEEDS = 5
"""Code that acts by chance may end either way: tests differ if they do with each of so many seeds."""


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
        for version, answer in ask_forked(versions, work, SEEDS * SECONDS_A_SEED, jobs):
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
    made: list[tuple[str, Sources, tuple[str, ...]]] = []
    made += [(f"fault {fault.id}", apply(fault, reference), (fault.component,)) for fault in faults]
    made += [(f"variant {variant.name}", variant.sources, variant.components) for variant in variants]
    tested = {task.marker for task in assignment.tasks if not task.is_answered and not task.tests_of}
    return [
        Version(name, sources, range(SEEDS), tuple(sorted(tested & {*markers_of_tasks(assignment, components)})))
        for name, sources, components in made[start % every :: every]
    ]


def differences(recorder: Recorder, graded: CollectedTests, zygote: Zygote, version: Version) -> list[str]:
    """Each test that ends differently, in words, and what is listed of correct code for a person to read.

    Points follow from how tests end, by the same rules at home and when graded.
    """
    different: dict[str, str] = {}
    with Sandbox(version.sources, recorder.assignment, zygote=zygote) as sandbox:
        for seed in version.seeds:
            [run] = run_here(recorder, replace(version, seeds=[seed]))
            found = dict[str, str]()
            for marker in version.markers:
                [outcomes] = [ends[marker] for ends in graded.run(sandbox, seed, only=marker) if ends]
                sandbox.restart()
                found |= different_states(run.outcomes[marker], outcomes)
            different = {test: told for test, told in found.items() if seed == version.seeds[0] or test in different}
            if not different:
                break
    listed = [*sandbox.notices.seen, *sandbox.notices.unguarded] if version.name.startswith("variant ") else []
    return [*different.values(), *(f"listed for a reader: {one}" for one in listed)]


def different_states(at_home: list[Outcome], graded: list[Outcome]) -> Iterator[tuple[str, str]]:
    """Tests that end in another state, by id, with both messages."""
    by_id = {outcome.nodeid: outcome for outcome in graded}
    for home in at_home:
        other = by_id[home.nodeid]
        if home.state != other.state:
            ends = (f"{way} {one.state} {one.message[:300]!r}" for way, one in (("at home", home), ("graded", other)))
            yield home.nodeid, f"{home.test}: {'; '.join(ends)}"
