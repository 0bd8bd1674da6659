"""Measures the figures that README and documentation quote.

    __main__.py  the command line              grading.py   the cost of a submission
    speed.py     tokens a second in training   mistakes.py  models that are trained with a mistake
    tables.py    the tables of the course's report again, and models with a part missing (models.toml)
    accessibility.py  pages that not everybody can read
    rubric.py    points that faults cost, beside their harm, and beside the marks of two readers

Times are CPU time, compared within one run.
"""

from pathlib import Path
from typing import Annotated

from validity.console import option

CORPUS = Path("data/corpus")
Pairs = Annotated[Path, option("`source|||target` lines", type=Path)]
"""A file; TRAIN and DEV are ours."""
TRAIN, DEV = CORPUS / "fren.train.bpe", CORPUS / "fren.dev.bpe"
