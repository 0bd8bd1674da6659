"""Grades a class, from a platform's download to a record for each submission.

    downloads/       what learning platforms hand out     roll.py          students, and what is left out
    entries.py       what is graded, and whose it is      record_names.py  a file name for each record
    staleness.py     which entries have to be graded      records.py       the folder of results
    grading.py       a forked child for each              keeping.py       which of the newest results count
    store/           the database of results              results.py       what each student has earned
    marks/           from a result to what counts         errors.py        a folder that is not a class

Children send what they find out; the parent alone stores results.
"""
