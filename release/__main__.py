"""The command line: `python -m release build | update`."""

import argparse
import sys
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.command_line import Commands, Parser, UserError, add_commands, print_anywhere, run_command
from foundation.places import ROOT
from foundation.texts import first_of

from .build import make_release, write_release
from .gates import GATES, run_gates
from .inspection import places_of_dropped_tasks
from .packing import GRADESCOPE_ZIP, INSTRUCTOR_ZIP, STUDENT_ZIP, audience_of
from .skeleton import ASSIGNMENT_FILE, Project, ReleaseError
from .update import run_update

FAILED_CHECK = 1
FLAGS = Path(__file__).with_name("flags.toml")


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Return the exit status: 0; 1 for a failed gate or check; 2 for bad input."""
    print_anywhere()
    description = "Make what students get from the annotated reference, and check it."
    parser = Parser(prog="python -m release", description=description, epilog="example: python -m release build")
    commands: Commands = {
        "build": (run_build, "--torch-index URL", ("root", "build")),
        "update": (run_update, "students/anna", ("root", "update")),
    }
    add_commands(parser, commands, FLAGS, known={"--root": {"default": ROOT}})
    options = parser.parse_args(arguments)

    def command() -> int:
        try:
            return int(options.run(options))
        except ReleaseError as error:
            print(error, file=sys.stderr)
            raise UserError("stopped; nothing was written") from None

    return run_command("release", command)


def run_build(options: argparse.Namespace) -> int:
    """Strip the reference, run every gate, and write student/ and dist/ if all pass."""
    root, project = options.root, Project(options.root, options.torch_index)
    if places := places_of_dropped_tasks(root, read_assignment(root / ASSIGNMENT_FILE)):
        raise ReleaseError("\n".join(places))
    release = make_release(project)
    faults = run_gates(GATES, project, release)
    if any(faults.values()):
        print(f"release: a gate failed; nothing in {root}/ was changed", file=sys.stderr)
        return FAILED_CHECK
    changed = write_release(release, root)
    package = release.assignment.package
    to_commit = [name for name in changed if name.startswith((f"{package}/", "notebooks/release/"))]
    print(f"\nmade  {package}/: {len(release.folder)} files; to commit: {first_of(to_commit, 4) or 'none'}")
    for name in release.archives:
        size = len(release.outputs[f"dist/{name}"]) / 1000
        print(f"      dist/{name:<15} {size:4.0f} kB, for {audience_of(name)}")
    print(f"next  hand out dist/{STUDENT_ZIP}, upload dist/{GRADESCOPE_ZIP}, keep dist/{INSTRUCTOR_ZIP}")
    for task in release.assignment.tasks:
        if task.points and task.is_answered:
            fault = f"task {task.number} gives {task.points:g} points for answers that anybody can have at home"
            print(f"note  {fault}; points belong to a sitting: [understanding] in assignment.toml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
