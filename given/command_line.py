"""The command line: `train`, `translate`, `attention` and others; a user's error is one line, with exit status 2."""

import argparse
import sys
import traceback
from pathlib import Path

import torch

from autograder.intake.sources import read_own_sources
from foundation.assignment_file import read_assignment
from foundation.command_line import Commands, Parser, UserError, add_commands, at_least, print_anywhere, run_command

from . import checks, decoding, drawing, run_folder, training
from .config import FLAGS, ConfigError, add_config_flags
from .package import Package


def main(name: str, arguments: list[str] | None = None) -> int:
    """Runs one command for the package of that name; `arguments` are the words after the program's name.

    Returns the exit status: 0, 1 if a part is not written yet, 2 for bad input, 130 after Ctrl-C.
    """
    print_anywhere()
    try:
        options = make_parser(name).parse_args(arguments, argparse.Namespace(package=Package(name)))
    except SystemExit as stop:  # the parser has said why; a notebook would add warnings
        return int(stop.code or 0)
    return run_command(name, lambda: run(options), {NotImplementedError: 1})


def run(options: argparse.Namespace) -> int:
    """Runs the command on the device that the options name; explains errors that alone would not help."""
    torch.set_num_threads(options.threads)
    asked, options.device = options.device, choose_device(options.device)
    if asked == "auto":
        print(f"device: {options.device}", file=sys.stderr)
    try:
        return int(options.run(options))
    except NotImplementedError as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        preset, is_pre_norm = getattr(options, "preset", None), "E.2" in str(error)
        way_out = f"; --no-norm-first trains preset {preset} without it" if preset and is_pre_norm else ""
        raise NotImplementedError(f"this part is not written yet: {error} ({where}){way_out}") from None
    except (Exception, SystemExit) as error:
        if isinstance(error, (UserError, OSError)) or not (text := explain(error, options.package)):
            raise
        raise ConfigError(text) from None
    except KeyboardInterrupt:
        print(file=sys.stderr)  # ends the line of a progress bar
        raise


def explain(error: BaseException, package: Package) -> str:
    """Says in one line what is wrong in the user's code or files, or with the machine; "" for a mistake of ours."""
    if isinstance(error, ModuleNotFoundError):
        if (error.name or "").startswith("given.extras"):
            return "given/extras/ does this, and only instructors have it"
        fault = f"{error.name} is not installed for this Python, {sys.executable}"
        return f"{fault}: activate your environment, run `pip install -r requirements.txt`, or install it"
    if isinstance(error, ValueError) and isinstance(error, package.data.DataError):
        return str(error)
    if isinstance(error, RuntimeError) and ("allocate memory" in str(error) or type(error) is torch.OutOfMemoryError):
        return "out of memory; a smaller model or --batch-size takes less"
    if place := package.place_of(error):
        return f"{place}: {type(error).__name__}: {error}"
    is_their_module = getattr(getattr(error, "obj", None), "__name__", "").startswith(f"{package.name}.")
    return str(error) if isinstance(error, AttributeError) and is_their_module else ""


def choose_device(name: str) -> str:
    """Returns a device that works; "auto" = CUDA if there is a GPU, else MPS, else CPU. Raises: ConfigError."""
    if name == "auto":
        return next((kind for kind in ("cuda", "mps") if getattr(torch, kind).is_available()), "cpu")
    try:
        torch.zeros(1, device=name).item()
    except Exception as error:  # each kind of device raises its own
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"--device {name}: it cannot be used here: {reason}") from None
    return name


def give_hint(options: argparse.Namespace) -> int:
    """Gives a hint for a task after some failed attempts: versions of your code that have failed its tests.

    They are counted in .attempts.json beside the package.
    """
    from autograder.at_home.hints import give  # the tests take a moment to load

    return give(options.task)


def ask(options: argparse.Namespace) -> int:
    """Asks three questions about your own code for a task whose tests pass."""
    from autograder.own_work.questions import tell

    print(tell(options.task, read_own_sources(), read_assignment()))
    return 0


def show_hunts(options: argparse.Namespace) -> int:
    """Shows your bug hunts, your own components with one line changed, and a model trained with a mistake."""
    from autograder.own_work.boxes import tell_hunts

    print(tell_hunts(options.name, read_own_sources(), read_assignment(), options.answer))
    return 0


COMMANDS: Commands = {
    "train": (training.run, "--epochs 3 --output runs/short", ("device", "train")),
    "sanity": (checks.sanity, "--norm-first", ("device", "sanity")),
    "hint": (give_hint, "1.3", ("task",)),
    "understand": (ask, "1.2", ("task",)),
    "hunt": (show_hunts, "anna", ("hunt",)),
    "compare": (run_folder.compare, "runs/*", ("compare",)),
    "translate": (decoding.run, "--output translations.txt", ("device", "checkpoint", "translate")),
    "attention": (drawing.run, '--sentence "je suis ici ." --output a.png', ("device", "checkpoint", "attention")),
    "pack": (checks.pack, "--output submission.zip", ("pack",)),
}


def make_parser(package: str) -> Parser:
    """Creates the parser, with all commands and their flags."""
    parser = Parser(prog=f"python -m {package}", description="Train and use a Transformer for machine translation.")
    commands = add_commands(parser, COMMANDS, FLAGS, {"threads": at_least(1, 1024)})
    for command in commands.values():
        command.set_defaults(threads=1, device="cpu")
    add_config_flags(commands["train"])
    return parser
