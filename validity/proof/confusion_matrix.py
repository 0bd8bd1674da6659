"""Which tasks pay for a component's faults: the shares as numbers, as a table, and as a picture."""

from collections.abc import Sequence
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.whole_files import in_one_piece

from .verdicts import Verdict, by_component


def blame_shares(verdicts: Sequence[Verdict], assignment: Assignment) -> tuple[list[str], list[str], list[list[float]]]:
    """The confusion matrix.

    Returns:
        Rows and columns in the order of the tasks: names of components (a component's extension is a row of its own),
        and numbers of tasks; and for each row the share of its faults that cost each task points.
    """
    numbers = [task.number for task in assignment.tasks if task.components]
    rows: dict[str, list[Verdict]] = {}
    for component, own in by_component(verdicts, assignment).items():
        name = component.split(".")[1]
        for verdict in own:
            has_more = verdict.fault.task.startswith("E") and any(v.fault.task != verdict.fault.task for v in own)
            rows.setdefault(f"{name}, {verdict.fault.task}" if has_more else name, []).append(verdict)
    shares = [[sum(number in v.lost for v in own) / len(own) for number in numbers] for own in rows.values()]
    return list(rows), numbers, shares


def matrix_lines(verdicts: Sequence[Verdict], assignment: Assignment) -> list[str]:
    """The confusion matrix in percent; an empty cell is 0."""
    components, numbers, shares = blame_shares(verdicts, assignment)
    lines = [f"{'fault in':<30}" + "".join(f"{number:>6}" for number in numbers)]
    for component, row in zip(components, shares, strict=True):
        cells = "".join(f"{f'{share:.0%}' if share else '.':>6}" for share in row)
        lines.append(f"{component:<30}{cells}")
    return lines


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
