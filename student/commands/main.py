"""The parser of the command line, and the errors of its users."""

import argparse
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import torch

from ..data import DataError
from ..running.checkpoint import CheckpointError
from ..running.config import ConfigError
from ..translation.raw_text import TextError
from . import aligning, averaging, comparing, drawing, training, translating
from .device import choose_device, describe_device, set_threads

PACKAGE = __name__.rsplit(".", 2)[0]


class Parser(argparse.ArgumentParser):
    """An argparse parser that answers a wrong command line with a single line."""

    def error(self, message: str) -> NoReturn:
        """Prints the message and exits with status 2."""
        self.exit(2, f"{self.prog}: {message} (--help shows an example)\n")


def main(arguments: list[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: the words after the program's name; None = those of this process.

    Returns:
        The exit status: 0, 1 if a part is not written yet, 2 for bad input, 130 after Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not in a notebook
            stream.reconfigure(errors="backslashreplace")  # a terminal may lack accents
    options = make_parser().parse_args(arguments)
    try:
        set_threads(options.threads)
        asked, options.device = options.device, choose_device(options.device)
        if asked == "auto":
            print(f"device: {describe_device(options.device)}", file=sys.stderr)
        status: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a full disk can be reported
    except (DataError, TextError, ConfigError, CheckpointError) as error:
        print(f"{PACKAGE}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has gone away, as `| head` does: it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        prefix = f"{error.filename}: " if error.filename else ""
        print(f"{PACKAGE}: {prefix}{error.strerror or error}", file=sys.stderr)
        return 2
    except NotImplementedError as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        print(f"{PACKAGE}: this part is not written yet: {error} ({where})", file=sys.stderr)
        return 1
    except RuntimeError as error:
        if "allocate memory" not in str(error) and not isinstance(error, torch.OutOfMemoryError):
            raise
        print(f"{PACKAGE}: out of memory; a smaller model or --batch-size takes less", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(f"\n{PACKAGE}: stopped{stop}", file=sys.stderr)
        return 130
    return status


def make_parser() -> argparse.ArgumentParser:
    """Creates the parser, with all commands and their flags."""
    parser = Parser(prog=f"python -m {PACKAGE}", description="Train and use a Transformer for machine translation.")
    names = "train | average | compare | translate | attention | align"
    commands = parser.add_subparsers(required=True, metavar=names)

    def command(
        name: str, run: Callable[[argparse.Namespace], int], text: str, example: str, computes: bool = True
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: python -m {PACKAGE} {name} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(run=run, parser=sub, threads=1, device="cpu")
        if computes:
            sub.add_argument("--device", help="cpu, cuda, mps, … or auto = the fastest there is (default: cpu)")
            sub.add_argument("--threads", type=int, help="threads for PyTorch (default: 1)")
        return sub

    text = "Train a model and measure its dev BLEU after every epoch."
    training.add_flags(command("train", training.run, text, "--epochs 3 --output runs/short"))
    text = "Average the last checkpoints of a run into one."
    averaging.add_flags(command("average", averaging.run, text, "runs/latest --last 5", computes=False))
    text = "Tabulate runs: the settings in which they differ, and the dev BLEU of each."
    comparing.add_flags(command("compare", comparing.run, text, "runs/*", computes=False))
    text = "Translate a file, one sentence per line."
    translating.add_flags(command("translate", translating.run, text, "--output translations.txt"))
    text = "Draw where a sentence and its translation attend."
    example = '--sentence "je suis ici ." --output attention.png'
    drawing.add_flags(command("attention", drawing.run, text, example))
    text = "Measure how well cross-attention aligns words, by layer and head: the alignment error rate (AER)."
    aligning.add_flags(command("align", aligning.run, text, "--output align.png --line 12"))
    return parser
