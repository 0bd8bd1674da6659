"""Measures the figures that the README quotes. Times are CPU time, compared within one run.

    __main__.py    the command line                    submissions.py  classes: right, faulty, broken, hostile
    processes.py   runs commands, their memory         grading.py      the cost of grading one, and a class of 300
    speed.py       tokens a second in training         similarity.py   copies found, false alarms
    training.py    what whole runs cost and reach      tables.py       the course's report again
    decoding.py    sentences a second, of a checkpoint
    seriousness.py  what faults do to a trained model  symptoms.py     the same, for bug hunts

Only `decoding` needs a model that was trained before.
"""

from given import package

package.use("reference")
