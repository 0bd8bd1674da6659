"""Shows records to people and other programs.

    telling.py   what a student reads about a task, wherever it is shown
    terminal.py  one submission, as a table         class_summary.py  a class: table, CSV, JSON
    regrade.py   what a regrade changes
    gradescope/  in Gradescope's container          gradebook/        nbgrader's gradebook and feedback
    pages/       web pages: the class, and each student  exports/        what learning platforms import
    spreadsheets.py tables in which nothing is computed  excerpts.py  lines of code, as pages show them
    environment.py  templates of pages that are complete in themselves

Nothing here judges: everything that is shown stands in the record.
"""
