"""Grades a class, from a platform's download to a record for each submission; one process stores the results.

downloads/   what learning platforms hand out  entries.py    what is graded, whose it is, the roll
grading.py   what runs, and what counts then   records.py    the results of a class, as files
marks.py     what each student has earned      decisions.py  what people decide by hand
similarity.py  who has much in common
"""
