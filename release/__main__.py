"""The command line: `python -m release build | check | update`."""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from foundation.command_line import INTERRUPTED, Parser, UserError, print_anywhere, with_output
from foundation.places import ROOT

from .build import Project, make_release
from .gates import GATES
from .gates.running import Workspace, run_gates
from .placing import check_target, compare_notebooks, compare_package, write_files, write_release
from .problems import ReleaseError
from .report import gate_table, gates_as_json, summary
from .update.command import add_parser as add_update

BAD_INPUT = 2
FAILED_CHECK = 1


def main(arguments: list[str] | None = None) -> int:
    """Runs one command. Returns the exit status: 0; 1 for a failed gate or check; 2 for bad input."""
    print_anywhere()
    options = make_parser().parse_args(arguments)
    reference, output = options.reference or options.root / "reference", options.output or options.root
    project = Project(options.root, reference, output, options.torch_index)
    try:
        return with_output(lambda: int(options.run(options, project)))
    except ReleaseError as error:
        print(error, file=sys.stderr)
        count = len(error.problems)
        print(
            f"release: stopped{f' by {count} problems' if count > 1 else ''}; nothing was written",
            file=sys.stderr,
        )
        return BAD_INPUT
    except UserError as error:
        print(f"release: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"release: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("\nrelease: stopped; nothing was written", file=sys.stderr)
        return INTERRUPTED


def make_parser() -> argparse.ArgumentParser:
    """The commands with their flags."""
    parser = Parser(
        prog="python -m release",
        description="Make what students get from the marked reference, and prove that it is sound.",
        epilog="example: python -m release build --reference reference --output .",
    )
    commands = parser.add_subparsers(required=True, metavar="build | check | update")
    build = commands.add_parser(
        "build",
        help="strip, run the gates, write student/ and dist/",
        description="Strip the reference, run every gate, and only then write student/ and dist/.",
        epilog="example: python -m release build --output trial --json",
    )
    build.set_defaults(run=run_build)
    build.add_argument("--json", action="store_true", help="print the gate results as JSON")
    build.add_argument("--force", action="store_true", help="overwrite files in student/ that were edited by hand")
    index_help = "index of CPU-only builds of PyTorch, for students and Gradescope (default: pip's own settings there)"
    build.add_argument("--torch-index", type=index_url, default="", metavar="URL", help=index_help)
    check = commands.add_parser(
        "check",
        help="compare student/ and the notebooks with what the reference makes",
        description="Fail where student/ or a notebook is out of date. Nothing is written, no gate is run.",
        epilog="example: python -m release check",
    )
    check.set_defaults(run=run_check, torch_index="")
    update = add_update(commands)
    update.set_defaults(output=None)  # it writes into the student's folder alone
    for command in (build, check, update):
        command.add_argument("--root", type=Path, default=ROOT, help="the project (default: where this package is)")
        command.add_argument("--reference", type=Path, help="the marked solution (default: ROOT/reference)")
    build.add_argument("--output", type=Path, help="gets student/ and dist/ (default: ROOT)")
    check.add_argument("--output", type=Path, help="has student/ (default: ROOT)")
    return parser


def index_url(text: str) -> str:
    """An address for pip's requirements; an empty text means none."""
    if text and not re.fullmatch(r"(https?|file)://[^\s#]+", text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected https://… or file://…")
    return text


def run_build(options: argparse.Namespace, project: Project) -> int:
    """Builds in a temporary folder, runs the gates there, and puts the result in place if all pass."""
    release = make_release(project)
    if not options.force:
        check_target(release, project.output)  # before the gates take their time
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        workspace = Workspace(project, release, Path(name))
        write_files(release.outputs, workspace.folder)
        results = run_gates(GATES, workspace, quiet=options.json)
    has_passed = all(result.has_passed for result in results)
    print(gates_as_json(results) if options.json else gate_table(results))
    if not has_passed:
        print(f"release: a gate failed; nothing in {project.output}/ was changed", file=sys.stderr)
        return FAILED_CHECK
    changed = write_release(release, project.output, options.force)
    if not options.json:
        print(summary(release, changed, notes=compare_package(project), has_index=bool(project.index)))
    return 0


def run_check(options: argparse.Namespace, project: Project) -> int:
    """Names every file that differs."""
    lines = compare_package(project) + compare_notebooks(project)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        print("release: fix it with: python -m release build", file=sys.stderr)
        return FAILED_CHECK
    print("student/ and the notebooks are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
