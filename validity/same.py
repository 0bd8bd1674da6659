"""Proof that home and grading agree: each test ends alike in a student's own process and in the sandbox.

Known faults and correct variants run both ways, with the tests of the tasks that judge their components.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autograder.course.catalogue import apply
from autograder.intake.sources import Sources, read_sources
from autograder.running.collected_tests import CollectedTests
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import REFERENCE
from foundation.processes import Ended, ask_forked

from .run_tests import SECONDS_A_SEED, Recorder, Version, markers_of_tasks
from .variants import choose_faults, choose_variants

SEEDS = 5
"""Code that acts by chance may end either way: tests differ if they do with each of so many seeds."""


def compare(component: str | None, text: str, every: int, start: int, jobs: int) -> int:
    """Prove that home and grading agree.

    Run the component tests on known faults and correct variants in a student's own process and in the sandbox: each
    test must end in the same state, and each task earn the same points.
    """
    assignment, reference = read_assignment(), read_sources(REFERENCE, REFERENCE)
    known: list[tuple[str, Sources, tuple[str, ...]]] = []
    for fault in choose_faults(assignment, component, text):
        known.append((f"fault {fault.id}", apply(fault, reference), (fault.component,)))
    for variant in choose_variants(assignment, reference, component, text):
        known.append((f"variant {variant.name}", variant.sources, variant.components))
    tested = {task.marker for task in assignment.tasks if not task.is_answered and not task.tests_of}
    versions = [
        Version(name, sources, range(SEEDS), tuple(sorted(tested & {*markers_of_tasks(assignment, components)})))
        for name, sources, components in known[start % every :: every]
    ]
    if not versions:
        raise UserError("nothing matches --component and --text")
    recorder, graded = Recorder(assignment), CollectedTests(assignment)
    recorder.warm_up(reference, versions)
    n_different = 0
    with Zygote(assignment) as zygote:
        work = partial(differences, recorder, graded, zygote)
        for version, answer in ask_forked(versions, work, SEEDS * SECONDS_A_SEED, jobs):
            lines = [answer.reason] if isinstance(answer, Ended) else answer
            n_different += bool(lines)
            for line in lines:
                print(f"{version.name}: {line}", flush=True)
    print(f"{n_different} of {len(versions)} faults and variants are judged differently at home and when graded")
    return int(bool(n_different))


def differences(recorder: Recorder, graded: CollectedTests, zygote: Zygote, version: Version) -> list[str]:
    """Each test that ends differently, in words, and what is listed of correct code for a person to read.

    Points follow from how tests end, by the same rules at home and when graded.
    """
    different: dict[str, str] = {}
    with Sandbox(version.sources, recorder.assignment, zygote=zygote) as sandbox:
        for seed in version.seeds:
            [run] = recorder.run(replace(version, seeds=[seed]))
            with_seed = dict[str, str]()
            for marker in version.markers:
                [outcomes] = [ends[marker] for ends in graded.run(sandbox, seed, only=marker) if ends]
                sandbox.restart()
                by_id = {outcome.nodeid: outcome for outcome in outcomes}
                for home in run.outcomes[marker]:
                    if home.state != (other := by_id[home.nodeid]).state:
                        ends = (f"{end.state} {end.message[:300]!r}" for end in (home, other))
                        with_seed[home.nodeid] = "{}: at home {}; graded {}".format(home.test, *ends)
            is_first = seed == version.seeds[0]
            different = {test: line for test, line in with_seed.items() if is_first or test in different}
            if not different:
                break
    listed = [*sandbox.notices.seen, *sandbox.notices.unguarded] if version.name.startswith("variant ") else []
    return [*different.values(), *(f"listed for a reader: {notice}" for notice in listed)]
