"""`python -m validity calibrate`: proposes BLEU thresholds."""

import argparse
import json
import sys
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH, read_assignment
from foundation.places import ROOT
from foundation.whole_files import in_one_piece

SHARES = (0.01, 0.05)


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Adds `calibrate` to the autograder's commands."""
    calibrate = commands.add_parser(
        "calibrate",
        help="propose BLEU thresholds",
        description="Train the reference with several seeds, score its translations of the test sentences, and say "
        "what share of correct students would miss the present thresholds, and which thresholds few would miss. "
        "Writes calibration.json and calibration.png. Stopped and started again, it goes on where it was.",
        epilog="example: python -m validity calibrate --seeds 5 --preset fast --epochs 3",
    )
    calibrate.set_defaults(run=run)
    calibrate.add_argument("--seeds", type=int, default=5, help="how many (default: 5)")
    calibrate.add_argument("--preset", default="course", help="of the reference's settings (default: course)")
    calibrate.add_argument("--epochs", type=int, help="default: the preset's")
    folder = ROOT / "runs" / "calibration"
    calibrate.add_argument("--output", type=Path, default=folder, help="default: runs/calibration/")
    references = ROOT / "data" / "private" / "fren.test.bpe"
    calibrate.add_argument("--references", type=Path, default=references, help="default: data/private/fren.test.bpe")
    calibrate.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: the kit's own")
    calibrate.add_argument("--json", action="store_true", help="print the results instead of a table")


def run(options: argparse.Namespace) -> int:
    """Returns 0, 1 where a run failed, 2 for bad input."""
    from autograder.grading.record import write_json
    from autograder.scoring import ScoringError

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
        return 1
    spread = spread_of(scores)
    content = {"arguments": arguments, "scores": [vars(score) for score in scores]}
    content |= propose(spread, thresholds, SHARES)
    write_json(output / "calibration.json", content)
    draw(spread, content, output / "calibration.png")
    print(json.dumps(content, indent=1) if options.json else as_text(content, output))
    return 0


def as_text(content: dict, output: Path) -> str:
    """For people."""
    lines = [f"seed {score['seed']}: BLEU {score['bleu']:.3f}" for score in content["scores"]]
    spread = f"{content['over_seeds']:.3f} over seeds, {content['over_sentences']:.3f} over test sentences"
    lines += [f"mean {content['mean']:.3f}, standard deviation {spread}", "", "expected share of correct students"]
    for entry in content["present"]:
        lines.append(f"  who miss {entry['name']} = {entry['threshold']:.2f} (now): {entry['share_that_misses']:.1%}")
    for entry in content["proposed"]:
        share = f"{entry['share_that_misses']:.1%}, at most {entry['at_most']:.0%} wanted"
        lines.append(f"  who miss {entry['threshold']:.2f} (proposed): {share}")
    return "\n".join([*lines, "", f"report: {output}"])


def draw(spread: object, content: dict, path: Path) -> None:
    """Writes a PNG: expected scores of correct students, the seeds' scores, present and proposed thresholds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    axes.hist(spread.draws, bins=200, density=True, color="#9ecae1", label="correct students, expected")
    blues = [score["bleu"] for score in content["scores"]]
    axes.plot(blues, [0.0] * len(blues), "k|", markersize=12, label="trained seeds")
    for entry in content["present"]:
        axes.axvline(entry["threshold"], color="tab:red", label=f"{entry['name']}, now {entry['threshold']:.2f}")
    for entry, style in zip(content["proposed"], ("--", ":"), strict=False):
        label = f"{entry['threshold']:.2f}: {entry['at_most']:.0%} miss it"
        axes.axvline(entry["threshold"], color="tab:green", linestyle=style, label=label)
    marks = [*blues, *(entry["threshold"] for entry in (*content["present"], *content["proposed"]))]
    axes.set_xlim(max(0.0, min(marks) - 0.05), min(1.0, max(marks) + 0.1))
    axes.set_xlabel("BLEU on the test sentences")
    axes.set_yticks([])
    axes.legend(fontsize=8)
    figure.tight_layout()
    with in_one_piece(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=140, metadata={"Software": None})
    pyplot.close(figure)
