"""Grades submissions: the engine, and apart from it, in `assignment/`, this assignment.

A submission passes through the packages in this order:

    intake/      from a path to its modules              grading/     one submission: run, marks, record
    rules/       forbidden short-cuts, found in its text  classroom/   a folder of submissions
    sandbox/     where submitted code runs               scoring/     BLEU, intervals, thresholds
    testing/     runs component tests                    diagnosis/   names the misconception behind a failure
    assignment/  this assignment's tests and faults      reports/     terminal, class, Gradescope, nbgrader
    understanding/  questions for students about their own code
    commands/    what each command does                  __main__.py  the command line
    sources.py           the Python text of a submission, read and parsed
    adapters.py          submissions with files and names of their own
    assignment_code.py, assignment_parts.py  the engine's one way to the assignment, and what its parts offer

Students get what their tests need of it.
"""

import os

# Before anything imports torch or numpy: small models on few cores are fastest with one thread a process.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
