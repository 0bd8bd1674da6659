"""Pictures as files, written whole or not at all."""

from pathlib import Path

from matplotlib.figure import Figure

from ..whole_files import in_one_piece

FORMATS = (".png", ".svg", ".pdf")


def save_figure(figure: Figure, path: Path) -> None:
    """Writes the picture whole or not at all; the ending of its name, one of FORMATS, decides on the format."""
    with in_one_piece(path) as unfinished:
        figure.savefig(unfinished, dpi=120)
