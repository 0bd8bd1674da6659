"""Grades a class, from a platform's download to a record for each submission.

    downloads/       what learning platforms hand out     roll.py          students, and what is left out
    entries.py       what is graded, and whose it is      record_names.py  a file name for each record
    staleness.py     which entries have to be graded      records.py       the folder of results
    grading.py       all that has to be graded            machines/        this one, or those of a cluster
    store/           the database of results              keeping.py       which of the newest results count
    marks/           from a result to what counts         results.py       what each student has earned
    errors.py        a folder that is not a class         similarity/      who shares more than chance explains
    kept_answers.py  what else is found out, for the next run

Whoever grades sends records; one process alone stores them.
"""
