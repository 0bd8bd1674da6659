"""How many branch outcomes of judged code the component tests reach, over faults, conditional faults and variants."""

import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from autograder.diagnosis.catalogue import CatalogueError, apply, read_catalogue
from autograder.grading.judging import Grader, search_text
from autograder.grading.launcher import open_grader
from autograder.intake import Intake
from autograder.rules import Branch
from autograder.sandbox.proxy.submission import Sandbox
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON
from foundation.sources import Sources
from validity.proof.prove import CONDITIONAL
from validity.proof.reading_variants import read_variants

JUDGED = "all, without what only raises"


@dataclass(frozen=True)
class Trial:
    """A submission of which some components are looked at.

    Attributes:
        name: of the submission.
        kind: "fault", "conditional fault" or "variant".
        sources: its modules.
        components: that differ from the reference: the others would be counted over and over.
    """

    name: str
    kind: str
    sources: Sources
    components: tuple[str, ...]


def trials() -> list[Trial]:
    """The reference, all faults of the catalogue, all conditional faults, and all variants."""
    reference, assignment = read_sources(REFERENCE, SKELETON), read_assignment()
    found = [Trial("reference", "variant", reference, assignment.contract.components)]
    for kind, folder in (("fault", None), ("conditional fault", assignment.folder / CONDITIONAL)):
        faults = read_catalogue(folder, assignment)
        found += [Trial(fault.id, kind, apply(fault, reference), (fault.component,)) for fault in faults]
    variants = read_variants(assignment.folder / "proof" / "variants", reference, assignment.contract)
    own = [one for one in variants if not one.is_same_code]  # the others are the reference, in another form
    return found + [Trial(one.name, "variant", one.sources, one.components) for one in own]


def sample(all_of_them: Sequence[Trial], count: int, seed: int) -> list[Trial]:
    """The reference and about equally many of each kind, in the order of `all_of_them`."""
    chance = random.Random(seed)  # noqa: S311  a sample for a measurement
    queues = [[trial for trial in all_of_them[1:] if trial.kind == kind] for kind in {t.kind: 0 for t in all_of_them}]
    for queue in queues:
        chance.shuffle(queue)
    chosen = {all_of_them[0].name}
    while len(chosen) < min(count, len(all_of_them)):
        chosen |= {queue.pop().name for queue in queues if queue}
    return [trial for trial in all_of_them if trial.name in chosen]


def tried(chosen: Sequence[Trial], grader: Grader, seed: int) -> Iterator[tuple[Trial, bool, list[Branch]]]:
    """Each submission after its tests: whether all of its components' tests pass, and its branch outcomes."""
    assignment, release = grader.assignment, read_sources(SKELETON, SKELETON)
    for trial in tqdm(chosen, desc="reached", leave=False, disable=None):
        intake = Intake(trial.name, trial.sources, frozenset(trial.sources), release=release)
        judged = search_text(intake, assignment).judged
        with Sandbox(trial.sources, assignment, zygote=grader.zygote, watched=judged.modules) as submission:
            *_, outcomes = grader.tests.run(submission, seed)
            reached = submission.reached
        own = [task.marker for task in assignment.tasks if set(task.components) & set(trial.components)]
        passes = not any(outcome.is_missed for marker in own for outcome in outcomes.get(marker, ()))
        yield trial, passes, list(judged.branches(reached, trial.components))


def summary(counts: Mapping[str, list[bool]]) -> list[str]:
    """A line for each group of outcomes."""
    rows = [f"{'':<44}{'reached':>8}{'of':>7}"]
    for name, seen in counts.items():
        rows.append(f"{name:<44}{sum(seen):>8}{len(seen):>7}{100 * sum(seen) / max(len(seen), 1):>8.1f}%")
    return rows


def count_outcomes(chosen: Sequence[Trial], seed: int) -> tuple[dict[str, list[bool]], dict[str, list[str]]]:
    """For each group of outcomes, which were reached; and by submission, what to tell of those that were not."""
    counts: dict[str, list[bool]] = {"all": [], JUDGED: []}
    open_ways: dict[str, list[str]] = {}
    with tempfile.NamedTemporaryFile() as references, open_grader(read_assignment(), Path(references.name)) as grader:
        grader.renew()  # waits until workers can be forked
        for trial, passes, branches in tried(chosen, grader, seed):
            for branch in branches:
                seen = branch.is_seen
                counts["all"].append(seen)
                counts.setdefault(f"{trial.kind}s that {'pass' if passes else 'fail'}", []).append(seen)
                if not branch.outcome.only_stops:
                    counts[JUDGED].append(seen)
                if branch.is_open:
                    what = f"{trial.name} ({trial.kind}{'' if passes else ', fails'})"
                    way = f"{branch.component}, line {branch.outcome.line}: {branch.what}"
                    open_ways.setdefault(what, []).append(
                        way + (" (it only raises)" if branch.outcome.only_stops else "")
                    )
    return counts, open_ways


def measure(count: int, seed: int, only: str = "") -> int:
    """Prints the shares, and what was not reached of submissions that pass; returns the exit status."""
    found = [one for one in trials() if only in one.name]
    if not found:
        raise CatalogueError(f"--only {only}: no submission has this in its name")
    chosen = sample(found, count, seed)
    counts, open_ways = count_outcomes(chosen, seed)
    print(
        f"{len(chosen)} submissions, seed {seed}: branch outcomes in judged components that differ from the reference"
    )
    print("\n".join(summary(counts)))
    for name, ways in open_ways.items():
        print(f"\n{name}", *ways, sep="\n  ")
    return 0
