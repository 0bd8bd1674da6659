"""Scores and thresholds: for the terminal, and as a picture."""

from pathlib import Path
from typing import Any

from foundation.whole_files import in_one_piece

from .spread import Spread


def as_text(content: dict[str, Any], output: Path) -> str:
    """The report for the terminal."""
    lines = [f"seed {score['seed']}: BLEU {score['bleu']:.3f}" for score in content["scores"]]
    spread = f"{content['over_seeds']:.3f} over seeds, {content['over_sentences']:.3f} over test sentences"
    lines += [f"mean {content['mean']:.3f}, standard deviation {spread}", "", "expected share of correct students"]
    for entry in content["present"]:
        lines.append(f"  who miss {entry['name']} = {entry['threshold']:.2f} (now): {entry['share_that_misses']:.1%}")
    for entry in content["proposed"]:
        share = f"{entry['share_that_misses']:.1%}, at most {entry['at_most']:.0%} wanted"
        lines.append(f"  who miss {entry['threshold']:.2f} (proposed): {share}")
    return "\n".join([*lines, "", f"report: {output}"])


def draw(spread: Spread, content: dict[str, Any], path: Path) -> None:
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
