"""The command line: `sanity`, `hint`, `understand`, `hunt`, `train`, `translate`, `pack` and others.

A user's error is answered in one line, with exit status 2.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import torch

from foundation.assignment_file import released_folder
from foundation.command_line import Parser, UserError, at_least, print_anywhere, run_command

from . import checks, decoding, drawing, run_folder, training
from .config import ConfigError
from .package import Package


def main(name: str, arguments: list[str] | None = None) -> int:
    """Runs one command for the package of that name; `arguments` are the words after the program's name.

    Returns the exit status: 0, 1 if a part is not written yet, 2 for bad input, 130 after Ctrl-C.
    """
    print_anywhere()
    options = make_parser(name).parse_args(arguments, argparse.Namespace(package=Package(name)))
    return run_command(name, lambda: run(options), {NotImplementedError: 1})


def run(options: argparse.Namespace) -> int:
    """Runs the command on the device that the options name; explains errors that alone would not help."""
    torch.set_num_threads(options.threads)
    asked, options.device = options.device, choose_device(options.device)
    if asked == "auto":
        print(f"device: {describe_device(options.device)}", file=sys.stderr)
    try:
        return int(options.run(options))
    except NotImplementedError as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        is_way_out = "E.2" in str(error) and hasattr(options, "preset")  # only `train` has that flag
        way_out = "; --no-norm-first trains without it" if is_way_out else ""
        raise NotImplementedError(f"this part is not written yet: {error} ({where}){way_out}") from None
    except Exception as error:
        if isinstance(error, (UserError, OSError)) or not (text := explain(error, options.package)):
            raise
        raise ConfigError(text) from None
    except KeyboardInterrupt:
        print(file=sys.stderr)  # ends the line of a progress bar
        raise


def explain(error: Exception, package: Package) -> str:
    """Says in one line what is wrong in the user's code or files, or with the machine; "" for a mistake of ours."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed for this Python: run `pip install -r requirements.txt`"
    if isinstance(error, AttributeError) and (problem := package.without_name(error)):
        return problem
    if isinstance(error, ValueError) and isinstance(error, package.data.DataError):
        return str(error)
    if isinstance(error, RuntimeError) and ("allocate memory" in str(error) or type(error) is torch.OutOfMemoryError):
        return "out of memory; a smaller model or --batch-size takes less"
    place = package.place_of(error)
    return f"{place}: {type(error).__name__}: {error}" if place else ""


def make_parser(package: str) -> Parser:
    """Creates the parser, with all commands and their flags."""
    program = f"python -m {package}"
    parser = Parser(prog=program, description="Train and use a Transformer for machine translation.")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(
        name: str, run: Callable[[argparse.Namespace], int], text: str, example: str, computes: bool = True
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text, epilog=f"example: {program} {name} {example}")
        sub.set_defaults(run=run, threads=1, device="cpu")
        if computes:
            sub.add_argument("--device", help="cpu, cuda, mps, … or auto = the fastest there is (default: cpu)")
            text = "threads for PyTorch (default: 1); several are slower for small models on a busy machine"
            sub.add_argument("--threads", type=at_least(1, 1024), help=text)
        return sub

    text = "Train a model and measure its dev BLEU after every epoch."
    training.add_flags(command("train", training.run, text, "--epochs 3 --output runs/short"))
    text = (
        "Run five quick checks of an untrained model, such as its first loss, its gradients, and the effect of padding."
    )
    checks.add_sanity_flags(command("sanity", checks.sanity, text, "--norm-first"))
    text = (
        "Give a hint for a task after some failed attempts: versions of your code that have failed its tests. They are "
        "counted in .attempts.json beside the package."
    )
    command("hint", give_hint, text, "1.3", computes=False).add_argument("task", help="number of the task, such as 1.3")
    text = "Ask three questions about your own code for a task whose tests pass."
    command("understand", ask, text, "1.2", computes=False).add_argument("task", help="number of the task, such as 1.2")
    text = "Show your bug hunts, your own components with one line changed, and a model trained with a mistake."
    sub = command("hunt", show_hunts, text, "anna", computes=False)
    sub.add_argument("name", help="your name or number, as the course knows you")
    sub.add_argument("--answer", default="", metavar="LETTER", help="which mistake the trained model has")
    text = "Average the last checkpoints of a run into one."
    run_folder.add_average_flags(command("average", run_folder.average, text, "runs/latest --last 5", computes=False))
    text = "Tabulate runs: the settings in which they differ, and the dev BLEU of each."
    run_folder.add_compare_flags(command("compare", run_folder.compare, text, "runs/*", computes=False))
    text = "Translate a file, one sentence per line."
    decoding.add_flags(command("translate", decoding.run, text, "--output translations.txt"))
    text = "Draw where a sentence and its translation attend."
    example = '--sentence "je suis ici ." --output attention.png'
    drawing.add_flags(command("attention", drawing.run, text, example))
    text = "Measure how well cross-attention aligns words, by layer and head: the alignment error rate (AER)."
    drawing.add_align_flags(command("align", drawing.align, text, "--output align.png --line 12"))
    text = "Pack what you hand in, and check what a grader will find in it."
    checks.add_pack_flags(command("pack", checks.pack, text, "--output submission.zip", computes=False))
    return parser


def give_hint(options: argparse.Namespace) -> int:
    """Prints a hint; returns 1 unless the task's tests pass."""
    from autograder.at_home.hints import give  # the tests take a moment to load

    return give(options.task)


def ask(options: argparse.Namespace) -> int:
    """Prints the questions. Raises: UserError unless the task's tests pass."""
    from autograder.own_work.traced_questions import give

    return give(options.task)


def show_hunts(options: argparse.Namespace) -> int:
    """Print and draw a student's bug hunts; return 0. Raises: UserError where something is missing for one."""
    from autograder.intake.sources import read_sources

    drawing.show_hunts(options.name, read_sources(released_folder(), released_folder()), options.answer)
    return 0


def choose_device(name: str) -> str:
    """Returns the name of a device that works, such as "cuda:1"; "auto" = CUDA if there is a GPU, else MPS, else CPU.

    Raises: ConfigError if PyTorch cannot compute on the device.
    """
    if name == "auto":
        return next((kind for kind in ("cuda", "mps") if getattr(torch, kind).is_available()), "cpu")
    try:
        torch.zeros(1, device=name).item()
    except Exception as error:  # each kind of device raises its own
        reason = str(error).strip().partition("\n")[0].partition(". ")[0]
        raise ConfigError(f"--device {name}: it cannot be used here: {reason}") from None
    return name


def describe_device(name: str) -> str:
    """Names a device for people: "cuda (NVIDIA H200)"."""
    return f"{name} ({torch.cuda.get_device_name(name)})" if name.startswith("cuda") else name
