"""Grades a class, from a platform's download to a record for each submission.

    roster.py      students; who handed in what         marks.py      what each student has earned
    entries.py     what is graded, whose it is, roll    grading.py    what runs, and what counts then
    records.py     results, and decisions by hand       similarity.py who has much in common

One process stores the results.
"""
