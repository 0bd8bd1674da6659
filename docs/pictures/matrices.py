"""Draws the matrices of one small head for the glossary, computed by the reference: `python -m docs.pictures.matrices`.

The numbers of Q, K and V are made up; `notebooks/prose/glossary.md` and notebook 1 talk about them.
"""

from pathlib import Path

import matplotlib
import torch

from given.drawing import catch
from given.pictures import plot_matrices
from reference.attention import scaled_dot_product_attention

WORDS = ["the", "cat", "sleeps"]
QUERY = [[0, 2, 0, 1], [1, 1, 0, 0], [-1, 2, 2, 0]]
KEY = [[2, 0, -1, 0], [0, 2, 1, 0], [0, -1, 0, 2]]
VALUE = [[1, 0, 0, -1], [0, 2, 1, 0], [-1, 0, 2, 1]]

FILE = Path(__file__).parent / "matrices.svg"


def save(path: Path) -> None:
    """Writes the picture; the same picture gives the same bytes with the same matplotlib."""
    query, key, value = (torch.tensor([[numbers]], dtype=torch.float32) for numbers in (QUERY, KEY, VALUE))
    figure = plot_matrices(catch(scaled_dot_product_attention, query, key, value).of_head(0), WORDS, WORDS)
    with matplotlib.rc_context({"svg.hashsalt": "matrices", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    save(FILE)
