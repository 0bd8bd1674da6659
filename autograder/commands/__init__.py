"""The commands of `python -m autograder`.

    arguments.py  what several commands take      grade.py  one submission, a disputed mark
    classes.py    list, grade, compare a class    marks.py  points, comments, late days; marks for a learning platform
    ask.py        questions for students          demo.py   a sample class of twelve

Mistakes of the user are raised as `UserError`, which `autograder.__main__` prints in one line.
"""
