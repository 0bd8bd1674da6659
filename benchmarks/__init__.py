"""Measures the figures that the README quotes.

    __main__.py    the command line                    symptoms.py  what hunted faults do to a trained model
    processes.py   runs commands                       grading.py   the cost of grading one submission
    speed.py       tokens a second in training         tables.py    the course's report again
    training.py    BLEU of models with a part missing

Times are CPU time, compared within one run.
"""

from given import package

package.use("reference")
