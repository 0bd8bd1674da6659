"""Grades a class, from a platform's download to a record for each submission.

    downloads/       what learning platforms hand out     entries.py     what is graded, whose it is, the roll
    records.py       the folder of results, kept answers  store/         the database of results
    grading.py       all that has to be graded            jobs.py        a submission, graded in a child
    cluster.py       or on machines of a Dask cluster     regrading.py   what has to run again, what it would change
    marks.py         what each student has earned         similarity/    who shares more than chance explains

Whoever grades sends records; one process alone stores them.
"""
