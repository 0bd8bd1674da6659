"""Brings a corrected release into a folder that a student already works in: `python -m release update FOLDER`.

Three versions of each file are compared: what was handed out (kept in the folder as `.handed_out.zip`), what the
student has made of it, and the new release.

    command.py         the command line
    plan.py            which file gets what; puts it in place with a backup, all or nothing
    text_merge.py      three-way merge of lines; answers stand apart from hints, so that a corrected hint is no conflict
    notebook_merge.py  a notebook, cell by cell, since cells have identities

Nothing that a student has written is lost.
"""
