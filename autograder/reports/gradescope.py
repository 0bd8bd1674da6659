"""Grades one submission in Gradescope's container: `python -m autograder.reports.gradescope`.

    /autograder/source/                    this package, the skeleton, the hidden references, the secret
    /autograder/submission/                what the student handed in
    /autograder/results/results.json       the results; written early, and again after every part

Due dates and earlier attempts are Gradescope's to show. `as_results` is what `--results` writes, too.
"""

import re
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from foundation.assignment_file import read_assignment
from foundation.command_line import Parser, print_anywhere
from foundation.places import ROOT, TEST_REFERENCES
from foundation.texts import printable

from ..grading.provenance import grader_version, seeds_of_term
from ..grading.record import BY_HAND, MAX_TEXT, Part, Record, write_json
from ..grading.submission import Conditions, grade_alone
from ..testing.results import State
from .terminal import containment_of, printable_lines, text_of

SHOWN = {"output_format": "text", "visibility": "visible", "stdout_visibility": "hidden"}


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 once the submission has its marks; 1 where it has none, be it damaged or the grader's fault."""
    print_anywhere()
    parser = Parser(
        prog="python -m autograder.reports.gradescope",
        description="Grade the submission in a folder laid out like Gradescope's /autograder.",
        epilog="example: python -m autograder.reports.gradescope --root /autograder",
    )
    parser.add_argument("--root", type=Path, default=Path("/autograder"), help="default: /autograder")
    root = parser.parse_args(arguments).root
    target = root / "results" / "results.json"
    try:
        assignment = read_assignment()
        limits = assignment.limits
        limits = replace(limits, memory_mb=min(limits.memory_mb, limits.gradescope_memory_mb))
        assignment = replace(assignment, limits=limits)
        skeleton = ROOT / assignment.package
        version = grader_version(assignment, skeleton, TEST_REFERENCES)
        conditions = Conditions(assignment, skeleton, TEST_REFERENCES, version, seeds_of_term(ROOT))
        record = grade_alone(root / "submission", conditions, lambda record: write_json(target, as_results(record)))
    except Exception as error:  # whatever it is, it is our fault, and must not count as a zero
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"[:500]
        message = f"The grader failed, and your work has not been graded. Please tell your instructor: {reason}"
        # without any score: Gradescope shows that the autograder failed
        write_json(target, {"output": message, **SHOWN})
        return 1
    return int(record.judgement.score is None)


def as_results(record: Record) -> dict[str, Any]:
    """Gradescope's results.json; what else we know is in `extra_data`.

    While a part with points has no mark there is no total: Gradescope takes results without a score for a failed run of
    the autograder, and not for a zero.
    """
    judgement, run = record.judgement, record.run
    bleu, parts = judgement.bleu, judgement.parts
    board = [] if bleu is None else [{"name": "BLEU", "value": round(bleu.value, 4), "order": "desc"}]
    if any(part.visibility != "visible" for part in parts if not part.components):
        board = []  # BLEU reveals the points of the hidden parts
    return {
        **({} if judgement.score is None else {"score": judgement.score}),
        "execution_time": run.seconds,
        "output": "\n".join(printable(note, MAX_TEXT) for note in (*run.notes, *judgement.notes)),
        **SHOWN,
        "tests": [as_test(part) for part in parts],
        "leaderboard": board,
        "extra_data": {
            "finished": record.is_finished,
            "sandbox": containment_of(run),
            "seed_id": judgement.seed_id,
            "content_hash": judgement.content_hash,
            "grader_version": judgement.grader_version,
            "printed": run.printed,
        },
    }


def as_test(part: Part) -> dict[str, Any]:
    """One entry of `tests`: a task; one without a mark, or an extension left out, has neither score nor status."""
    mark = {"score": part.score, "status": "passed" if part.state == State.PASSED else "failed"}
    message = "\n".join(printable_lines(text_of(part)))
    return {
        "name": f"{part.number} {part.title}",
        "name_format": "text",
        "number": part.number,
        **({} if part.score is None or part.is_left_out else mark),
        "max_score": part.points,
        "output": as_markdown(BY_HAND, "") if part.waits else as_markdown(part.state, message),
        "output_format": "md",
        "visibility": part.visibility,
        "extra_data": {"state": part.state.value},
    }


def as_markdown(state: str, message: str) -> str:
    """State and message. Student-controlled text is fenced so that it cannot break out."""
    if not message:
        return f"**{state}**"
    longest = max((len(run) for run in re.findall("`+", message)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"**{state}**\n\n{fence}text\n{message}\n{fence}"


if __name__ == "__main__":
    sys.exit(main())
