"""Brings a corrected release into a folder that a student already works in: `python -m release update FOLDER`.

Three versions of each file are compared: what was handed out (kept in the folder as `.handed_out.zip`), what the
student has made of it, and the new release.

    folder     which file gets what, and putting it in place: with a backup, all or nothing
    todos      a Python file: answers stand apart from hints, so that a corrected hint is no conflict
    merge      three-way merge of lines; where both have changed the same ones, the student's stay
    notebook   the same cell by cell, since the cells have identities
"""

from .folder import HANDED_OUT, Plan, apply, make_plan, remember

__all__ = ["HANDED_OUT", "Plan", "apply", "make_plan", "remember"]
