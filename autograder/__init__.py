"""Grades submissions: the engine, and apart from it, in `assignment/`, this assignment.

A submission passes through the packages in this order:

    intake/      from a path to its modules              grading/     one submission: run, marks, record
    sandbox/     where submitted code runs               classroom/   a folder of submissions
    testing/     runs component tests                    scoring.py   BLEU, intervals, thresholds
    assignment/  this assignment's tests and faults      own_work/     own tests, questions and hunts
    commands/    what each command does                  reports/     terminal, class, Gradescope
    low_bleu.py  why BLEU is low                         platforms/   downloads, rosters and imports of each platform
    __main__.py          the command line
    rules.py             names that a person should know of, found in its text
    sources.py           the Python text of a submission, read and parsed; with files and names of its own, adapted
    catalogue.py         misconceptions: known faults as patches of the reference
    assignment_code.py   the engine's one way to the assignment's code, and what it offers

Students get what their tests need of it.
"""

import os

# Before anything imports torch or numpy: small models on few cores are fastest with one thread a process.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
