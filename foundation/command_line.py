"""The common part of all command lines of the kit: help, error messages, exit statuses, output."""

import argparse
import errno
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
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
TYPES: Mapping[str, Callable[[str], Any]] = {"path": Path, "integer": int, "number": float, "positive": positive}
"""Of options in TOML, by name."""


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    options: Mapping[str, Any],
    types: Mapping[str, Callable[[str], Any]] = {},
    known: Mapping[str, Mapping[str, Any]] = {},
) -> None:
    """Adds a command to those of a parser, with its options in TOML; of those that are `one_of`, one has to be given.

    The docstring of what runs it describes it. Code adds further types, and settings that it knows, by option.
    """
    text, about = inspect.getdoc(run) or name, options[name]  # there are no docstrings in optimized code
    summary = text.partition("\n")[0].removesuffix(".")
    parser = commands.add_parser(name, help=summary[0].lower() + summary[1:], description=text)
    parser.epilog = f"example: {parser.prog} {about['example']}"
    parser.set_defaults(run=run)
    shared = {option: options["shared"][option] for option in about["shared"]}
    own = {option: shared.get(option, {}) | settings for option, settings in about.get("options", {}).items()}
    groups = {True: parser.add_mutually_exclusive_group(required=True)} if "one_of" in str(own) else {}
    for option, settings in {**shared, **own}.items():
        settings = {**settings, **known.get(option, {})}
        place = groups.get(settings.pop("one_of", False), parser)
        if "type" in settings:
            settings["type"] = {**TYPES, **types}[settings["type"]]
        place.add_argument(option, **settings)


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
