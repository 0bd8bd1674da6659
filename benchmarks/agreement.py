"""Whether a student's own run of the tests and the grading agree: both run on the same submissions, with one seed."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Never

from tqdm import tqdm

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.states import State
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, ROOT, SKELETON
from foundation.sources import Sources
from validity.proof.variants import read_variants
from validity.run_tests import Run, Version, run_versions

HOSTILE = ROOT / "tests" / "autograder" / "sandbox" / "hostile"
HARMLESS = re.compile(
    r"mark_(nan|subclass|nested_tensor|input)|protocol_(many|expanded)_parameters|right_odd_parameters"
)
"""Hostile submissions that do nothing to the process which they run in."""

States = dict[str, bool]
"""Whether each test passed, by its node id."""


def submissions() -> dict[str, Sources]:
    """The reference, its faults, its variants, and the harmless part of the hostile corpus."""
    reference, assignment = read_sources(REFERENCE, SKELETON), read_assignment()
    variants = read_variants(assignment.folder / "variants", reference, assignment.contract)
    found: dict[str, Sources] = {"reference": reference}
    found |= {f"fault {fault.id}": apply(fault, reference) for fault in read_catalogue()}
    found |= {f"variant {variant.name}": variant.sources for variant in variants}
    for path in sorted(HOSTILE.glob("*.py")):
        if HARMLESS.fullmatch(path.stem):
            found[f"hostile {path.stem}"] = {**reference, "layers": ("layers.py", path.read_text(encoding="utf-8"))}
    return found


def disagreements(chosen: Mapping[str, Sources], seed: int, show_progress: bool = False) -> dict[str, list[str]]:
    """The tests that pass in only one of the two runs, by submission.

    Args:
        chosen: submissions by name.
        seed: of the random inputs.
        show_progress: shows a progress bar.
    """
    versions = [Version(name, sources, [seed]) for name, sources in chosen.items()]
    runs: dict[bool, dict[str, States]] = {}
    for is_graded in (False, True):
        found: dict[str, States] = {}
        with tqdm(desc="graded" if is_graded else "own run", total=len(versions), disable=not show_progress) as bar:

            def note(run: Run, found: dict[str, States] = found, bar: "tqdm[Never]" = bar) -> None:
                outcomes = [outcome for several in run.outcomes.values() for outcome in several]
                found[run.version] = {outcome.nodeid: outcome.state == State.PASSED for outcome in outcomes}
                bar.update()

            run_versions(versions, chosen["reference"], read_assignment(), note, sandboxed=is_graded)
        runs[is_graded] = found
    different = {
        name: sorted(
            test
            for test in runs[False][name].keys() | runs[True][name].keys()
            if runs[False][name].get(test) != runs[True][name].get(test)
        )
        for name in chosen
    }
    return {name: tests for name, tests in different.items() if tests}


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
