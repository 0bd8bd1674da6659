"""Grades a class, from a platform's download to a record for each submission; one process stores the results.

downloads/    what learning platforms hand out       entries.py    what is graded, whose it is, the roll
grading.py    what has to run, in children           regrading.py  what a result changes, and when that counts
records.py    the results of a class, as files       decisions.py  what people decide by hand
marks.py      what each student has earned           similarity/   who has much in common
"""
