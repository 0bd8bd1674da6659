"""Measures the figures that README and documentation quote; `__main__.py` is the command line.

tables.py    the tables of the course's report again (models.toml)
mistakes.py  models that are trained with a mistake      accessibility.py  pages that not everybody can read
rubric.py    points that faults cost, beside their harm, and beside the marks of two readers
"""

from pathlib import Path
from typing import Annotated

from validity.console import option

CORPUS = Path("data/corpus")
Pairs = Annotated[Path, option("`source|||target` lines", type=Path)]
"""A file; TRAIN and DEV are ours."""
TRAIN, DEV = CORPUS / "fren.train.bpe", CORPUS / "fren.dev.bpe"
