"""A training run, from the settings to the best checkpoint, and what can be done with its model.

    config.py         all settings and presets              translate.py       text in, text out, BLEU
    building.py       a fresh model from the settings       cached_decode.py   fast greedy search
    schedule.py       the learning rate                     pictures.py        attention maps and curves
    inner_dropout.py  dropout in two more places
    experiment.py     a whole training run                  run_folder.py      what a run leaves behind
    interruption.py   Ctrl-C at a safe point                whole_files.py     files written whole or not at all
    checkpoint.py     saving and resuming

Only instructors have `cached_decode.py` and `inner_dropout.py`, since these rely on how the layers are written.
"""
