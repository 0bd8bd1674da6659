"""Grades a folder of submissions.

    folder.py        the entries of a folder              record_names.py  a file name for each record
    staleness.py     which entries have to be graded      records.py       where records are kept
    grading.py       a forked child for each              errors.py        a folder that is not a class
    downloads/       what learning platforms hand out

Children send what they find out; the parent alone writes records.
"""
