"""What students are given around their model: training runs, translation, alignment, pictures, and the command line.

It works with any package that has the contract's modules; the package's `__main__` names it.

    package.py       the package whose model it is    decoding.py      tokens to translations; how good on dev
    config.py        all settings, their flags        translating.py   `translate`: lines to translations
    building.py      a fresh model, its optimizer     alignment.py     `align`: which words translate each other
    experiment.py    a whole training run             drawing.py       `attention`: where a sentence attends, and how
    run_folder.py    checkpoints, history, curves     pictures.py      maps, matrices, alignments, curves
    training.py      `train`                          sanity.py        `sanity`: five checks of a new model
    runs.py          `compare` and `average`          packing.py       `pack`: the archive to hand in
    symptoms.py      `hunt`: bug hunts, drawn         command_line.py  the parser; one line for each error
    extras/          raw text, and what is faster for the reference's layers

Only instructors have `extras/`.
"""
