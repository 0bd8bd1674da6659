"""The common part of all command lines of the kit: help, error messages, exit statuses, output."""

import argparse
import errno
import inspect
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from .texts import printable

INTERRUPTED = 130  # exit status after Ctrl-C, as in shells: 128 plus the signal's number
LONGEST = 2000  # characters of a message
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}
"""Errors of output, which names no file; others without a name are failures of ours."""


class UserError(ValueError):
    """A user's mistake: words or a file that cannot be used; the message is one line with the reason."""

    def _render_traceback_(self) -> list[str]:
        """Returns what a notebook shows in place of a traceback."""
        return [str(self)]


class HelpFormatter(argparse.HelpFormatter):
    """Wraps descriptions, but no example: a command that is broken in two cannot be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("example") else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """An argparse parser that answers a wrong command line with one line that is safe to print."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuses what a command does not know itself, since the program around it has other options."""
        options, left = super().parse_known_args(args, namespace)
        if left:
            meant = get_close_matches(left[0].partition("=")[0], self._option_string_actions, n=1)
            hint = f"; did you mean {meant[0]}?" if meant else ""
            self.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        return options, left

    def error(self, message: str) -> NoReturn:
        """Prints what is wrong and ends the process with status 2."""
        self.exit(2, f"{self.prog}: {printable(message)} (--help shows an example)\n")


def at_least(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """The type of an option that takes a whole number of at least `lowest`, which is not negative."""
    expected = f"of at least {lowest}" if highest is None else f"from {lowest} to {highest}"

    def parse(text: str) -> int:
        if not text.isdecimal() or not lowest <= int(text) <= (highest or int(text)):
            raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number {expected}")
        return int(text)

    return parse


positive = at_least(1)
TYPES: Mapping[str, Any] = {"path": Path, "int": int, "float": float, "count": at_least(0), "positive": positive}
Commands = Mapping[str, tuple[Callable[..., int], str, tuple[str, ...]]]
"""By name: what does the work, an example of its flags, and their tables in a `flags.toml`."""


def add_commands(
    parser: argparse.ArgumentParser,
    commands: Commands,
    path: Path,
    types: Mapping[str, Any] = {},
    known: Mapping[str, Mapping[str, Any]] = {},
) -> dict[str, argparse.ArgumentParser]:
    """Adds commands, each as `run` of the options; the first two paragraphs of its docstring are its help.

    Returns their parsers by name. See `add_flags` for the other arguments.
    """
    parsers: Any = parser.add_subparsers(required=True, metavar="COMMAND")
    made = dict[str, argparse.ArgumentParser]()
    for name, (run, example, tables) in commands.items():
        paragraphs = (inspect.getdoc(run) or name).split("\n\n")  # there are no docstrings in optimized code
        summary = paragraphs[0].partition("\n")[0].removesuffix(".")
        about = {"help": summary[0].lower() + summary[1:], "description": " ".join(paragraphs[:2])}
        made[name] = parsers.add_parser(name, **about, epilog=f"example: {parser.prog} {name} {example}")
        made[name].set_defaults(run=run)
        add_flags(made[name], path, tables, types, known)
    return made


def add_flags(
    parser: argparse.ArgumentParser,
    path: Path,
    names: Iterable[str],
    types: Mapping[str, Any] = {},
    known: Mapping[str, Mapping[str, Any]] = {},
) -> None:
    """Adds the flags in tables of a TOML file, with what argparse takes, and what code knows of them.

    `type` names one of TYPES or of `types`. A flag whose action is `switch` has a --no-... beside it. Of those that are
    `one_of`, one has to be given.
    """
    parser.register("action", "switch", argparse.BooleanOptionalAction)
    tables, types = tomllib.loads(path.read_text(encoding="utf-8")), {**TYPES, **types}
    flags: list[tuple[str, dict[str, Any]]] = [*chain.from_iterable(tables[name].items() for name in names)]
    has_choice = any(settings.get("one_of") for _, settings in flags)
    choice: Any = parser.add_mutually_exclusive_group(required=True) if has_choice else parser
    for flag, settings in flags:
        place = choice if settings.pop("one_of", False) else parser
        for key, value in settings.items():
            settings[key] = types[value] if key == "type" else tuple(value) if isinstance(value, list) else value
        place.add_argument(flag, **settings, **known.get(flag, {}))


def print_anywhere() -> None:
    """Makes stdout and stderr print characters that their encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def run_command(program: str, command: Callable[[], int], others: Mapping[type[Exception], int] = {}) -> int:
    """Runs a command, which returns the exit status; what goes wrong is one line that begins with the program's name.

    The status is 2 for a user's mistake and for a file that cannot be read or written, INTERRUPTED after Ctrl-C, and
    for `others` among the exceptions what stands there. What was printed is written out here, where a failure can still
    be reported; that its reader goes away first, as `| head` does, is none.
    """
    status = 0
    try:
        status = command()
        if sys.stdout is not None:  # the process may have been started without one
            sys.stdout.flush()
        return status
    except UserError as error:
        message, status = str(error), 2
    except tuple(others) as error:
        message, status = str(error), next(others[kind] for kind in others if isinstance(error, kind))
    except OSError as error:
        if error.filename is None:  # of the output; what was not written would make Python fail once more as it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return status
        if error.filename is None and error.errno not in NO_ROOM:
            raise
        message, status = f"{error.filename or 'output'}: {error.strerror or error}", 2
    except KeyboardInterrupt as stop:  # it may say how to go on
        message, status = f"stopped{stop}", INTERRUPTED
    print(f"{program}: {printable(message, LONGEST)}", file=sys.stderr)
    return status
