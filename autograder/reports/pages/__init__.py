"""Web pages of a graded class: one for the staff, one for each student. Each file is complete in itself.

    writing.py       all pages into a folder          templates/       what the pages look like
    class_page.py    the class at a glance            student_page.py  one student's result
    similar_pages.py similar submissions, translations  pictures.py    numbers to positions in a picture

Submissions decide on texts in them: everything is escaped, and a content security policy forbids the browser to load
or run anything but the page's own style and script.
"""

from .writing import write_pages

__all__ = ["write_pages"]
