"""Proves that component tests, diagnosis, questions and thresholds are correct."""

import sys
from collections.abc import Callable
from pathlib import Path

from autograder.sandbox.errors import SandboxUnavailableError
from autograder.testing.results import CollectionError
from foundation.command_line import Parser, at_least, positive, print_anywhere, run_command
from foundation.places import ASSIGNMENT_FILE, REFERENCE, ROOT
from foundation.whole_files import check_folder

from . import calibration, hints, inside, mutants, outside, prove, questions, same


def make_parser() -> Parser:
    """The commands with their options, which are named as the parameters of the function that does the work."""
    example = "example: python -m validity prove --seeds 2"
    parser = Parser(prog="python -m validity", description=__doc__, epilog=example)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, proof: Callable[..., int], text: str, description: str, example: str = "") -> Parser:
        epilog = f"example: python -m validity {name} {example}"
        sub: Parser = commands.add_parser(name, help=text, description=description, epilog=epilog)
        sub.set_defaults(proof=proof)
        return sub

    def add_sample(sub: Parser, what: str) -> None:
        sub.add_argument("--every", type=positive, default=1, help=f"only every N-th {what} (default: 1)")
        sub.add_argument("--start", type=int, default=0, help="with --every: which of the N samples (default: 0)")

    def add_jobs(sub: Parser) -> None:
        sub.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")

    def add_places(sub: Parser) -> None:
        sub.add_argument("--reference", type=Path, default=REFERENCE, help="default: reference/")
        sub.add_argument("--assignment", type=Path, default=ASSIGNMENT_FILE, help="default: this repository's")

    text = "Run the component tests on known faults (each must fail, and only the tasks of its component may lose "
    text += "points) and on correct variants (each must pass)."
    sub = add("prove", prove.prove, "prove the component tests", text, "--component layers.LayerNorm")
    sub.add_argument("--component", help="only this component: module.Name, Name, or the number of a task")
    sub.add_argument("--fault", default="", help="only faults (and variants) whose id contains this text")
    sub.add_argument("--only", choices=("faults", "variants"), help="default: both")
    add_sample(sub, "fault and variant, but all faults that show only under a condition")
    sub.add_argument("--seeds", type=positive, default=1, help="seeds per fault and variant (default: 1)")
    sub.add_argument("--variant-seeds", type=positive, help="seeds per variant (default: as --seeds)")
    text = "run the tests of a version's own components, or with the first seed all (default: own)"
    sub.add_argument("--tests", choices=("own", "all"), default="own", help=text)
    add_jobs(sub)
    sub.add_argument("--output", type=Path, help="folder for the report's pages (default: no pages)")
    sub.add_argument("--catalogue", type=Path, help="folder of faults (default: the assignment's)")
    sub.add_argument("--variants", type=Path, help="default: the assignment's")
    add_places(sub)

    text = "Put known faults into parts that a component writes out instead of calling them, and list the items of the "
    text += "rubric that they cost, alone and inside. Status 1 if an intact part costs any."
    sub = add("inside", inside.measure, "list what faults cost inside other components", text, "--every 4")
    sub.add_argument("--every", type=positive, default=1, help="only every N-th fault (default: 1)")
    add_jobs(sub)
    sub.add_argument("--output", type=Path, help="folder for the page inside.md (default: no page)")

    text = "Run the component tests on small changes of the reference's solutions: each must fail a test of its task, "
    text += "or be listed as equivalent."
    sub = add("mutate", mutants.mutate, "prove the component tests with mutants of the solutions", text, "--task 1.2")
    sub.add_argument("--task", help="only mutants of this task's solutions, such as 1.3")
    sub.add_argument("--text", default="", help="only mutants whose name contains this text")
    add_sample(sub, "mutant")
    add_jobs(sub)
    sub.add_argument("--output", type=Path, help="folder for the report's page (default: no page)")
    sub.add_argument("--equivalents", type=Path, help="default: assignment/proof/equivalents.toml")
    add_places(sub)

    text = (
        "Run the component tests on known faults and correct variants in a student's own process and in the sandbox: "
    )
    text += "each test must end in the same state, and each task earn the same points."
    sub = add("same", same.compare, "prove that home and grading say the same", text, "--every 20")
    sub.add_argument("--component", help="only this component: module.Name, Name, or the number of a task")
    sub.add_argument("--text", default="", help="only faults and variants whose name contains this text")
    add_sample(sub, "fault and variant")
    add_jobs(sub)

    text = "Draw a sitting's questions about correct variants and submissions with a known fault, run each option "
    text += (
        "again with other inputs, and choose answers by their texts alone. Status 1 if a question does not have one "
    )
    text += "correct choice, if a text feature finds it in more than 35%, or if there are fewer than nine kinds."
    sub = add("questions", questions.prove, "prove the questions about students' own code", text, "--every 40")
    add_sample(sub, "variant and fault")

    text = "Put every known fault into the reference, run the tests of its task with the seed of hints, and write what "
    text += (
        "they see to misconceptions/patterns.json. Count how often the correct hint is found. Status 1 if more than 3% "
    )
    text += "get a wrong hint."
    sub = add("hints", hints.measure, "compute the patterns by which mistakes are named", text, "--jobs 2")
    sub.add_argument("--fault", default="", help="compute only patterns of faults whose id contains this text")
    add_jobs(sub)
    add_places(sub)

    text = "Grade public implementations, described in assignment/outside, and compare each item of the "
    text += "rubric with an independent verdict. Status 1 if one cannot be examined."
    sub = add("outside", outside.outside, "examine the tests with code that nobody here wrote", text, "clones --fetch")
    text = "folder with a git clone owner+name of each repository; default: only check the version of stored verdicts"
    sub.add_argument("folder", type=Path, nargs="?", help=text)
    sub.add_argument("--repository", default="", help="only those whose description's file name contains this text")
    sub.add_argument("--fetch", action="store_true", help="clone what is missing in the folder")
    sub.add_argument("--store", action="store_true", help="write the verdicts, and docs/proof/outside.md")

    text = "Train the reference with several seeds, score its translations of the test sentences, and say what share "
    text += "of correct students would miss the present thresholds, and which thresholds few would miss. Writes "
    text += "calibration.json. Started again after an interruption, it resumes where it stopped."
    example = "--seeds 5 --preset fast --epochs 3"
    sub = add("calibrate", calibration.calibrate, "propose BLEU thresholds", text, example)
    sub.add_argument(
        "--seeds", type=at_least(2), default=5, help="number of seeds, 2 or more: one has no spread (default: 5)"
    )
    sub.add_argument("--preset", default="course", help="the reference's settings (default: course)")
    sub.add_argument("--epochs", type=positive, help="default: the preset's")
    folder = ROOT / "runs" / "calibration"
    sub.add_argument("--output", type=Path, default=folder, help="default: runs/calibration/")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = proven, 1 = a proof failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    options = vars(make_parser().parse_args(arguments))
    proof: Callable[..., int] = options.pop("proof")

    def command() -> int:
        if options.get("output") is not None:
            check_folder(options["output"])  # before the work begins
        return proof(**options)

    failures = {CollectionError: 1, SandboxUnavailableError: 1}
    return run_command("validity", command, failures)


if __name__ == "__main__":
    sys.exit(main())
