"""Where to put the BLEU thresholds: the reference trained with several seeds, and what students may expect.

The trained seeds stay in the output folder, so that an interrupted calibration can be resumed.

    command.py    `python -m validity calibrate`
    training.py   trains, translates and scores, seed by seed
    spread.py     from scores to the share of correct students who miss a threshold
    report.py     the result in the terminal, and as a picture
"""
