"""Command lines of functions, tables in Markdown, and commands of the kit in processes of their own."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from foundation.command_line import (
    INTERRUPTED,
    Commands,
    Parser,
    UserError,
    add_commands,
    at_least,
    print_anywhere,
    run_command,
)
from foundation.places import ROOT
from foundation.whole_files import check_folder, write_whole


def make_parser(program: str, description: str | None, commands: Commands) -> Parser:
    """The command line of a package."""
    parser = Parser(prog=f"python -m {program}", description=description)
    add_commands(parser, commands, ROOT / program / "flags.toml", {"several": at_least(2)})
    return parser


def run_one(
    program: str,
    description: str | None,
    commands: Commands,
    arguments: list[str] | None,
    others: Mapping[type[Exception], int],
) -> int:
    """Run one command of a package, a function that takes the options by name; return the exit status."""
    print_anywhere()
    options = vars(make_parser(program, description, commands).parse_args(arguments))
    command: Callable[..., int] = options.pop("run")

    def work() -> int:
        if options.get("output") is not None:
            check_folder(options["output"])  # before the work begins
        return command(**options)

    return run_command(program, work, others)


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
