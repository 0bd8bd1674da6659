"""Web pages of a graded class: one for the staff, one for each student. Each file is complete in itself.

    writing.py          all pages into a folder           templates/   what the pages look like
    class_page.py       the class at a glance
    student_page.py     one student's result
    needs_a_person.py   whom a person should look at first, and why
    misconceptions.py   what the class got wrong, ranked
    similar_page.py     similar submissions side by side
    translated_page.py   whose checkpoints give the translations
    model_pictures.py   attention maps and training curves
    charts.py           numbers to positions in a picture

Submissions decide on texts in them: everything is escaped, and a content security policy forbids the browser to load
or run anything but the page's own style and script.
"""

from .writing import write_pages

__all__ = ["write_pages"]
