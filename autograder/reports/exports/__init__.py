"""Marks and feedback in the forms that learning platforms import.

    marks.py  what is exported of each student     platforms.py  a table and an archive for each platform

A student without a score has no mark there, either: never a zero.
"""

from .marks import Mark, marks_of
from .platforms import PLATFORMS, Export, export

__all__ = ["PLATFORMS", "Export", "Mark", "export", "marks_of"]
