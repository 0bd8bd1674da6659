"""Measures the figures that the README quotes. Times are CPU time, compared within one run.

    __main__.py    the command line                    submissions.py  classes: right, faulty, broken, hostile
    processes.py   runs commands, watches processes    grading.py      the cost of grading
    output.py      tables                              whole_class.py  300 real submissions
    speed.py       tokens a second in training         kills.py        marks when processes die
    training.py    what whole runs cost and reach      stub_class.py   queue, database, and a cluster
    decoding.py    sentences a second                  similarity/     copies found, false alarms
    memory.py      on corpora of several sizes         tables/         the course's report again

No measurement needs anything but a fresh clone: a missing model is trained first.
"""

from given import package

package.use("reference")
