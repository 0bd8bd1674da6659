"""Grades a class, from a platform's download to a record for each submission.

    downloads/       what learning platforms hand out     entries.py     what is graded, whose it is, the roll
    records.py       the folder of results
    staleness.py     which entries have to be graded      jobs.py        a submission, graded in a child
    grading.py       all that has to be graded            cluster.py     or on machines of a Dask cluster
    store/           the database of results
    marks.py         what each student has earned         regrading.py   what a regrade would change
    kept_answers.py  what else is found out, for later    similarity/    who shares more than chance explains

Whoever grades sends records; one process alone stores them.
"""
