"""The commands of `python -m autograder`.

    arguments.py   what several commands take          grade.py         grade and replay: one submission
    list_class.py  who has handed in what              grade_class.py   a folder of submissions
    by_hand.py     points, comments, late days         export_marks.py  marks for a learning platform
    ask.py         questions for students, sittings    similar.py       who shares too much
    demo.py        a sample class of twelve

Mistakes of the user are raised as `UserError`, which `autograder.__main__` prints in one line.
"""
