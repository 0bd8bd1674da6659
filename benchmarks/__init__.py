"""Measures the figures that the README quotes.

    __main__.py  the command line              grading.py   the cost of a submission
    speed.py     tokens a second in training   mistakes.py  models that are trained with a mistake
    tables.py    the course's report again, and models with a part missing
    rubric.py    points that faults cost, beside their harm
    panel.py     the same, beside what two readers would take off
    accessibility.py  pages that not everybody can read

Times are CPU time, compared within one run.
"""
