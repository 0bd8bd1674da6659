"""Grades a class, from a platform's download to a record for each submission.

    downloads/    what learning platforms hand out       entries.py    what is graded, whose it is, the roll
    database.py   tables and transactions                results.py    what the grader has found out
    grading.py    what has to run, in children           regrading.py  what a result changes, and when that counts
    records.py    the folder of results                  decisions.py  what people decide by hand
    marks.py      what each student has earned           similarity/   who shares more than chance explains

One process stores the results of a class.
"""
