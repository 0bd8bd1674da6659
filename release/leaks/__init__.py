"""Looks for pieces of the solutions in everything that leaves.

    what_counts.py       what must not leave: which pieces of the solutions count as leaked
    cutting.py           cuts solutions into statements, and windows of tokens
    fingerprints.py      code as tokens, whatever its layout and names
    texts_in_files.py    opens files of any kind down to the texts in them
    finder.py            compares

What stands in given code too is not a secret.
"""
