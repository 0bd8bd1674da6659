"""Grading of submissions: the assignment, its tests, where submitted code runs, scores and reports.

The parts, in the order in which a submission meets them:

    assignment.toml  tasks, points, thresholds     assignment.py     reads it (limits.py: its limits)
    __main__.py      the command line              gradescope.py     the same in Gradescope's container
    command_line.py  what command lines share      resubmission.py   when it was handed in (Gradescope)

    intake/          from a path to its modules    grading.py        one submission
    rules/           forbidden short-cuts          class_grading.py  a folder of them (forking.py: its children)
    tests/           the component tests           test_run.py       runs them (grading_keys.py: what they are handed)
    checking/        what tests are made of        trainability.py   does the whole learn?
    sandbox/         the trusted half              worker/           the half that runs beside submitted code
    in_process.py    in its place: a student's     in_notebook/      the same beside a notebook
                     own run                       scoring/          BLEU, intervals, verdicts (grade.py)

    marks.py         from tests to points          diagnosis/        names the misconception behind a failure
    record.py        what is known, as JSON        misconceptions/   known faults as data
    report.py        for people and Gradescope     class_report.py   the same of a class
    gradebook/       marks for nbgrader            suite_version.py  of everything that decides marks
    term_secret.py   what seeds are drawn from, and other hidden files

    proof/           are the tests right?          calibration/      where to put the BLEU thresholds
    atomic.py        whole files or none           printable.py      how text from strangers is shown
    time_limit.py    of our own code

Each folder's `__init__` says what its modules do. Students get what their tests need of it.
"""

import os

# Before anything imports torch or numpy: small models on few cores are fastest with one thread a process.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
