"""The command line: `python -m release build | update`."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from foundation.command_line import Parser, UserError, print_anywhere, run_command
from foundation.places import ROOT

from .build import MANIFEST, Project, Release, check_target, make_release, write_release
from .gates import GateResult, run_gates
from .packing import GRADESCOPE_ZIP, INSTRUCTOR_ZIP, STUDENT_ZIP, audience_of
from .regions import ReleaseError
from .skeleton import read_folder
from .trials import GATES
from .update import add_parser as add_update

FAILED_CHECK = 1

_SHOWN_FAULTS = 20


def main(arguments: list[str] | None = None) -> int:
    """Runs one command. Returns the exit status: 0; 1 for a failed gate or check; 2 for bad input."""
    print_anywhere()
    options = make_parser().parse_args(arguments)
    reference, output = options.reference or options.root / "reference", options.output or options.root
    project = Project(options.root, reference, output, options.torch_index, options.phase)

    def command() -> int:
        try:
            return int(options.run(options, project))
        except ReleaseError as error:
            print(error, file=sys.stderr)
            count = len(error.problems)
            raise UserError(f"stopped{f' by {count} problems' if count > 1 else ''}; nothing was written") from None

    return run_command("release", command)


def make_parser() -> argparse.ArgumentParser:
    """The commands with their flags."""
    parser = Parser(
        prog="python -m release",
        description="Make what students get from the annotated reference, and check it.",
        epilog="example: python -m release build --reference reference --output .",
    )
    commands = parser.add_subparsers(required=True, metavar="build | update")
    build = commands.add_parser(
        "build",
        help="strip, run the gates, write student/ and dist/",
        description="Strip the reference, run every gate, and only then write student/ and dist/.",
        epilog="example: python -m release build --output trial",
    )
    build.set_defaults(run=run_build)
    build.add_argument("--force", action="store_true", help="overwrite files in student/ that were edited by hand")
    index_help = "index of CPU-only builds of PyTorch, for students and Gradescope (default: pip's own settings there)"
    build.add_argument("--torch-index", type=index_url, default="", metavar="URL", help=index_help)
    for command in (build, add_update(commands)):
        command.add_argument("--root", type=Path, default=ROOT, help="the project (default: where this package is)")
        command.add_argument("--reference", type=Path, help="the annotated solution (default: ROOT/reference)")
        phase_help = "1 = hold back the tests of components that students write tests for (default: assignment.toml's)"
        command.add_argument("--phase", type=int, choices=(1, 2), help=phase_help)
    build.add_argument("--output", type=Path, help="folder for student/ and dist/ (default: ROOT)")
    return parser


def index_url(text: str) -> str:
    """An address for pip's requirements; an empty text means none."""
    if text and not re.fullmatch(r"(https?|file)://[^\s#]+", text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected https://… or file://…")
    return text


def run_build(options: argparse.Namespace, project: Project) -> int:
    """Makes the release, runs the gates, and puts it in place if all pass."""
    release = make_release(project)
    if not options.force:
        check_target(release, project.output)  # before the gates take their time
    results = run_gates(GATES, project, release)
    print(_as_table(results))
    if not all(result.has_passed for result in results):
        print(f"release: a gate failed; nothing in {project.output}/ was changed", file=sys.stderr)
        return FAILED_CHECK
    changed = write_release(release, project.output, options.force)
    print(_summary(project, release, changed))
    return 0


def _as_table(results: Sequence[GateResult]) -> str:
    """A row for each gate: tick, time, what was looked at; the faults of failed gates below."""
    width = max(len(result.name) for result in results)
    lines = []
    for result in results:
        time = f"{result.seconds:5.1f} s" if result.seconds else " " * 7  # it stands at the gate that shares its work
        lines.append(f"{'✓' if result.has_passed else '✗'} {result.name:<{width}}  {time}  {result.summary}")
    for result in results:
        if not result.has_passed:
            lines += ["", f"✗ {result.name}", *(f"    {fault}" for fault in result.faults[:_SHOWN_FAULTS])]
            rest = len(result.faults) - _SHOWN_FAULTS
            lines += [f"    and {rest} more"] if rest > 0 else []
    return "\n".join(lines)


def _summary(project: Project, release: Release, changed: Sequence[str]) -> str:
    """What was made and what has changed, what to do next, and what in `student/` is not made from the reference."""
    package = release.assignment.package
    n_regions = sum(len(found) for found in release.skeleton.regions.values())
    in_folder = [name for name in changed if name.startswith(f"{package}/")]
    lines = [
        "",
        f"made  {package}/            {len(release.folder)} files with {n_regions} TODOs"
        + (f", {len(in_folder)} of them changed" if in_folder else ", unchanged"),
        *(
            f"      dist/{name:<15} {len(release.outputs[f'dist/{name}']) / 1000:4.0f} kB, for {audience_of(name)}"
            for name in release.archives
        ),
        f"      dist/{MANIFEST}   versions and checksums",
        "",
        f"next  read {package}/README.md as a student would; docs/how-to/new-term.md has the details",
    ]
    if in_folder:
        lines.append(f"      commit {package}/: CI compares it with the reference")
    lines.append(f"      hand out dist/{STUDENT_ZIP}, upload dist/{GRADESCOPE_ZIP}, keep dist/{INSTRUCTOR_ZIP}")
    if not project.index:
        what = "Gradescope's image will get PyTorch's default build, which may be large"
        lines.append(f"note  {what}; for CPU-only builds: make release TORCH_INDEX=URL")
    others = sorted(read_folder(project.output / package).keys() - release.folder.keys())
    lines += [f"note  {package}/{name} is not made from {project.reference_name}/; left alone" for name in others]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
