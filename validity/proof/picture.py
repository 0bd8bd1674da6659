"""The confusion matrix as a picture."""

from pathlib import Path

from foundation.whole_files import in_one_piece


def draw_matrix(components: list[str], numbers: list[str], shares: list[list[float]], path: Path) -> None:
    """Writes a PNG: rows are components with a fault, columns are tasks, colour is the share that loses points."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(1.5 + 0.55 * len(numbers) + 2.5, 1.2 + 0.42 * len(components)))
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(numbers)), numbers)
    axes.set_yticks(range(len(components)), components)
    axes.set_xlabel("task that loses points")
    axes.set_ylabel("component with the fault")
    for row, values in enumerate(shares):
        for column, value in enumerate(values):
            if value:
                colour = "white" if value > 0.5 else "black"
                axes.text(column, row, f"{value:.0%}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_title("Which task pays for a fault (share of the faults of each component)", fontsize=10)
    figure.colorbar(image, ax=axes, fraction=0.03)
    figure.tight_layout()
    with in_one_piece(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=140, metadata={"Software": None})
    pyplot.close(figure)
