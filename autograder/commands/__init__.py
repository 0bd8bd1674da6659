"""The commands of `python -m autograder`.

    arguments.py  command lines, of flags.toml     marks.py  points, comments, late days; marks for a platform
    classes.py    grade one; list, grade, compare  ask.py    questions for students
    demo.py       a sample class of six

Mistakes of the user are raised as `UserError`, which `autograder.__main__` prints in one line.
"""
