"""Looks for pieces of the solutions in everything that leaves.

    solutions.py         what must not leave
    solution_pieces.py   statements, and windows of tokens
    fingerprints.py      code as tokens, whatever its layout and names
    texts_in_files.py    opens files of any kind down to the texts in them
    finder.py            compares

What stands in given code too is not a secret.
"""
