"""Grades submissions: the engine, which knows no assignment.

A submission passes through the rooms in this order:

    intake/     from a path to its modules, as text            grading/    one submission: run, marks, record
    sandbox/    where submitted code runs                      classroom/  a folder of submissions
    running/    runs component tests on it                     platforms/  downloads, rosters and imports
    testing/    what component tests are written with          reports/    terminal, class, Gradescope
    course/     the way to the assignment and its faults       own_work/   own tests, questions and hunts
    at_home/    component tests where students work            commands/   what each command does
    __main__.py         the command line

Students get what their tests need of it.
"""

import os

# Before anything imports torch or numpy: small models on few cores are fastest with one thread a process.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
