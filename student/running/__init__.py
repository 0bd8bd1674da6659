"""A training run, from the settings to the best checkpoint.

    config.py         all settings and presets       experiment.py     a whole training run
    building.py       a fresh model                  stepping.py       some steps of it, with a progress bar
    schedule.py       the learning rate              measuring.py      dev: translations, loss, samples
    checkpoint.py     saving and resuming            interruption.py   Ctrl-C at a safe point
    run_folder.py     what a run leaves behind       watching.py       attention through training
    thresholds.py     the BLEU that earns points     extras/           averages, speed, several processes

Only instructors have `extras/`.
"""
