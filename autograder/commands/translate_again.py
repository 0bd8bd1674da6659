"""`python -m autograder translate-again`: does a checkpoint give the translations that were handed in?"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.places import SKELETON, TEST_REFERENCES
from foundation.printable_text import printable

from ..classroom.errors import ClassError
from ..intake import take_in
from ..sandbox.containment.layers import LEVELS
from .arguments import Commands, add_assignment

LINES = 50
SHOWN = 10


def add_command(commands: Commands) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "translate-again",
        help="check translations against a checkpoint, in the sandbox",
        description="Translate a random sample of the test sentences again, with a student's checkpoint and code, and "
        "compare with the submission's translations.txt. All of it runs in the sandbox. What differs is for a person "
        "to judge; no mark depends on it. The exit status is 1 if it does not agree.",
        epilog="example: python -m autograder translate-again submissions/anna --checkpoint anna.pt",
    )
    parser.set_defaults(run=run)
    parser.add_argument("submission", type=Path, help="folder, .zip, .tar.gz or notebook, with translations.txt")
    parser.add_argument("--checkpoint", type=Path, help="a file that `train` saved; default: best.pt in the submission")
    parser.add_argument("--lines", type=int, default=LINES, help=f"size of the sample (default: {LINES})")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--references", type=Path, default=TEST_REFERENCES, help="default: data/private/fren.test.bpe")
    level = "level of containment (default: auto, the best that works)"
    parser.add_argument("--level", default="auto", choices=LEVELS, help=level)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--release", type=Path, default=SKELETON, help="the skeleton; default: student/")
    add_assignment(parser)


def run(options: argparse.Namespace) -> int:
    """Translates again; the exit status."""
    if options.lines < 1:
        raise ClassError(f"--lines {options.lines}: expected at least 1")
    from ..classroom.similarity.translating_again import translate_again  # PyTorch is imported here

    assignment = read_assignment(options.assignment)
    intake = take_in(options.submission, options.release, assignment)
    found = translate_again(
        intake, options.checkpoint, options.references, assignment, options.lines, options.seed, options.level
    )
    if options.json:
        print(json.dumps({**asdict(found), "agrees": found.agrees}, indent=2, ensure_ascii=False))
        return int(not found.agrees)
    if found.problem:
        print(f"not translated: {found.problem}")
        return 1
    n_equal = found.sampled - len(found.differing)
    more = "" if found.agrees else ": for a person to look at"
    print(f"{n_equal} of {found.sampled} sampled lines are the same{more}")
    for one in found.differing[:SHOWN]:
        print(f"  line {one.number}")
        print(f"    handed in: {printable(one.submitted, 200)}")
        print(f"    again:     {printable(one.again, 200)}")
    return int(not found.agrees)
