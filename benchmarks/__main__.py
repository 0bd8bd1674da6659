"""Measures how fast the kit is, how well it judges, and what the reference reaches."""

import sys
from collections.abc import Callable
from pathlib import Path

import torch

from autograder.sandbox.errors import SandboxUnavailableError
from foundation.command_line import Parser, at_least, print_anywhere, run_command
from reference.data import DataError

from . import accessibility, grading, mistakes, panel, rubric, speed, tables
from .tables import TABLES

CORPUS = Path("data/corpus")


def make_parser() -> Parser:
    """All measurements with their options, which are named as the parameters of the function that measures."""
    parser = Parser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, measure: Callable[..., int], text: str, example: str = "") -> Parser:
        sub: Parser = commands.add_parser(name, help=text, epilog=f"example: python -m benchmarks {name} {example}")
        sub.set_defaults(measure=measure)
        return sub

    def add_corpus(sub: Parser, *splits: str) -> None:
        for split in splits:
            text, default = "`source|||target` lines (default: ours)", CORPUS / f"fren.{split}.bpe"
            sub.add_argument(f"--{split}", type=Path, default=default, help=text)

    def add_number(sub: Parser, name: str, default: int, text: str, least: int = 1) -> None:
        sub.add_argument(name, type=at_least(least), default=default, help=f"{text} (default: {default})")

    text = "tokens a second in training, and against torch.nn.Transformer"
    add_corpus(add("speed", speed.measure, text), "train")

    text = "figures of models that are trained with a mistake, for `hunt`, into trained_mistakes.jsonl; resumes"
    add_corpus(add("mistakes", mistakes.measure, text), "train", "dev")

    text = "pages that not everybody can read, by axe-core, into docs/reference/accessibility.md"
    sub = add("accessibility", accessibility.measure, text, "'the site=build/site'")
    sub.add_argument("pages", nargs="+", metavar="[NAME=]PATH", help="a page, or a folder with pages")
    add_number(sub, "--every", 1, "check each n-th page; above 1, the report is left alone")
    add_number(sub, "--start", 0, "begin with this page", least=0)

    text = "points that known faults cost today, beside what they do to a trained model, with a picture"
    sub = add("rubric", rubric.measure, text, "--picture docs/pictures/rubric.png")
    sub.add_argument("--picture", type=Path, default=Path("docs/pictures/rubric.png"), help="default: the docs' own")

    add("panel", panel.measure, "points that known faults cost today, beside those that two readers would take off")

    text = "dev BLEU of the reference over seeds, and of models with a part missing"
    sub = add("ablations", tables.measure_ablations, text, "--seeds 5")
    add_number(sub, "--seeds", 5, "runs of the intact model")
    add_corpus(sub, "train", "dev")

    text = "the three tables of the course's report, with several seeds"
    sub = add("tables", tables.measure, text, "--tables 3 --only small medium --seeds 3")
    sub.add_argument("--tables", type=int, nargs="+", choices=TABLES, default=[*TABLES], help="which tables")
    sub.add_argument("--only", nargs="+", metavar="TEXT", help="only columns whose name contains one of these texts")
    add_number(sub, "--seeds", 3, "runs of each column")
    add_corpus(sub, "train", "dev")
    sub.add_argument("--test", type=Path, help="likewise; without it the tables have no test BLEU")
    text = "folder for runs and tables (default: runs/tables); what is finished is not done again"
    sub.add_argument("--output", type=Path, default=Path("runs/tables"), help=text)
    sub.add_argument("--show", action="store_true", help="train nothing: write the tables of what is finished")

    text = "CPU time of grading a submission in a class: the reference, correct variants, faulty submissions"
    sub = add("grading", grading.measure, text, "--count 30")
    add_number(sub, "--count", 30, "submissions of each kind in the class")

    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs one measurement, which prints a table; returns the exit status."""
    print_anywhere()
    options = vars(make_parser().parse_args(arguments))
    measure: Callable[..., int] = options.pop("measure")
    torch.set_num_threads(1)
    return run_command("benchmarks", lambda: measure(**options), {DataError: 2, SandboxUnavailableError: 2})


if __name__ == "__main__":
    sys.exit(main())
