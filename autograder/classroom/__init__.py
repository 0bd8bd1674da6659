"""Grades a class, from a platform's download to a record for each submission.

    roster.py      students; who handed in what         marks.py      decisions by hand; what each student has earned
    entries.py     what is graded, whose it is, roll    grading.py    what runs, the records, and what counts then
    similarity.py  who has much in common               headings.toml  the headings of rosters

One process stores the results.
"""
