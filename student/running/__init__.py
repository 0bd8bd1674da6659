"""A training run, from the settings to the best checkpoint.

    config.py         all settings and presets       experiment.py     a whole training run
    building.py       a fresh model                  interruption.py   Ctrl-C at a safe point
    schedule.py       the learning rate              checkpoint.py     saving and resuming
    inner_dropout.py  dropout in two more places     run_folder.py     what a run leaves behind
    watching.py       attention through training     thresholds.py      the BLEU that earns points

Only instructors have `inner_dropout.py`, since it relies on how the layers are written.
"""
