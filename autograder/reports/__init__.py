"""Shows records to people and other programs.

    terminal.py      one submission, as text            class_summary.py  a class: table, CSV, JSON
    pages/           web pages: the class, a student    regrade.py        what a regrade changes
    exports.py       what learning platforms import     gradebook.py      nbgrader's gradebook and feedback
    gradescope.py    in Gradescope's container          spreadsheets.py   tables in which nothing is computed
    html.py          templates and excerpts of code

Nothing here judges: everything that is shown stands in the record.
"""
