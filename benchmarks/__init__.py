"""Measures the figures that the README quotes. Times are CPU time, compared within one run.

    speed.py       tokens a second in training      to_bleu.py         what a whole training run costs
    decoding.py    sentences per second             attention_ways.py  the same attention, four ways
    training.py    dev BLEU with a part missing     grading.py         the cost of grading
    tables/        the course's report again        stability.py       the same marks with any seed
    kills.py       marks when processes die         agreement.py       own run and grading
    memory.py      on corpora of several sizes      processes.py       below a process, and what they use
    store.py       queue and database of a class     cluster.py         two Dask workers against one
    reached.py     branches that tests reach         loopback_cluster.py  scheduler and workers for it
    similarity/    copies found, false alarms
    __main__.py    the command line                  whole_class.py     300 real submissions

No measurement needs anything but a fresh clone: a missing model is trained first.
"""

from given import package

package.use("reference")
