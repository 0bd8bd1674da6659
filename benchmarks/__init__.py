"""Measures the figures that the README quotes. Times are CPU time, compared within one run.

__main__.py    the command line                    faulty_models.py  what faults do to a trained model
processes.py   runs commands                       grading.py        the cost of grading one submission
speed.py       tokens a second in training         similarity.py     copies found, false alarms
training.py    BLEU of models with a part missing  tables.py         the course's report again
"""

from given import package

package.use("reference")
