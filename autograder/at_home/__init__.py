"""Own runs: component tests where students work, in pytest and in notebooks.

start.py      puts the folder's tests before pytest       fixtures.py   pytest's plugin
own_run.py    what an own run has earned                  notebook.py   in a student's notebook
hints.py      hints after failed attempts
"""
