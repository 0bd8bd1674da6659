"""Measures the figures that the README quotes. Times are CPU time, compared within one run.

    __main__.py    the command line                    submissions.py  classes: right, faulty, broken, hostile
    processes.py   runs commands, their memory         grading.py      the cost of grading one, and a class of 300
    speed.py       tokens a second in training         similarity.py   copies found, false alarms
    training.py    what whole runs cost and reach      disguises.py    copies in disguise, students' habits
    decoding.py    sentences a second                  tables.py       the course's report again
    seriousness.py  what faults do to a trained model  symptoms.py     the same, for bug hunts

No measurement needs anything but a fresh clone: a missing model is trained first.
"""

from given import package

package.use("reference")
