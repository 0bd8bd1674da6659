"""Shows records to people and other programs.

    terminal.py      one submission, as text            class_summary.py  a class: table, CSV, JSON, a regrade
    pages/           web pages: the class, a student    gradebook.py      nbgrader's gradebook and feedback
    exports.py       what learning platforms import     gradescope.py     in Gradescope's container
    html.py          templates and excerpts of code

Nothing here judges: everything that is shown stands in the record.
"""
