"""Marks and feedback in the forms that learning platforms import.

    marks.py       what is exported of each student        writing.py  tables and archives into a folder
    canvas.py      Canvas's gradebook                      moodle.py   Moodle's grading worksheet
    gradescope.py  the columns of Gradescope's own export  plain.py    any other system

A student without a score has no mark there, either: never a zero.
"""

from .marks import Mark, marks_of
from .writing import PLATFORMS, Export, export

__all__ = ["PLATFORMS", "Export", "Mark", "export", "marks_of"]
