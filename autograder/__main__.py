"""Grades submissions in a sandbox, and takes a class from its download to marks."""

import sys

from foundation.command_line import Commands, Parser, add_commands, print_anywhere, run_command

from .commands import ask, classes, demo, marks
from .commands.arguments import FLAGS, TYPES, known_in_code
from .sandbox.errors import SandboxUnavailableError
from .testing.results import CollectionError

COMMANDS: Commands = {
    "grade": (
        classes.grade_one,
        "submissions/anna --results results/anna.json",
        ("assignment", "release", "running", "references", "grade"),
    ),
    "list-class": (classes.list_download, "submissions --roster roster.csv", ("assignment", "folder", "class")),
    "similar": (
        classes.similar,
        "submissions --roster roster.csv --output marks",
        ("assignment", "release", "folder", "class", "output", "jobs"),
    ),
    "grade-class": (
        classes.grade,
        "submissions --roster roster.csv --output marks",
        ("assignment", "release", "running", "references", "folder", "class", "output", "jobs", "grade-class"),
    ),
    "override": (
        marks.override,
        'anna --task 1.3 --points 4 --why "correct except for a typing error"',
        ("assignment", "output", "student", "reason", "override"),
    ),
    "comment": (
        marks.comment,
        'anna "A neat solution." --task 1.3',
        ("assignment", "output", "student", "comment"),
    ),
    "late": (marks.late, 'anna --days 0 --why "ill"', ("assignment", "output", "student", "reason", "late")),
    "export-marks": (
        marks.export_class,
        "marks --for canvas --roster gradebook.csv",
        ("assignment", "export-marks"),
    ),
    "ask": (
        ask.ask,
        "submissions --roster roster.csv --output oral",
        ("assignment", "release", "running", "class", "jobs", "ask"),
    ),
    "demo": (demo.demo, "--output build/demo", ("jobs", "demo")),
}


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = graded, 1 = the grader failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    example = "example: python -m autograder grade-class submissions --roster roster.csv --output marks"
    parser = Parser(prog="python -m autograder", description=__doc__, epilog=example)
    add_commands(parser, COMMANDS, FLAGS, TYPES, known_in_code())
    options = parser.parse_args(arguments)

    def run() -> int:
        try:
            return int(options.run(options))
        except KeyboardInterrupt:
            raise KeyboardInterrupt("; finished results are kept") from None

    return run_command("autograder", run, {CollectionError: 1, SandboxUnavailableError: 1})


if __name__ == "__main__":
    sys.exit(main())
