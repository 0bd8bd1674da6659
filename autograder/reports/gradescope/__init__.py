"""Grades in Gradescope's container.

    __main__.py  the program that Gradescope runs   results.py   a record as results.json
    metadata.py  when the submission was handed in, and after which attempts

How much memory submitted code may use there stands in `assignment.toml`.
"""
