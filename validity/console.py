"""Command lines of functions, tables in Markdown, and commands of the kit in processes of their own."""

import inspect
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from foundation.command_line import INTERRUPTED, Parser, UserError, add_flags, at_least, print_anywhere, run_command
from foundation.places import ROOT
from foundation.whole_files import check_folder, write_whole

Command = Callable[..., int]
"""Does the work and returns the exit status. Its docstring is the help: a line for the list of commands, a paragraph.
Its parameters are the options."""
Commands = Mapping[str, tuple[Command, str, tuple[str, ...]]]
"""By name: the function, an example of its options, and their tables in the package's `flags.toml`."""


def make_parser(program: str, description: str | None, commands: Commands) -> Parser:
    """The command line of a package."""
    parser = Parser(prog=f"python -m {program}", description=description)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (command, example, tables) in commands.items():
        summary, *paragraphs = (inspect.getdoc(command) or "").split("\n\n")
        epilog = f"example: python -m {program} {name} {example}"
        sub = subparsers.add_parser(name, help=summary, description=" ".join(paragraphs[:1]) or summary, epilog=epilog)
        sub.set_defaults(command=command)
        add_flags(sub, ROOT / program / "flags.toml", tables, {"several": at_least(2)})
    return parser


def run_one(parser: Parser, arguments: list[str] | None, others: Mapping[type[Exception], int]) -> int:
    """Run one command; return the exit status: see `run_command`."""
    print_anywhere()
    options = vars(parser.parse_args(arguments))
    command: Command = options.pop("command")

    def work() -> int:
        if options.get("output") is not None:
            check_folder(options["output"])  # before the work begins
        return command(**options)

    return run_command(parser.prog.rpartition(" ")[2], work, others)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    cells = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells))


def write_page(folder: Path, name: str, **values: object) -> None:
    """Write a page in Markdown, from its template in `pages/`, into a folder, which is made if it is missing."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "pages")
    strict: dict[str, Any] = {"undefined": jinja2.StrictUndefined, "trim_blocks": True, "keep_trailing_newline": True}
    template = jinja2.Environment(loader=loader, **strict).get_template(f"{name}.md")  # noqa: S701
    write_whole(folder / f"{name}.md", template.render(values))


def run_python(*words: object) -> str:
    """Run `python WORDS` in the repository; return what it prints.

    Raises: UserError if it fails, with the last line that it printed; KeyboardInterrupt if Ctrl-C has ended it.
    """
    command = [sys.executable, *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace")  # noqa: S603
    if done.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode:
        line = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
        raise UserError(f"python {shlex.join(map(str, words[:3]))} ended with status {done.returncode}: {line}")
    return done.stdout.strip()
