"""The command line of the autograder."""

import argparse
import json
import os
import sys
from pathlib import Path

from .assignment import DEFAULT_PATH, AssignmentError, read_assignment
from .intake import IntakeError, IntakeRefused, take_in
from .proof.command import add_parser as add_prove
from .sandbox import SandboxUnavailable

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = graded, 1 = the grader failed, 2 = bad input."""
    options = make_parser().parse_args(arguments)
    try:
        return options.run(options)
    except (AssignmentError, IntakeError) as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except SandboxUnavailable as error:
        print(f"autograder: the submission was not graded: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has seen enough; the results are written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def make_parser() -> argparse.ArgumentParser:
    """The commands with their flags."""
    parser = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    grade = commands.add_parser(
        "grade",
        help="grade one submission",
        description="Grade one submission: component tests in a sandbox, and BLEU of its translations.txt.",
        epilog="example: python -m autograder grade submissions/anna --results results/anna.json",
    )
    grade.set_defaults(run=run_grade)
    grade.add_argument("submission", type=Path, help="folder, .zip, .tar.gz or notebook")
    grade.add_argument("--results", type=Path, default=Path("results.json"), help="default: results.json")
    grade.add_argument("--seed", type=int, help="of the tests' random inputs (default: a secret one)")
    grade.add_argument("--json", action="store_true", help="print the results instead of a table")
    grade.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: autograder/assignment.toml")
    grade.add_argument("--release", type=Path, default=ROOT / "student", help="the skeleton; default: student/")
    references = ROOT / "data" / "private" / "fren.test.bpe"
    grade.add_argument("--references", type=Path, default=references, help="default: data/private/fren.test.bpe")
    grade.add_argument("--level", default="auto", help="of containment (default: auto, the best that works)")
    add_prove(commands)
    return parser


def run_grade(options: argparse.Namespace) -> int:
    """Grades one submission."""
    from .grading import grade, refuse
    from .report import as_results, as_table, write_results

    assignment = read_assignment(options.assignment)
    try:
        intake = take_in(options.submission, options.release, assignment.package)
    except IntakeRefused as error:
        record = refuse(options.submission.name, error.reason, assignment, error.hashes)
        write_results(record, options.results)
    else:
        record = grade(
            intake,
            assignment,
            options.references,
            seed=options.seed,
            level=options.level,
            progress=sys.stderr.isatty(),
            after_each=lambda record: write_results(record, options.results),
        )
    if options.json:
        print(json.dumps(as_results(record), indent=2, ensure_ascii=False))
    else:
        print(as_table(record))
        print(f"results: {options.results}")
    return 1 if any(result.state == "grader error" for result in record.results) else 0


if __name__ == "__main__":
    sys.exit(main())
