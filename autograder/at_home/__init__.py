"""Own runs: component tests where students work, in pytest and in notebooks.

start.py      puts the folder's tests before pytest
own_run.py    pytest's plugin: what tests are handed, and what an own run has earned
notebook.py   in a student's notebook
hints.py      hints after failed attempts
"""
