"""Shows records to people and other programs.

    terminal.py      one submission, as text            class_summary.py  a class: table, CSV, JSON, a regrade
    pages.py         web pages                          class_page.py     what the class page shows
    gradescope.py    in Gradescope's container          exports.py        marks on their way to platforms
    gradebook.py     marks in nbgrader's gradebook

Nothing here judges: everything that is shown stands in the record.
"""
