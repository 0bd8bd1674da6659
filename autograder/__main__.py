"""The command line of the autograder."""

import argparse
import json
import os
import sys
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH, Assignment, AssignmentError, read_assignment
from foundation.command_line import INTERRUPTED, Parser, print_anywhere
from foundation.places import ROOT
from foundation.whole_files import OutputError, check_file, check_folder

from .classroom.grading import ClassError, ClassGrading, submissions_in
from .grading.record import Record, write_json
from .grading.suite_version import suite_version
from .intake import Intake, IntakeError, IntakeRefusedError, name_of, take_in
from .reports.gradebook import Gradebook, GradebookError
from .sandbox import SandboxUnavailableError
from .sandbox.containment.layers import LEVELS
from .scoring import ScoringError, read_references
from .testing.errors import CollectionError

REFERENCES = ROOT / "data" / "private" / "fren.test.bpe"


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = graded, 1 = the grader failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    options = make_parser().parse_args(arguments)
    try:
        check_paths(options)
        return options.run(options)
    except (AssignmentError, IntakeError, ClassError, GradebookError, OutputError, ScoringError) as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except (CollectionError, SandboxUnavailableError) as error:
        print(f"autograder: the submission was not graded: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("autograder: stopped; what is finished is kept", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough; the results are written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def make_parser() -> argparse.ArgumentParser:
    """The commands with their flags."""
    parser = Parser(prog="python -m autograder", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    shared = Parser(add_help=False)
    shared.add_argument("--seed", type=int, help="of the tests' random inputs (default: a secret one)")
    shared.add_argument("--json", action="store_true", help="print the results instead of a table")
    shared.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: the kit's own")
    shared.add_argument("--release", type=Path, default=ROOT / "student", help="the skeleton; default: student/")
    shared.add_argument("--references", type=Path, default=REFERENCES, help="default: data/private/fren.test.bpe")
    shared.add_argument("--level", default="auto", choices=LEVELS, help="of containment (default: the best that works)")
    to_nbgrader = "marks into nbgrader's gradebook too: the folder of its course, or the URL of its database"
    shared.add_argument("--to-nbgrader", metavar="COURSE", help=to_nbgrader)
    add_grade(commands, shared)
    add_grade_class(commands, shared)
    return parser


def add_grade(commands: argparse._SubParsersAction, shared: argparse.ArgumentParser) -> None:
    """The command for one submission."""
    grade = commands.add_parser(
        "grade",
        parents=[shared],
        help="grade one submission",
        description="Grade one submission: component tests in a sandbox, and BLEU of its translations.txt.",
        epilog="example: python -m autograder grade submissions/anna --results results/anna.json",
    )
    grade.set_defaults(run=run_grade, files=("results", "record"))
    grade.add_argument("submission", type=Path, help="folder, .zip, .tar.gz or notebook")
    grade.add_argument("--results", type=Path, default=Path("results.json"), help="Gradescope's; default: results.json")
    grade.add_argument("--no-training", action="store_true", help="leave out the short training run of the whole")
    grade.add_argument("--record", type=Path, help="the full record too, as record.schema.json has it")
    grade.add_argument("--student", help="nbgrader's id of whose marks they are")


def add_grade_class(commands: argparse._SubParsersAction, shared: argparse.ArgumentParser) -> None:
    """The command for a class."""
    grade_class = commands.add_parser(
        "grade-class",
        parents=[shared],
        help="grade a folder of submissions",
        description="Grade every entry of a folder: a folder, a .zip, a .tar.gz or a notebook for each submission. "
        "Writes records/NAME.json for each, summary.csv, summary.json and histogram.png. Stopped and started again, "
        "it goes on where it was; a changed submission, assignment or grader is graded anew.",
        epilog="example: python -m autograder grade-class submissions --output marks",
    )
    grade_class.set_defaults(run=run_grade_class)
    grade_class.add_argument("folder", type=Path, help="one entry for each submission")
    grade_class.add_argument("--output", type=Path, default=Path("marks"), help="default: marks")
    grade_class.add_argument("--again", action="store_true", help="keep no record of an earlier run")
    grade_class.add_argument("--jobs", type=int, default=usable_cores(), help="at a time; default: one for each core")


def check_paths(options: argparse.Namespace) -> None:
    """A slip in a path is found before anything is graded. What `files` names are files, `output` is a folder.

    Without the default references only translations cannot be judged, and their tasks say so.

    Raises:
        OutputError: where results could not be written.
        ScoringError: where the references cannot be read.
    """
    files = getattr(options, "files", ())
    for path in filter(None, (getattr(options, name) for name in files)):
        check_file(path)
    if "output" not in files and getattr(options, "output", None):
        check_folder(options.output)
    references = getattr(options, "references", REFERENCES)
    if references != REFERENCES or references.exists():
        read_references(references)


def usable_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_grade(options: argparse.Namespace) -> int:
    """Grades one submission."""
    from .grading.one import grade, refuse
    from .reports.results import as_results, as_table

    assignment = read_assignment(options.assignment)
    suite = suite_version(options.assignment, options.release, options.references)

    book = None
    if options.to_nbgrader:
        if options.student is None:
            raise GradebookError("--to-nbgrader: whose marks are they? name nbgrader's id with --student ID")
        book = Gradebook.open(options.to_nbgrader, options.student, assignment)
        if options.submission.exists():  # a slip of the operator's costs nobody's marks
            book.reset()

    def write(record: Record) -> None:
        write_json(options.results, as_results(record.content()))
        if options.record:
            record.write(options.record)

    try:
        intake = take_in(options.submission, options.release, assignment)
    except IntakeRefusedError as error:
        intake = None
        record = refuse(name_of(options.submission), error.reason, assignment, error.hashes, suite)
        write(record)
    else:
        record = grade(
            intake,
            assignment,
            options.references,
            seed=options.seed,
            suite=suite,
            level=options.level,
            trains=not options.no_training,
            progress=sys.stderr.isatty(),
            after_each=write,
        )
    content = record.content()
    if book:
        book.write(content)
        book.write_feedback(content, intake)
    if options.json:
        print(json.dumps(as_results(content), indent=2, ensure_ascii=False))
    else:
        print(as_table(content))
        print(f"results: {options.results}")
    return status_of([content])


def run_grade_class(options: argparse.Namespace) -> int:
    """Grades all submissions of a class."""
    from .reports.class_summary import as_class_table, read_class, rows_of, write_summary

    if options.jobs < 1:
        raise ClassError(f"--jobs {options.jobs}: expected at least 1")
    assignment = read_assignment(options.assignment)
    submissions = submissions_in(options.folder, options.output, assignment.contract)
    books = {}
    if options.to_nbgrader:
        names = {submission.path.name: name_of(submission.path) for submission in submissions}
        books = Gradebook.open_all(options.to_nbgrader, names, assignment)
        for book in books.values():
            book.reset()
    grading = ClassGrading(
        assignment,
        options.release,
        options.references,
        suite_version(options.assignment, options.release, options.references),
        level=options.level,
        seed=options.seed,
        n_children=options.jobs,
        progress=sys.stderr.isatty(),
    )
    grading.run(submissions, options.again)
    records = read_class(submissions)
    for submission in submissions:
        name = submission.path.name
        if name in books and name in records:
            books[name].write(records[name])
            books[name].write_feedback(records[name], take_in_again(submission.path, options, assignment))
    write_summary(records, options.output)
    if options.json:
        print(json.dumps(rows_of(records), indent=2, ensure_ascii=False))
    else:
        print(as_class_table(records))
        print(f"\nrecords, summary.csv, summary.json, histogram.png: {options.output}")
    return status_of(list(records.values()))


def take_in_again(path: Path, options: argparse.Namespace, assignment: Assignment) -> Intake | None:
    """The sources of a submission that has been graded; None where it was refused."""
    try:
        return take_in(path, options.release, assignment)
    except IntakeError:
        return None


def status_of(records: list[dict]) -> int:
    """1 where the grader itself failed somewhere."""
    return int(any(part["state"] == "grader error" for record in records for part in record["parts"]))


if __name__ == "__main__":
    sys.exit(main())
