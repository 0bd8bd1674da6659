"""Measures the figures that the README quotes.

    __main__.py  the command line              training.py  BLEU of models with a part missing
    speed.py     tokens a second in training   symptoms.py  what hunted faults do to a trained model
    grading.py   the cost of a submission      tables.py    the course's report again

Times are CPU time, compared within one run.
"""

from given import package

package.use("reference")
