"""Measures the figures that the README quotes. Times are CPU time, compared within one run.

    decoding.py    sentences per second             grading.py     the cost of grading
    training.py    dev BLEU with a part missing     stability.py   the same marks with any seed
    tables/        the course's report again       attention_ways.py   the same attention, four ways
    kills.py       marks when processes die         agreement.py   own run and grading
    __main__.py    the command line

No measurement needs anything but a fresh clone: a missing model is trained first.
"""
