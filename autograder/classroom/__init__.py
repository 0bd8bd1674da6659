"""Grades a class, from a platform's download to a record for each submission.

    downloads/       what learning platforms hand out     roll.py          students, and what is left out
    entries.py       what is graded, and whose it is      record_names.py  a file name for each record
    staleness.py     which entries have to be graded      records.py       where records are kept
    grading.py       a forked child for each              weighing.py      new points for stored outcomes
    store/           the database of results              regrading.py     what a regrade would change
    results.py       what each student has earned         marks.py         graded, by hand, late: what counts
    errors.py        a folder that is not a class

Children send what they find out; the parent alone writes records.
"""
