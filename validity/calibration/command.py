"""`python -m validity calibrate`: the command line that proposes BLEU thresholds."""

import argparse
import json
import sys
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH, read_assignment
from foundation.command_line import Parser
from foundation.places import ROOT, TEST_REFERENCES

SHARES = (0.01, 0.05)


def add_calibrate(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Adds `calibrate` to the commands."""
    calibrate = commands.add_parser(
        "calibrate",
        help="propose BLEU thresholds",
        description="Train the reference with several seeds, score its translations of the test sentences, and say "
        "what share of correct students would miss the present thresholds, and which thresholds few would miss. "
        "Writes calibration.json and calibration.png. Started again after an interruption, it resumes "
        "where it stopped.",
        epilog="example: python -m validity calibrate --seeds 5 --preset fast --epochs 3",
    )
    calibrate.set_defaults(run=run)
    calibrate.add_argument("--seeds", type=int, default=5, help="number of seeds (default: 5)")
    calibrate.add_argument("--preset", default="course", help="the reference's settings (default: course)")
    calibrate.add_argument("--epochs", type=int, help="default: the preset's")
    folder = ROOT / "runs" / "calibration"
    calibrate.add_argument("--output", type=Path, default=folder, help="default: runs/calibration/")
    where = TEST_REFERENCES.relative_to(ROOT)
    calibrate.add_argument("--references", type=Path, default=TEST_REFERENCES, help=f"default: {where}")
    calibrate.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: this repository's")
    calibrate.add_argument("--json", action="store_true", help="print the results as JSON instead of a table")


def run(options: argparse.Namespace) -> int:
    """Returns 0 on success, 1 where a run failed, 2 for bad input."""
    from autograder.grading.record import write_json
    from autograder.scoring import ScoringError

    from .report import as_text, draw
    from .spread import propose, spread_of
    from .training import CalibrationError, run_seeds

    if options.seeds < 2 or (options.epochs is not None and options.epochs < 1):
        print("calibrate: expected --seeds of 2 or more and --epochs of 1 or more", file=sys.stderr)
        return 2
    thresholds = read_assignment(options.assignment).thresholds
    arguments = ["--preset", options.preset, *(["--epochs", str(options.epochs)] if options.epochs else [])]
    output = options.output.resolve()
    output /= "-".join([options.preset, *([f"{options.epochs}-epochs"] if options.epochs else [])])
    try:
        scores = run_seeds(range(options.seeds), arguments, options.references.resolve(), output)
    except ScoringError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 2
    except CalibrationError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 2 if error.status == 2 else 1
    spread = spread_of(scores)
    content = {"arguments": arguments, "scores": [vars(score) for score in scores]}
    content |= propose(spread, thresholds, SHARES)
    write_json(output / "calibration.json", content)
    draw(spread, content, output / "calibration.png")
    print(json.dumps(content, indent=1) if options.json else as_text(content, output))
    return 0
