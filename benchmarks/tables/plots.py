"""Pictures of the tables: BLEU of every run on dev, next to what the report found."""

from pathlib import Path

from matplotlib.figure import Figure

from given.pictures import save_figure

from .columns import TITLES
from .one_run import SPLITS
from .summary import Table

COLOURS = {"train": "tab:gray", "dev": "tab:blue", "test": "tab:green"}


def draw(table: Table, path: Path) -> None:
    """Writes a picture: a row for each model, a dot for each run, a diamond for the report's dev BLEU."""
    n_rows = len(table.rows)
    figure = Figure(figsize=(8, 1.6 + 0.34 * n_rows), layout="constrained")
    axes = figure.subplots()
    for split in SPLITS:
        points = [(value, index) for index, row in enumerate(table.rows) for value in row.bleu(split)]
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=COLOURS[split], alpha=0.7, label=f"{split}, one run each")
    reported = [row.column.reported[0] for row in table.rows]
    axes.plot(reported, range(n_rows), "D", color="black", fillstyle="none", label="dev in the course's report")
    axes.set_yticks(range(n_rows), [row.column.name for row in table.rows])
    axes.set(xlabel="BLEU", xlim=(0, 1), ylim=(n_rows - 0.5, -0.5), title=TITLES[table.number])
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    save_figure(figure, path)
