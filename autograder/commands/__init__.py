"""The commands of `python -m autograder`, one module each.

    arguments.py  what several commands take            grade.py        one submission
    replay.py     a disputed mark, graded again         grade_class.py  a folder of submissions
    list_class.py who has handed in what                export_marks.py marks for a learning platform
    by_hand.py    points, comments, late days by hand   ask.py       questions to students about their code
    similar.py    who shares more than chance explains  translate_again.py  a checkpoint against translations

Mistakes of the user are raised as exceptions, which `autograder.__main__` prints in one line.
"""
