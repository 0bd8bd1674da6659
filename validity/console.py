"""Command lines made from functions, tables in Markdown, and commands of the kit in processes of their own."""

import inspect
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import jinja2

from foundation.command_line import INTERRUPTED, Parser, UserError, positive, print_anywhere, run_command
from foundation.places import ROOT
from foundation.whole_files import check_folder, write_whole

Command = Callable[..., int]
"""Does the work and returns the exit status. Its docstring is the help: a line for the list of commands, a paragraph.
Its parameters are the options, without a flag where they have no default: annotated with their help, and with what
`add_argument` needs besides what follows from the type."""
KINDS: dict[object, dict[str, Any]] = {int: {"type": positive}, Path: {"type": Path}, bool: {"action": "store_true"}}

Every = Annotated[int, "only every N-th fault and variant"]
Start = Annotated[int, "with --every: which of the N samples", {"type": int}]
Jobs = Annotated[int, "processes at a time"]
Pages = Annotated[Path | None, "folder for the report's pages (default: no pages)"]
Component = Annotated[str | None, "only this component: module.Name, Name, or the number of a task"]


def make_parser(program: str, description: str | None, commands: Mapping[str, tuple[Command, str]]) -> Parser:
    """The command line of a package: for each command its function, and an example of its options."""
    parser = Parser(prog=f"python -m {program}", description=description)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (command, example) in commands.items():
        summary, *paragraphs = (inspect.getdoc(command) or "").split("\n\n")
        epilog = f"example: python -m {program} {name} {example}"
        sub = subparsers.add_parser(name, help=summary, description=" ".join(paragraphs[:1]) or summary, epilog=epilog)
        sub.set_defaults(command=command)
        hints = get_type_hints(command, include_extras=True)
        for parameter in inspect.signature(command).parameters.values():
            kind = hints[parameter.name]
            text, *others = kind.__metadata__
            [settings] = [KINDS[of] for of in (kind.__origin__, *get_args(kind.__origin__)) if of in KINDS] or [{}]
            settings = settings | dict(*others)
            is_positional = parameter.default is parameter.empty or settings.get("nargs") == "?"
            flag = parameter.name if is_positional else f"--{parameter.name.replace('_', '-')}"
            default = None if parameter.default is parameter.empty else parameter.default
            if default not in (None, "", False) and not isinstance(default, tuple):
                text += f" (default: {str(default).removeprefix(f'{ROOT}{os.sep}')})"
            sub.add_argument(flag, default=default, help=text, **settings)
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
