"""Shows records to people and other programs.

    terminal.py     one submission, as text          class_summary.py  a class: table, CSV, JSON
    pages/          web pages: the class, a student  regrade.py        what a regrade changes
    exports/        what learning platforms import   gradebook/        nbgrader's gradebook and feedback
    gradescope/     in Gradescope's container        spreadsheets.py   tables in which nothing is computed
    environment.py  templates of pages               excerpts.py       lines of code, as pages show them

Nothing here judges: everything that is shown stands in the record.
"""
