"""Grades one submission in Gradescope's container: `python -m autograder.reports.gradescope`.

    /autograder/source/                    this package, the skeleton, the hidden references, the secret
    /autograder/submission/                what the student handed in
    /autograder/submission_metadata.json   when, for which due date, after which earlier attempts
    /autograder/results/results.json       what comes out; written early, and again after every part

Random inputs come from the secret and the submission's own bytes: the same files always earn the same marks, and
what one attempt has seen of its inputs is worth nothing in the next.
"""

import argparse
import re
import sys
import traceback
from dataclasses import replace
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH, read_assignment
from foundation.command_line import INTERRUPTED, Parser, print_anywhere
from foundation.places import ROOT
from foundation.term_secret import REFERENCES, seed_for, term_secret

from ...grading.one import grade, refuse
from ...grading.record import Record, write_json
from ...grading.suite_version import suite_version
from ...intake import IntakeRefusedError, take_in
from ..results import as_results
from .metadata import Handing, HandingError, read_handing

MEMORY_MB = 192
"""What submitted code may use: of a container's 768 MB, the grader and the libraries need up to 550."""


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 once the submission has its marks; 1 where the grader failed, and then no marks are written."""
    print_anywhere()
    options = make_parser().parse_args(arguments)
    target = options.root / "results" / "results.json"
    try:
        results = grade_here(options.root, options.level, target)
    except KeyboardInterrupt:
        print("gradescope: stopped", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # whatever it was: it is our fault, and must not count as a zero
        traceback.print_exc()
        write_json(target, failure(f"{type(error).__name__}: {error}"))
        return 1
    write_json(target, results)
    return 0 if "score" in results else 1


def make_parser() -> argparse.ArgumentParser:
    """The flags."""
    parser = Parser(
        prog="python -m autograder.reports.gradescope",
        description="Grade the submission in a folder laid out like Gradescope's /autograder.",
        epilog="example: python -m autograder.reports.gradescope --root /autograder",
    )
    parser.add_argument("--root", type=Path, default=Path("/autograder"), help="default: /autograder")
    parser.add_argument("--level", default="auto", help="of containment (default: auto, the best that works)")
    return parser


def grade_here(root: Path, level: str, target: Path) -> dict:
    """The results of `root/submission`; parts of them go to `target` on the way."""
    assignment = read_assignment()
    assignment = replace(
        assignment, limits=replace(assignment.limits, memory_mb=min(assignment.limits.memory_mb, MEMORY_MB))
    )
    suite = suite_version(DEFAULT_PATH, ROOT / assignment.package, ROOT / REFERENCES)
    handing, notes = None, []
    try:
        handing = read_handing(root / "submission_metadata.json")
    except HandingError as error:
        notes.append(f"late days and earlier attempts are unknown: {error}")
    try:
        intake = take_in(root / "submission", ROOT / assignment.package, assignment)
    except IntakeRefusedError as error:
        record = refuse("submission", error.reason, assignment, error.hashes, suite)
    else:
        record = grade(
            intake,
            assignment,
            ROOT / REFERENCES,
            seed=seed_for(term_secret(ROOT), intake.hashes),
            suite=suite,
            level=level,
            after_each=lambda record: write_json(target, in_full(record, handing, notes)),
        )
    return in_full(record, handing, notes)


def in_full(record: Record, handing: Handing | None, notes: list[str]) -> dict:
    """The results with what only Gradescope has a use for: visibility, Markdown, the leaderboard, the handing-in.

    While a part is not judged there is no total: Gradescope takes results without a score for a failed run of the
    autograder, and not for a zero.
    """
    results = as_results(record.content())
    states = results["extra_data"]["states"]
    for entry, task in zip(results["tests"], record.assignment.tasks, strict=True):
        state = states[task.number]
        entry |= {"output": as_markdown(state, entry["output"]), "output_format": "md", "name_format": "text"}
        entry |= {"visibility": task.visibility, "extra_data": {"state": state}}
        if state == "grader error":
            del entry["score"], entry["status"]
            results.pop("score", None)
    for place in results["leaderboard"]:
        place["order"] = "desc"
    said = [results["output"], *(handing.notes() if handing else ()), *notes]
    results["output"] = "\n".join(filter(None, said))
    if handing:
        results["extra_data"]["handed_in"] = handing.as_dict()
    return results


def as_markdown(state: str, message: str) -> str:
    """State and message. What a submission has a hand in stands in a fence that it cannot close."""
    if message in ("", state):
        return f"**{state}**"
    longest = max((len(run) for run in re.findall("`+", message)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"**{state}**\n\n{fence}text\n{message}\n{fence}"


def failure(reason: str) -> dict:
    """Results without any score: Gradescope shows that the autograder failed."""
    said = f"The grader failed, and your work has not been judged. Please tell your instructor: {reason[:500]}"
    return {"output": said, "output_format": "text", "visibility": "visible", "stdout_visibility": "hidden"}


if __name__ == "__main__":
    sys.exit(main())
