"""Shows records to people and other programs.

    terminal.py    one submission, as text     class_page.py  what a class's page, table and CSV show
    pages.py       web pages                   exports.py     marks on their way to platforms
    gradescope.py  in Gradescope's container   gradebook.py   marks in nbgrader's gradebook

Nothing here judges: everything that is shown stands in the record.
"""
