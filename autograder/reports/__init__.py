"""Shows records to people and other programs.

    terminal.py  one submission, as a table         class_summary.py  a class: table, CSV, JSON, histogram
    gradescope/  in Gradescope's container          gradebook/        nbgrader's gradebook and feedback
    pages/       web pages: the class, and each student

Nothing here judges: everything that is shown stands in the record.
"""
