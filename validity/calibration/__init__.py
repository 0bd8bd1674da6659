"""Where to put the BLEU thresholds: the reference trained with several seeds, and what students may expect.

    spread.py    from scores to the share of correct students who miss a threshold
    training.py  trains, translates and scores, seed by seed
    command.py   `python -m validity calibrate`
"""
